"""Owners of the credentials of a request: a person, and an API key."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from backend.auth.freshness import is_fresh
from backend.auth.scopes import Scope
from backend.core import db
from backend.core.errors import FreshFactorNeeded, FreshProofNeeded
from backend.core.fields import Network
from backend.users.schemas import Role


@dataclass(frozen=True)
class Person:
    """A signed-in person, or an application that acts for them.

    For an application, `granted` are its scopes, and `within` is its organization: it has access to that organization
    and those below it only.
    """

    user_id: UUID
    email: str
    display_name: str
    session_id: UUID
    organization_id: UUID | None
    signed_in_at: datetime
    by_cookie: bool = False
    granted: frozenset[str] | None = None
    token_scopes: frozenset[str] = frozenset()
    """The scopes that the access token names."""
    within: UUID | None = None
    has_factor: bool = False
    factor_at: datetime | None = None
    """When this session last confirmed a second factor."""
    proven_at: datetime | None = None
    """When this session last confirmed with a password or a wallet signature after the sign-in."""

    @property
    def confirmed_at(self) -> datetime | None:
        """When this session last confirmed its person: with a second factor; without one, by the sign-in, a password or
        a wallet signature.

        None where they have a factor and have not used it.
        """
        if self.has_factor:
            return self.factor_at
        return max(self.signed_in_at, self.proven_at or self.signed_in_at)

    def require_confirmed(self) -> None:
        """Raise 403 where this session, of any kind, has not confirmed its person within the last 5 minutes."""
        if not is_fresh(self.confirmed_at, db.now()):
            raise FreshFactorNeeded if self.has_factor else FreshProofNeeded


@dataclass(frozen=True)
class Key:
    """An API key of one organization."""

    key_id: UUID
    organization_id: UUID
    name: str
    scopes: frozenset[Scope]
    network: Network
    created_by: UUID | None
    creator_roles: tuple[Role, ...] = ()
    allowed_ip_ranges: tuple[str, ...] = ()
    """Ranges from which it works; empty for all addresses."""
    is_address_allowed: bool = False
    """Whether its organization, and each one above it, is known to allow the caller's address."""
    is_entered: bool = False
    """Whether the transaction that looked it up sees its organization."""
