"""The 16 scopes and the roles that have them (specification 5.5); the identity scopes of applications."""

from enum import StrEnum

from backend.users.schemas import Role


class Scope(StrEnum):
    """`{resource}:{action}`. A write scope does not imply read."""

    ORGS_READ = "orgs:read"
    ORGS_WRITE = "orgs:write"
    ASSETS_READ = "assets:read"
    ASSETS_WRITE = "assets:write"
    MEMBERS_READ = "members:read"
    MEMBERS_WRITE = "members:write"
    WALLETS_READ = "wallets:read"
    WALLETS_WRITE = "wallets:write"
    CHAINS_READ = "chains:read"
    CHAINS_WRITE = "chains:write"
    ATTESTATIONS_READ = "attestations:read"
    ATTESTATIONS_WRITE = "attestations:write"
    TRANSFERS_READ = "transfers:read"
    TRANSFERS_WRITE = "transfers:write"
    API_KEYS_READ = "api-keys:read"
    API_KEYS_WRITE = "api-keys:write"


class IdentityScope(StrEnum):
    """Identity claims that an application may read of the person who signs in with it (OpenID Connect)."""

    OPENID = "openid"
    PROFILE = "profile"
    EMAIL = "email"
    KYC_STATUS = "kyc:status"


IDENTITY = frozenset(IdentityScope)
ALL = frozenset(Scope)
READS = frozenset(s for s in Scope if s.endswith(":read"))
ACTIONS = (
    Scope.ORGS_WRITE,
    Scope.MEMBERS_WRITE,
    Scope.ASSETS_WRITE,
    Scope.ATTESTATIONS_WRITE,
    Scope.TRANSFERS_WRITE,
    Scope.WALLETS_WRITE,
)
"""Scopes of actions that are accepted as requests. Retrying or deciding on a request needs its scope too."""
_VIEWER = READS - {Scope.API_KEYS_READ}
ROLE_SCOPES: dict[Role, frozenset[Scope]] = {
    Role.ADMIN: ALL,
    Role.COMPLIANCE_OFFICER: READS | {Scope.ATTESTATIONS_WRITE, Scope.ASSETS_WRITE},
    Role.MEMBER: _VIEWER | {Scope.TRANSFERS_WRITE},
    Role.VIEWER: _VIEWER,
    Role.CLIENT: frozenset(),
}
RANK = [Role.ADMIN, Role.COMPLIANCE_OFFICER, Role.MEMBER, Role.VIEWER, Role.CLIENT]


def highest(roles: list[Role]) -> Role | None:
    """Return the widest of some roles, for display. Roles add up."""
    return min(roles, key=RANK.index) if roles else None


def scopes_of(roles: list[Role]) -> frozenset[Scope]:
    """Return the union of the scopes of some roles."""
    return frozenset().union(*(ROLE_SCOPES[r] for r in roles)) if roles else frozenset()
