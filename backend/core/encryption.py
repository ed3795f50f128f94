"""Encryption of stored secrets with AES-256-GCM, so that a copy of the database reveals nothing.

Each purpose has a data key of its own: `SECRETS` is for secrets with which others could act as Signum (webhook secrets,
the keys that sign tokens), `DOCUMENTS` for the documents of parties, `WALLETS` for the keys of server wallets. A sealed
content begins with the version of its key, so that a key can be rotated while others read. Version 0 has no such
beginning: versions of Signum without versions of keys read it too.
"""

import hmac
import secrets
from base64 import b64decode, b64encode
from collections.abc import Callable

from cryptography.exceptions import InvalidTag

from backend.core.errors import Unavailable
from backend.core.secret_keys.keyring import DataKey, Keyring, Purpose, keyring

NONCE_BYTES = 12
MAGIC = b"SGNMK"
HEADER_BYTES = len(MAGIC) + 4
"""A multiple of three, so that the header is the first 12 characters of a sealed text."""


class CannotUnseal(Unavailable):
    """Service Unavailable"""


class Seal:
    """The keys of a purpose. `place` names the owner or part of a content; the content cannot be decrypted for another
    place."""

    def __init__(self, purpose: Purpose, ring: Callable[[], Keyring] = keyring) -> None:
        self.purpose = purpose
        self._ring = ring

    def seal(self, content: bytes, place: str) -> bytes:
        """Return the sealed content: the key's version, nonce, then ciphertext and tag."""
        key, nonce = self._ring().newest(self.purpose), secrets.token_bytes(NONCE_BYTES)
        start = header(key.version)
        return start + nonce + key.cipher.encrypt(nonce, content, start + place.encode())

    def unseal(self, sealed: bytes, place: str) -> bytes:
        """Return the content; CannotUnseal where it was changed, or sealed with another key or for another place."""
        for version in versions_of(sealed):
            key = self._ring().find(self.purpose, version)
            if key is not None and (content := _opened(key, sealed, place)) is not None:
                return content
        raise CannotUnseal("This content cannot be decrypted: it was changed, or sealed with another key.")

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


def header(version: int) -> bytes:
    """Return how a content begins that is sealed with a version."""
    return MAGIC + version.to_bytes(4) if version else b""


def versions_of(sealed: bytes) -> list[int]:
    """Return the versions that may open a content: the one that it names, then 0, whose nonce may look like a name."""
    named = sealed.startswith(MAGIC) and len(sealed) > HEADER_BYTES
    return [int.from_bytes(sealed[len(MAGIC) : HEADER_BYTES]), 0] if named else [0]


def _opened(key: DataKey, sealed: bytes, place: str) -> bytes | None:
    start = header(key.version)
    nonce, ciphertext = sealed[len(start) : len(start) + NONCE_BYTES], sealed[len(start) + NONCE_BYTES :]
    try:
        return key.cipher.decrypt(nonce, ciphertext, start + place.encode())
    except (InvalidTag, ValueError):
        return None


def mac(content: str, place: str, ring: Callable[[], Keyring] = keyring) -> str:
    """Return an HMAC-SHA-256 in hexadecimal that identifies a content.

    Every process of the installation returns the same. Without the key, guesses of the content cannot be checked
    against it.
    """
    key = hmac.digest(ring().stable(Purpose.DIGESTS).secret, b"signum mac", "sha256")
    message = len(place.encode()).to_bytes(8) + place.encode() + content.encode()
    return hmac.digest(key, message, "sha256").hex()


SECRETS = Seal(Purpose.SECRETS)
DOCUMENTS = Seal(Purpose.DOCUMENTS)
WALLETS = Seal(Purpose.WALLETS)
