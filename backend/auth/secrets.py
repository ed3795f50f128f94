"""Secrets we hand out: how they are made, and the hashes that are kept of them."""

import hashlib
import secrets
import zlib
from functools import lru_cache

from pwdlib import PasswordHash
from pwdlib.hashers.argon2 import Argon2Hasher

BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
KEY_PREFIX = "sgn_"
_passwords = PasswordHash((Argon2Hasher(),))


@lru_cache(maxsize=1)
def _nobody() -> str:
    """Verified against for an unknown user, so that the answer takes the same time."""
    return _passwords.hash(secrets.token_urlsafe(16))


def token() -> str:
    """A secret of 256 bits, safe in cookies and addresses."""
    return secrets.token_urlsafe(32)


def nonce() -> str:
    """128 bits in letters and digits alone, as EIP-4361 wants them."""
    return secrets.token_hex(16)


def digest(secret: str) -> str:
    """SHA-256 in hexadecimal: enough for secrets of full entropy."""
    return hashlib.sha256(secret.encode()).hexdigest()


def _base62(number: int, width: int) -> str:
    digits = ""
    for _ in range(width):
        number, rest = divmod(number, 62)
        digits = BASE62[rest] + digits
    return digits


def api_key() -> str:
    """`sgn_`, 32 base62 characters, and 6 of base62 CRC-32, so that scanners can tell a key from noise."""
    body = "".join(secrets.choice(BASE62) for _ in range(32))
    return f"{KEY_PREFIX}{body}{_base62(zlib.crc32(body.encode()), 6)}"


def is_api_key(text: str) -> bool:
    """Whether a text has the form and checksum of a key."""
    body, check = text[len(KEY_PREFIX) : -6], text[-6:]
    return (
        text.startswith(KEY_PREFIX)
        and len(body) == 32
        and _base62(zlib.crc32(body.encode("utf-8", "replace")), 6) == check
    )


def hash_password(password: str) -> str:
    """Argon2id."""
    return _passwords.hash(password)


def verify_password(password: str, stored: str | None) -> bool:
    """Whether a password fits; an unknown user (None) costs the same time."""
    return _passwords.verify(password, stored or _nobody()) and stored is not None
