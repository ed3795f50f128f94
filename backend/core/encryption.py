"""Encryption of stored secrets with AES-256-GCM, so that a copy of the database reveals nothing.

There are two keys. `SECRETS` is for secrets with which others could act as Signum (webhook secrets, the keys that sign
tokens), derived from the password of the server wallets' keystore. `DOCUMENTS` is for the documents of parties, from
the setting `SIGNUM_DOCUMENTS_KEY`, else a file in the data folder. If this key is lost, the documents are lost.
"""

import hashlib
import hmac
import secrets
from base64 import b64decode, b64encode
from collections.abc import Callable
from dataclasses import dataclass, field

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from backend.core.errors import Unavailable
from backend.core.private_files import keystore_password, write_private
from backend.core.runtime import runtime
from backend.core.settings import settings

NONCE_BYTES = 12


class CannotUnseal(Unavailable):
    """Service Unavailable"""


class Seal:
    """One key. `place` names the owner or part of a content; the content cannot be decrypted for another place."""

    def __init__(self, derive: Callable[[], bytes]) -> None:
        self._derive = derive

    def seal(self, content: bytes, place: str) -> bytes:
        """Return the sealed content: nonce, then ciphertext and tag."""
        nonce = secrets.token_bytes(NONCE_BYTES)
        return nonce + self.opened()[1].encrypt(nonce, content, place.encode())

    def unseal(self, sealed: bytes, place: str) -> bytes:
        """Return the content; CannotUnseal where it was changed, or sealed with another key or for another place."""
        try:
            return self.opened()[1].decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], place.encode())
        except (InvalidTag, ValueError) as error:
            raise CannotUnseal(
                "This content cannot be decrypted: it was changed, or sealed with another key."
            ) from error

    def seal_text(self, secret: str, place: str) -> str:
        """Seal a secret for a text column."""
        return b64encode(self.seal(secret.encode(), place)).decode()

    def unseal_text(self, sealed: str, place: str) -> str:
        """Return the secret of `seal_text`; CannotUnseal as in `unseal`."""
        try:
            raw = b64decode(sealed, validate=True)
        except ValueError as error:
            raise CannotUnseal("This content is not in the sealed format.") from error
        return self.unseal(raw, place).decode()

    def mac(self, content: str, place: str) -> str:
        """Return an HMAC-SHA-256 in hexadecimal that identifies a content.

        Every server with this key returns the same. Without the key, guesses of the content cannot be checked against
        it.
        """
        key = hmac.digest(self.opened()[0], b"signum mac", "sha256")
        message = len(place.encode()).to_bytes(8) + place.encode() + content.encode()
        return hmac.digest(key, message, "sha256").hex()

    def opened(self) -> tuple[bytes, AESGCM]:
        """Return the key and its cipher, derived once per process."""
        opened = runtime.part(OpenedSeals).by_seal
        if self not in opened:
            key = self._derive()
            opened[self] = key, AESGCM(key)
        return opened[self]


@dataclass
class OpenedSeals:
    """The keys that this process has derived, and their ciphers."""

    by_seal: dict[Seal, tuple[bytes, AESGCM]] = field(default_factory=dict, repr=False)


def _secrets_key() -> bytes:
    """Derive the key with a slow function: an operator's own password may be short."""
    return hashlib.scrypt(
        keystore_password().encode(), salt=b"signum sealing", n=2**15, r=8, p=1, maxmem=2**26, dklen=32
    )


def _documents_key() -> bytes:
    return HKDF(SHA256(), 32, salt=None, info=b"signum documents").derive(_documents_secret().encode())


def _documents_secret() -> str:
    chosen = settings().documents_key
    if chosen is not None:
        return chosen
    path = settings().home / "documents.key"
    if not path.exists():
        settings().home.mkdir(parents=True, exist_ok=True)
        write_private(path, secrets.token_urlsafe(32))
    return path.read_text().strip()


SECRETS = Seal(_secrets_key)
DOCUMENTS = Seal(_documents_key)
