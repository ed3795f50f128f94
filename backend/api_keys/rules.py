"""What a new key may be. Pure."""

from collections.abc import Iterable
from datetime import datetime

from backend.auth.scopes import Scope
from backend.errors import BadRequest, Forbidden, InsufficientScope
from backend.fields import Network


def check_scopes(wanted: Iterable[Scope], held: frozenset[Scope]) -> None:
    """403 where a key would be wider than its creator."""
    for scope in sorted(set(wanted)):
        if scope not in held:
            raise InsufficientScope(scope)


def check_network(wanted: Network | None, organization: Network, creator: Network | None) -> None:
    """403 where a key (`creator` is its network) would make a key for the other network; a person may choose."""
    if creator is not None and (wanted or organization) is not creator:
        raise Forbidden(f"A key that works on {creator} can make keys for {creator} only.")


def check_expiry(expires_at: datetime | None, now: datetime, creator: datetime | None) -> None:
    """400 for a key that would have expired already; 403 where a key or an application's grant (`creator` is when it
    ends) would make one that outlives it."""
    if expires_at is not None and expires_at <= now:
        raise BadRequest("expires_at has passed already.", pointer="/expires_at")
    if creator is not None and (expires_at is None or expires_at > creator):
        raise Forbidden(
            "A key or an application cannot make a key that outlives it. "
            f"Set expires_at to {creator.isoformat()} at the latest."
        )
