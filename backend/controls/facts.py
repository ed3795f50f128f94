"""What the chain knows that a control must know before: the token, its owner, the accounts it touches."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from backend.assets import checking, records
from backend.assets.checking import Place
from backend.auth.principal import Context
from backend.chain import token
from backend.chain.rule_sets import TokenRules
from backend.compliance.rules import Account, TokenState
from backend.errors import Conflict


@dataclass(frozen=True)
class Facts:
    """A token on one chain, and some accounts as it sees them."""

    place: Place
    owner: str
    supply: int
    state: TokenState
    rules: TokenRules
    accounts: tuple[Account, ...]


async def read(place: Place, *addresses: str) -> Facts:
    """Ask the chain now. The owner is the last of `accounts`."""
    eid, at = place.eid, place.token
    owner, supply, state, rules = await asyncio.gather(
        token.owner(eid, at), token.total_supply(eid, at), checking.token_state(place), token.rules(eid, at)
    )
    accounts = await asyncio.gather(*(checking.account(place, rules, a) for a in (*addresses, owner)))
    return Facts(place, owner, supply, state, rules, tuple(accounts))


async def places(context: Context, asset_id: UUID, eid: int | None) -> Sequence[Place]:
    """Where to act: on one chain (400 where the asset is not there), or on every one (409 where it is on none)."""
    if eid is not None:
        return [await checking.place_of(context, asset_id, eid)]
    rows = records.active(await records.deployments(context.session, asset_id))
    if not rows:
        raise Conflict("The asset has no active token on any chain.")
    return [await checking.place_of(context, asset_id, row.chain_eid) for row in rows]
