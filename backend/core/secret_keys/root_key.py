"""The secret key of an installation: it encrypts the data keys in the database, and nothing else.

It is a text, or a key in AWS KMS (`kms_root_key`).
"""

import hashlib
import secrets
from functools import cached_property
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from backend.core.private_files import write_private
from backend.core.runtime import runtime
from backend.core.secret_keys.wrapping import CannotUnwrap, RootKey
from backend.core.setting_fields.secret_key_texts import KMS
from backend.core.settings import settings

NONCE_BYTES = 12
VARIABLE, PREVIOUS = "SIGNUM_SECRET_KEY", "SIGNUM_SECRET_KEY_PREVIOUS"


class SecretKey:
    """A root key derived from a text with scrypt, because an operator's own text may be easy to guess."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        """Return a text without the key."""
        return f"SecretKey({self.fingerprint})"

    @cached_property
    def fingerprint(self) -> str:
        """The first 64 bits of a digest of the derived key, in hexadecimal."""
        return hashlib.sha256(b"signum fingerprint" + self._derived).hexdigest()[:16]

    def wrap(self, key: bytes, place: str) -> bytes:
        """Encrypt a data key with AES-256-GCM."""
        nonce = secrets.token_bytes(NONCE_BYTES)
        return nonce + self._cipher.encrypt(nonce, key, place.encode())

    def unwrap(self, wrapped: bytes, place: str) -> bytes:
        """Return a data key. Raises CannotUnwrap."""
        try:
            return self._cipher.decrypt(wrapped[:NONCE_BYTES], wrapped[NONCE_BYTES:], place.encode())
        except (InvalidTag, ValueError) as error:
            raise CannotUnwrap(place) from error

    @cached_property
    def _derived(self) -> bytes:
        return hashlib.scrypt(self._text.encode(), salt=b"signum root key", n=2**15, r=8, p=1, maxmem=2**26, dklen=32)

    @cached_property
    def _cipher(self) -> AESGCM:
        return AESGCM(self._derived)


def root_key(text: str) -> RootKey:
    """Return the key that a setting or file names."""
    if text.startswith(KMS):
        from backend.core.secret_keys.kms_root_key import KmsRootKey

        return KmsRootKey(text)
    return SecretKey(text)


class RootKeys:
    """The root keys of this process: the current one, and the one before it during a change."""

    def __init__(self) -> None:
        own = settings()
        self.path = own.home / "secret.key"
        self.is_set = own.secret_key is not None
        self.current: RootKey | None = root_key(own.secret_key) if own.secret_key else self._stored()
        self.previous: RootKey | None = root_key(own.secret_key_previous) if own.secret_key_previous else None

    def find(self, fingerprint: str) -> RootKey | None:
        """Return the key with a fingerprint, if this process has it."""
        known = (self.current, self.previous)
        return next((key for key in known if key is not None and key.fingerprint == fingerprint), None)

    def create(self) -> RootKey:
        """Return the current key; without one, create it in a private file of the data folder."""
        if self.current is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            write_private(self.path, secrets.token_urlsafe(32))
            self.current = self._stored()
        assert self.current is not None, "the file was just written"
        return self.current

    def _stored(self) -> RootKey | None:
        return root_key(self.path.read_text().strip()) if self.path.exists() else None

    def refusal(self, fingerprint: str) -> str:
        """Return why this process cannot use keys that another root key wraps: the variable and fingerprints."""
        needed = f"the keys in this database are encrypted under the one with the fingerprint {fingerprint}"
        way = f"Start with that key in {VARIABLE} or {PREVIOUS}."
        if self.current is None:
            return f"{VARIABLE} is not set and {self.path} does not exist, but {needed}. {way}"
        name = VARIABLE if self.is_set else f"{VARIABLE} is not set, and the secret key in {Path(self.path)}"
        return f"{name} has the fingerprint {self.current.fingerprint}, but {needed}. {way}"


def root_keys() -> RootKeys:
    """Return the root keys of this process."""
    return runtime.part(RootKeys)
