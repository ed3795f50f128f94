"""Data keys of this process, read from the database: versions by purpose, the newest of which seals."""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import psycopg
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from backend.core.connections import database
from backend.core.errors import CannotStart
from backend.core.runtime import runtime
from backend.core.secret_keys.root_key import root_keys
from backend.core.secret_keys.wrapping import CannotUnwrap

FRESH_SECONDS = 10.0
"""For how long a process seals without looking for a newer key. A rotation waits longer than this."""
MISSING_SECONDS = 0.1
"""For how long a version that does not exist is not looked up again: cookies can name any."""


class Purpose(StrEnum):
    """What data keys are for."""

    WALLETS = "wallets"
    DOCUMENTS = "documents"
    SECRETS = "secrets"
    DIGESTS = "digests"
    """Keyed digests that every process computes equally, such as numbers of locks. This key is never rotated."""


@dataclass(frozen=True)
class DataKey:
    """A version of a key. Version 0 is the key of an installation from before there were versions."""

    purpose: Purpose
    version: int
    secret: bytes = field(repr=False)
    cipher: AESGCM = field(repr=False)
    is_retired: bool = False


Keys = Mapping[tuple[str, int], DataKey]


class Keyring:
    """The data keys that this process has read."""

    def __init__(self, read: "Callable[[Keys], Keys] | None" = None) -> None:
        self._read = read or _read
        self._keys: Keys = {}
        self._read_at = float("-inf")
        self._missing: dict[tuple[str, int], float] = {}
        self._lock = threading.Lock()

    def newest(self, purpose: Purpose) -> DataKey:
        """Return the key that seals. Raises psycopg.OperationalError if the database does not respond."""
        if time.monotonic() - self._read_at > FRESH_SECONDS:
            self.refresh()
        return self._newest(purpose)

    def stable(self, purpose: Purpose) -> DataKey:
        """Return the key of a purpose whose key never changes."""
        if not self._keys:
            self.refresh()
        return self._newest(purpose)

    def find(self, purpose: Purpose, version: int) -> DataKey | None:
        """Return a version; one that was made since the last look is read now."""
        wanted = (purpose.value, version)
        found = self._keys.get(wanted)
        if found is None and self._may_exist(wanted):
            self.refresh()
            found = self._keys.get(wanted)
            if found is None:
                self._missing[wanted] = time.monotonic()
        return found

    def refresh(self) -> None:
        """Read the keys."""
        with self._lock:
            began = time.monotonic()
            self._keys = self._read(self._keys)
            self._read_at = began
            self._missing.clear()

    def _newest(self, purpose: Purpose) -> DataKey:
        usable = [key for key in self._keys.values() if key.purpose is purpose and not key.is_retired]
        if not usable:
            raise CannotStart("The database has no data keys yet. Start `signum serve` first.")
        return max(usable, key=lambda key: key.version)

    def _may_exist(self, wanted: tuple[str, int]) -> bool:
        """Return whether a look is worth it: versions are consecutive."""
        if not self._keys:
            return True
        highest = max((version for purpose, version in self._keys if purpose == wanted[0]), default=0)
        is_next = highest < wanted[1] <= highest + 2
        return is_next and time.monotonic() - self._missing.get(wanted, float("-inf")) > MISSING_SECONDS


def keyring() -> Keyring:
    """Return the data keys of this process."""
    return runtime.part(Keyring)


def place(purpose: str, version: int) -> str:
    """Return the place for which a data key is wrapped."""
    return f"{purpose} {version}"


def opened(connection: psycopg.Connection[Any], known: Keys) -> Keys:
    """Return the keys in the database. Raises CannotStart where this process lacks the root key of one."""
    query = "select purpose, version, wrapped, wrapped_by, retired_at from data_keys where wrapped is not null"
    keys = dict[tuple[str, int], DataKey]()
    for purpose, version, wrapped, wrapped_by, retired_at in connection.execute(query):
        kept = known.get((purpose, version))
        secret = kept.secret if kept else _unwrapped(purpose, version, bytes(wrapped), wrapped_by)
        key = DataKey(Purpose(purpose), version, secret, AESGCM(secret), retired_at is not None)
        keys[purpose, version] = key
    return keys


def _read(known: Keys) -> Keys:
    with database.thread_connection() as connection:
        return opened(connection, known)


def _unwrapped(purpose: str, version: int, wrapped: bytes, wrapped_by: str) -> bytes:
    root = root_keys().find(wrapped_by)
    if root is None:
        raise CannotStart(root_keys().refusal(wrapped_by))
    try:
        return root.unwrap(wrapped, place(purpose, version))
    except CannotUnwrap:
        raise CannotStart(f"Version {version} of the data key for {purpose} was changed in the database.") from None
