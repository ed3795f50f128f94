"""Calls of operations, as a request that waits for a second person stores them."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Version:
    """The versions of a record that `If-Match` names, as ETags."""

    record: str
    id: str
    tags: list[str]

    @classmethod
    def restored(cls, stored: Mapping[str, Any] | None) -> "Version | None":
        """Return the stored versions."""
        return cls(**stored) if stored else None


@dataclass
class Call:
    """The arguments of an operation: its name, the path parameters, the body as JSON, and the version of the record
    that it was made for."""

    operation: str
    path: dict[str, str]
    body: Any
    version: Version | None = None

    def stored(self) -> dict[str, Any]:
        """Return JSON from which `restored` makes it again."""
        return asdict(self)

    @classmethod
    def restored(cls, stored: Mapping[str, Any]) -> "Call":
        """Return a stored call."""
        return cls(**{**stored, "version": Version.restored(stored.get("version"))})
