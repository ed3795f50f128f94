"""Rules of which kinds a reader may find. Pure functions."""

from collections.abc import Collection

from backend.auth.scopes import Scope
from backend.search.schemas import Kind

NEEDED: dict[Kind, Scope] = {
    Kind.ORGANIZATION: Scope.ORGS_READ,
    Kind.ASSET: Scope.ASSETS_READ,
    Kind.MARKET: Scope.ASSETS_READ,
    Kind.DISTRIBUTION: Scope.ASSETS_READ,
    Kind.PARTY: Scope.ATTESTATIONS_READ,
    Kind.MEMBER: Scope.MEMBERS_READ,
    Kind.INVITATION: Scope.MEMBERS_READ,
    Kind.WALLET: Scope.WALLETS_READ,
    Kind.ATTESTATION: Scope.ATTESTATIONS_READ,
    Kind.TRANSFER: Scope.TRANSFERS_READ,
    Kind.BRIDGE: Scope.ASSETS_READ,
    Kind.REQUEST: Scope.ORGS_READ,
    Kind.API_KEY: Scope.API_KEYS_READ,
    Kind.CHAIN: Scope.CHAINS_READ,
}
"""The scope that the list of each kind needs."""


def findable(scopes: Collection[Scope]) -> list[Kind]:
    """Return the kinds to search for a caller with these scopes."""
    return [kind for kind, scope in NEEDED.items() if scope in scopes]
