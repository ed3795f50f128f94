"""On-chain facts that controls need: the token, its owner, the accounts involved."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from backend.assets import records, transfer_check
from backend.assets.transfer_check import Place
from backend.auth.principal import Context
from backend.chain.abi.rule_sets import TokenRules
from backend.chain.bindings import token
from backend.compliance.rules import Account, TokenState
from backend.core.errors import Conflict


@dataclass(frozen=True)
class Facts:
    """A token on one chain, and its data about some accounts."""

    place: Place
    owner: str
    supply: int
    state: TokenState
    rules: TokenRules
    accounts: tuple[Account, ...]


async def read(place: Place, *addresses: str) -> Facts:
    """Read the chain now. The owner is the last of `accounts`."""
    owner, supply = await token.owner(place.eid, place.token), (token.NAME, place.token, "totalSupply")
    found = await transfer_check.facts_of(place, *addresses, owner, also=[supply])
    return Facts(place, owner, found.answers[0], found.state, found.rules, tuple(found.accounts))


async def places(context: Context, asset_id: UUID, eid: int | None) -> Sequence[Place]:
    """Return where to act: on one chain (400 if the asset is not there), or on all (409 if it is on none)."""
    if eid is not None:
        return [await transfer_check.place_of(context, asset_id, eid)]
    rows = records.active(await records.deployments(context.session, asset_id))
    if not rows:
        raise Conflict("The asset has no active token on any chain. Wait until its deployment finishes, or retry it.")
    return [await transfer_check.place_of(context, asset_id, row.chain_eid) for row in rows]
