"""The plan of a bridge: what leaves which chain, what arrives where, its fee, its verifiers and its steps.

Its fingerprint covers what a person confirms. A request that sends it is refused if the plan has changed since.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic_core import to_jsonable_python
from sqlalchemy.ext.asyncio import AsyncSession

from backend.assets.models import AssetRow, DeploymentRow
from backend.bridges import paths, price
from backend.bridges.schemas import SHARED, BridgeCreate, BridgeImpact, BridgePlan
from backend.caps.changes import Change
from backend.chain.bindings import token
from backend.chain.transactions import funding
from backend.chains import paths as chain_paths
from backend.core import db
from backend.core.errors import Conflict
from backend.core.units import grouped
from backend.wallets.known_names import known

CHANGED = "The plan of this bridge has changed since you read it. Read it again, then confirm it."


@dataclass(frozen=True)
class Route:
    """A bridge that passed every check: its amount, source and destination."""

    asset: AssetRow
    source: DeploymentRow
    destination: Any
    fee: int
    """The delivery fee sent with the packet, in wei."""
    is_there: bool
    """Whether the destination already has the asset's token."""


async def plan(session: AsyncSession, route: Route, body: BridgeCreate, change: Change) -> BridgePlan:
    """Return what a bridge would do."""
    impact = await _impact(session, route, body, change)
    return BridgePlan(steps=_steps(route, impact, change), impact=impact)


def check_expected(planned: BridgePlan, body: BridgeCreate) -> None:
    """Raise 409 if the caller confirmed another plan, or a lower fee."""
    impact = planned.impact
    if body.expected_plan is not None and body.expected_plan != impact.fingerprint:
        raise Conflict(CHANGED)
    if body.max_fee is not None and int(impact.fee) > int(body.max_fee):
        paid = f"{funding.amount(int(impact.fee))} {impact.fee_currency}"
        raise Conflict(f"The delivery now costs up to {paid}, more than max_fee. Read the plan again, then confirm it.")


async def _impact(session: AsyncSession, route: Route, body: BridgeCreate, change: Change) -> BridgeImpact:
    eids = (route.source.chain_eid, route.destination.xchain_eid)
    ends = await paths.chains_of(session, *eids)
    source, destination = (ends[eid] for eid in eids)
    async with db.paused(session):
        sender = await token.owner(eids[0], str(route.source.token_address))
    receiver = (body.to_address or sender) if int(body.amount) else None
    names = await known(session, route.asset.organization_id, [address for address in (sender, receiver) if address])
    confirmed: dict[str, Any] = {
        "source_chain_eid": eids[0],
        "destination_chain_eid": eids[1],
        "amount": body.amount,
        "to_address": body.to_address,
        "sender_address": sender,
        "receiver_address": receiver,
        "deploys_token": not route.is_there,
        "verification": chain_paths.summary(source, destination),
        "caps": change.effects,
        "warnings": ([SHARED] if change.effects else []) + await paths.notes(session, *eids),
    }
    return BridgeImpact(
        **confirmed,
        source_chain_name=source.display_name,
        destination_chain_name=destination.display_name,
        sender_name=names[sender].title,
        receiver_name=names[receiver].title if receiver else None,
        fee=str(route.fee),
        fee_currency=source.native_currency_symbol or "ETH",
        fingerprint=_fingerprint(confirmed),
    )


def _fingerprint(confirmed: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(to_jsonable_python(confirmed), sort_keys=True).encode()).hexdigest()[:32]


def _steps(route: Route, impact: BridgeImpact, change: Change) -> list[str]:
    symbol, name = route.asset.symbol, impact.destination_chain_name
    carried = f" and {grouped(impact.amount, route.asset.decimals)} {symbol}" if int(impact.amount) else ""
    return [
        *([] if route.is_there else [f"Deploy the token of {symbol} on {name}"]),
        *(f"Change the limits on {chain}" for chain in _changed(change)),
        f"Send one packet with the rules{carried}" + price.words(route.fee, impact.fee_currency),
        f"Deliver it on {name} and read the rules back",
    ]


def _changed(change: Change) -> Sequence[str]:
    """Return the chains with the token whose shares change."""
    found = (one.chain_name for one in change.effects if one.before not in (None, one.after))
    return list(dict.fromkeys(found))
