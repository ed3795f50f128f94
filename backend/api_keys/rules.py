"""Rules of a new key. Pure functions."""

from collections.abc import Iterable
from datetime import datetime

from backend.auth.scopes import Scope
from backend.core.errors import BadRequest, Forbidden, InsufficientScope
from backend.core.fields import Network


def check_scopes(wanted: Iterable[Scope], held: frozenset[Scope]) -> None:
    """Raise 403 if a key would have more scopes than its creator."""
    for scope in sorted(set(wanted)):
        if scope not in held:
            raise InsufficientScope(scope)


def check_network(wanted: Network | None, organization: Network, creator: Network | None) -> None:
    """Raise 403 if a key (`creator` is its network) would make a key for the other network; a person may choose."""
    if creator is not None and (wanted or organization) is not creator:
        raise Forbidden(f"A key that is bound to {creator} can make keys for {creator} only.")


def check_expiry(expires_at: datetime | None, now: datetime, creator: datetime | None) -> None:
    """Raise 400 for an expiry in the past; 403 if a key or an application's grant (`creator` is when it ends) would
    make a key that outlives it."""
    if expires_at is not None and expires_at <= now:
        raise BadRequest("expires_at is in the past. Give a later time.", pointer="/expires_at")
    if creator is not None and (expires_at is None or expires_at > creator):
        raise Forbidden(
            f"A key or application cannot make a key that outlives it. Set expires_at to {creator.isoformat()} or "
            "earlier."
        )
