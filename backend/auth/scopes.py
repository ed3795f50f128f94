"""The 16 scopes and which of them a role has (specification 5.5); those of an identity, for applications."""

from enum import StrEnum

from backend.members.schemas import Role


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
    """What an application may learn of the person who signs in with it (OpenID Connect)."""

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
)
"""The scopes of what is accepted as a request: whoever retries it, or decides about it, needs its scope too."""
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
    """The widest of some roles; roles add up, this one is shown."""
    return min(roles, key=RANK.index) if roles else None


def scopes_of(roles: list[Role]) -> frozenset[Scope]:
    """What some roles may do together."""
    return frozenset().union(*(ROLE_SCOPES[r] for r in roles)) if roles else frozenset()
