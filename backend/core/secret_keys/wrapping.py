"""What encrypts data keys: a text of the operator, or a key in a key management service."""

from typing import Protocol


class CannotUnwrap(Exception):
    """A wrapped key was changed, or belongs to another place."""


class RootKey(Protocol):
    """Wraps data keys."""

    @property
    def fingerprint(self) -> str:
        """Identify the key without revealing it."""

    def wrap(self, key: bytes, place: str) -> bytes:
        """Return an encrypted data key; it can be decrypted for the same place only."""

    def unwrap(self, wrapped: bytes, place: str) -> bytes:
        """Return a data key. Raises CannotUnwrap."""
