"""Generation and hashing of secrets."""

import hashlib
import secrets
import zlib
from functools import lru_cache

from pwdlib import PasswordHash
from pwdlib.hashers.argon2 import Argon2Hasher

BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
KEY_PREFIX = "sgn_"
_HASHER = PasswordHash((Argon2Hasher(),))


@lru_cache(maxsize=1)
def _dummy_hash() -> str:
    """Return a hash to verify against for an unknown user, so that the response takes the same time."""
    return _HASHER.hash(secrets.token_urlsafe(16))


def token() -> str:
    """Return a secret of 256 bits, safe in cookies and URLs."""
    return secrets.token_urlsafe(32)


def nonce() -> str:
    """Return 128 bits in letters and digits only, as EIP-4361 requires."""
    return secrets.token_hex(16)


def digest(secret: str) -> str:
    """Return the SHA-256 in hexadecimal: sufficient for secrets of full entropy."""
    return hashlib.sha256(secret.encode()).hexdigest()


def _base62(number: int, width: int) -> str:
    digits = ""
    for _ in range(width):
        number, rest = divmod(number, 62)
        digits = BASE62[rest] + digits
    return digits


def api_key() -> str:
    """Return a new key: `sgn_`, 32 base62 characters, and 6 of base62 CRC-32, with which scanners recognize keys."""
    body = "".join(secrets.choice(BASE62) for _ in range(32))
    return f"{KEY_PREFIX}{body}{_base62(zlib.crc32(body.encode()), 6)}"


def is_api_key(text: str) -> bool:
    """Return whether a text has the form and checksum of a key."""
    body, check = text[len(KEY_PREFIX) : -6], text[-6:]
    return (
        text.startswith(KEY_PREFIX)
        and len(body) == 32
        and _base62(zlib.crc32(body.encode("utf-8", "replace")), 6) == check
    )


def hash_password(password: str) -> str:
    """Return the Argon2id hash of a password."""
    return _HASHER.hash(password)


def verify_password(password: str, stored: str | None) -> bool:
    """Return whether a password matches. An unknown user (None) takes the same time."""
    return _HASHER.verify(password, stored or _dummy_hash()) and stored is not None
