"""API keys as pages show them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from backend.api_keys.schemas import ApiKey
from backend.auth.scopes import Scope
from state.core.dates import stamp
from state.organizations.ip_ranges import shown


@dataclass
class KeyView:
    """A key without its secret. `status` is active, expiring, expired or revoked."""

    id: str = ""
    name: str = ""
    shown: str = ""
    scopes: list[str] = field(default_factory=list)
    access: str = ""
    """Its scopes in a few words."""
    network: str = ""
    last_used_at: str = ""
    expires_at: str = ""
    created_at: str = ""
    status: str = "active"
    created_by: str = ""
    ip_ranges: str = ""
    """The first of its IP ranges and how many more; empty if it works everywhere."""
    all_ip_ranges: str = ""


def key_view(key: ApiKey, now: datetime) -> KeyView:
    """Convert the API's key."""
    return KeyView(
        id=str(key.id),
        name=key.name,
        shown=f"{key.prefix}…{key.last_four}",
        scopes=list[str](key.scopes),
        access=_access(key.scopes),
        network=key.network or "",
        last_used_at=stamp(key.last_used_at),
        expires_at=stamp(key.expires_at),
        created_at=stamp(key.created_at),
        status=_status(key, now),
        ip_ranges=shown(key.allowed_ip_ranges),
        all_ip_ranges=", ".join(key.allowed_ip_ranges),
        created_by="an application" if key.client_id else "another key" if key.parent_id else "",
    )


def _access(scopes: Sequence[str]) -> str:
    """Return `Full access`, `Read only, 8 scopes` or `3 scopes`."""
    if len(scopes) == len(Scope):
        return "Full access"
    count = f"{len(scopes)} scope{'' if len(scopes) == 1 else 's'}"
    return f"Read only, {count}" if all(scope.endswith(":read") for scope in scopes) else count


def _status(key: ApiKey, now: datetime) -> str:
    """Return the key's current status; it is expiring in its last 14 days."""
    if key.revoked_at:
        return "revoked"
    if not key.expires_at:
        return "active"
    left = key.expires_at - now
    if left <= timedelta(0):
        return "expired"
    return "expiring" if left < timedelta(days=14) else "active"
