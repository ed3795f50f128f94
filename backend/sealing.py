"""Secrets that must be read again: kept encrypted, under the password that the keystore of server wallets has."""

import hashlib
import secrets
from base64 import b64decode, b64encode
from functools import lru_cache

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from backend.chain.wallet_provider import keystore_password
from backend.errors import SignumError

NONCE_BYTES = 12


class CannotUnseal(SignumError):
    """Internal Server Error"""


def seal(secret: str, owner: str) -> str:
    """Encrypt (AES-256-GCM). `owner` names whose it is: copied to another row it does not open."""
    nonce = secrets.token_bytes(NONCE_BYTES)
    return b64encode(nonce + AESGCM(_key()).encrypt(nonce, secret.encode(), owner.encode())).decode()


def unseal(sealed: str, owner: str) -> str:
    """The secret; CannotUnseal where password or owner are not those it was sealed with."""
    raw = b64decode(sealed)
    try:
        return AESGCM(_key()).decrypt(raw[:NONCE_BYTES], raw[NONCE_BYTES:], owner.encode()).decode()
    except InvalidTag as error:
        raise CannotUnseal("It does not open with this installation's keystore password.") from error


@lru_cache(maxsize=1)
def _key() -> bytes:
    """Stretched once a process: an operator's own password may be short."""
    return hashlib.scrypt(
        keystore_password().encode(), salt=b"signum sealing", n=2**15, r=8, p=1, maxmem=2**26, dklen=32
    )
