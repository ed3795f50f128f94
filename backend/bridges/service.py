"""Bridges: asked for, listed, and looked at again."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend import db
from backend.assets import gas, holders, records
from backend.assets.models import AssetRow, DeploymentRow
from backend.assets.schemas import AssetStatus
from backend.assets.service import usable_chain
from backend.assets.terms import terms_of, token_rules
from backend.auth import operator_paid
from backend.auth.principal import Context
from backend.auth.scopes import Scope
from backend.bridges import paths, price, rules
from backend.bridges.models import BridgeRow
from backend.bridges.schemas import Bridge, BridgeAccepted, BridgeCreate, BridgeImpact, BridgePlan
from backend.chain import lost_transactions, token
from backend.chains import service as chains
from backend.changes import shown, tell
from backend.db import Write, now
from backend.errors import BadRequest, Conflict
from backend.issuers import lineage
from backend.requests.accept import accept, told
from backend.requests.service import Step
from backend.units import grouped


def steps(source_eid: int, destination_eid: int) -> list[Step]:
    """What a bridge's timeline shows, whoever asked for it."""
    return [
        Step("bridge_pending", "Bridge pending", destination_eid),
        Step("bridge_submitting", "Bridge submitting", source_eid),
        Step("bridge_confirmed", "Bridge confirmed", destination_eid),
    ]


@dataclass(frozen=True)
class Route:
    """A bridge that passed every check: what goes from where to where."""

    asset: AssetRow
    source: DeploymentRow
    destination: Any
    fee: int
    """What the packet takes along for its delivery, wei."""
    is_there: bool
    """Whether the destination has the asset's token already."""


async def _checked(context: Context, asset_id: UUID, body: BridgeCreate) -> Route:
    """Every check of a bridge: asset (404), chains and amount (400), the asset's state, funds, balance (409)."""
    asset = await records.asset(context.session, context.organization_id, asset_id)
    destination = await usable_chain(context, body.destination_chain_eid, "/destination_chain_eid")
    rows = await records.deployments(context.session, asset_id)
    source = source_of(rows, body.source_chain_eid, body.destination_chain_eid)
    rules.check_route(source.chain_eid, body.destination_chain_eid)
    rules.check_amount(int(body.amount), asset.decimals)
    async with lost_transactions.considered(context.session, source.chain_eid, body.destination_chain_eid):
        fee = await check_ready(context, asset, rows, source, body.destination_chain_eid)
        there = next((row for row in records.active(rows) if row.chain_eid == body.destination_chain_eid), None)
        await paths.check_open(context.session, source, there, int(body.amount))
        await _check_balance(context, source, int(body.amount))
    return Route(asset, source, destination, fee, is_there(rows, body.destination_chain_eid))


async def plan(context: Context, asset_id: UUID, body: BridgeCreate) -> BridgePlan:
    """Every check of a bridge, and what it would do."""
    route = await _checked(context, asset_id, body)
    symbol, name = route.asset.symbol, route.destination.display_name
    warnings = []
    caps = (route.asset.max_holders, int(terms_of(route.asset).compliance_rules.max_tokens_per_holder))
    if any(caps) and not route.is_there:
        warnings.append("The caps of the asset are shared with one more chain: those of the others get smaller.")
    warnings += await paths.notes(context.session, route.source.chain_eid, body.destination_chain_eid)
    steps = [
        *([] if route.is_there else [f"Deploy the token of {symbol} on {name}"]),
        f"Send one packet with the rules{f' and {body.amount} base units' if int(body.amount) else ''}"
        + price.words(route.fee),
        f"Deliver it on {name} and read the rules back",
    ]
    impact = BridgeImpact(
        source_chain_eid=route.source.chain_eid,
        destination_chain_eid=body.destination_chain_eid,
        amount=body.amount,
        deploys_token=not route.is_there,
        warnings=warnings,
    )
    return BridgePlan(steps=steps, impact=impact)


async def create(context: Context, asset_id: UUID, body: BridgeCreate) -> BridgeAccepted:
    """A bridge and its request."""
    route = await _checked(context, asset_id, body)
    asset, source, destination = route.asset, route.source, route.destination
    missing = await missing_on(context, body.destination_chain_eid, is_there=route.is_there)
    await operator_paid.count(context.session, context.organization_id, sum(missing.values()))
    row = await insert(
        context.session, asset, source.chain_eid, body.destination_chain_eid, int(body.amount), body.to_address
    )
    request = await accept(
        context,
        "bridge.send",
        f"Bridge {grouped(body.amount, asset.decimals)} {asset.symbol} to {destination.display_name}",
        subject=("bridge", row.id),
        scope=Scope.ASSETS_WRITE,
        steps=steps(source.chain_eid, body.destination_chain_eid),
        order=asset_id,
        arguments=lineage.noted(missing),
    )
    await begun(context.session, row, request.id)
    message = told(request, f"{asset.symbol} is being bridged to {destination.display_name}.")
    return BridgeAccepted(bridgeId=row.id, status=row.status, request_id=str(request.id), message=message)


async def missing_on(context: Context, eid: int, *, is_there: bool) -> dict[int, int]:
    """How many transactions the operator pays so that the organization has its place on the destination, where the
    asset's token is deployed first."""
    path = await lineage.path_of(context.session, context.organization_id)
    return await lineage.unwritten(context.session, path, [] if is_there else [eid])


def source_of(rows: list[DeploymentRow], wanted: int | None, destination_eid: int) -> DeploymentRow:
    """The deployment a packet leaves from: the one that is named, else the oldest elsewhere. 400 or 409 without one."""
    active = records.active(rows)
    if wanted is not None:
        for row in active:
            if row.chain_eid == wanted:
                return row
        raise BadRequest("The asset has no active token on the source chain.", pointer="/source_chain_eid")
    for row in active:
        if row.chain_eid != destination_eid:
            return row
    raise Conflict("The asset has no active token on another chain from which it could be bridged.")


async def check_ready(
    context: Context,
    asset: AssetRow,
    rows: list[DeploymentRow],
    source: DeploymentRow,
    destination_eid: int,
    gas_after: int = 0,
) -> int:
    """What the packet takes along for its delivery, wei. 400 where it would leave from a chain of the other network;
    409 where too few DVNs verify packets between mainnets, the asset is not active, its caps cannot be shared with one
    more chain, or the wallet cannot pay on both sides, with `gas_after` of what follows on the destination."""
    await chains.check_network(context, source.chain_eid)
    await paths.check(context.session, source.chain_eid, destination_eid)
    if asset.status not in (AssetStatus.ACTIVE, AssetStatus.UPDATING):
        raise Conflict(f"The asset is {asset.status}; it can be bridged when it is active.")
    eids = list(dict.fromkeys([*records.sharing(rows), destination_eid]))
    held = await holders.by_chain(context.session, context.organization_id, asset.id)
    on_token = token_rules(terms_of(asset), eids, destination_eid, held)
    wallet = await records.treasury(context.session, context.organization_id)
    assert source.token_address is not None
    async with db.paused(context.session):
        fee = await price.asked(source.chain_eid, source.token_address, destination_eid, on_token)
    path = gas.PATH if paths.are_kept(source.chain_eid, destination_eid) else 0
    here = path + gas.PEER + gas.packet(source.chain_eid)
    await records.check_funded(context.session, wallet, source.chain_eid, here, fee, size=gas.PACKET_SIZE)
    there, size = path + gas.PEER + gas_after, gas.SMALL_SIZE
    if not is_there(rows, destination_eid):
        there, size = there + gas.TOKEN, size + gas.TOKEN_SIZE
    await records.check_funded(context.session, wallet, destination_eid, there, size=size)
    return fee


def is_there(rows: list[DeploymentRow], eid: int) -> bool:
    """Whether a chain has the asset's token."""
    return any(row.chain_eid == eid for row in records.active(rows))


async def _check_balance(context: Context, source: DeploymentRow, amount: int) -> None:
    if amount == 0:
        return
    assert source.token_address is not None
    async with db.paused(context.session):
        owner = await token.owner(source.chain_eid, source.token_address)
        held = await token.balance_of(source.chain_eid, source.token_address, owner)
    if held < amount:
        raise Conflict(f"The treasury {owner} holds {held} base units on the source chain; {amount} are asked.")


async def begun(session: Write, row: BridgeRow, request_id: UUID) -> None:
    """Name the request that carries a new bridge, and tell of it."""
    row.request_id = request_id
    await tell(session, row.organization_id, "bridge.created", ("bridge", row.id), None, shown(Bridge, row))


async def insert(
    session: Write, asset: AssetRow, source_eid: int, destination_eid: int, amount: int, to_address: str | None
) -> BridgeRow:
    """A bridge row. `created_at` is the list's cursor, so it is later than every other of the organization."""
    organization_id = asset.organization_id
    name = f"bridges {organization_id}"
    await session.execute(sa.text("select pg_advisory_xact_lock(hashtextextended(:name, 0))"), {"name": name})
    last: datetime | None = await session.scalar(
        sa.select(sa.func.max(col(BridgeRow.created_at))).where(col(BridgeRow.organization_id) == organization_id)
    )
    created_at = max(now(), last + timedelta(microseconds=1)) if last else now()
    row = BridgeRow(
        organization_id=organization_id,
        asset_id=asset.id,
        source_chain_eid=source_eid,
        destination_chain_eid=destination_eid,
        amount=amount,
        to_address=to_address,
        created_at=created_at,
    )
    session.add(row)
    await session.flush()
    return row
