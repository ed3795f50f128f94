"""Create bridges, and list their steps."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.assets import caps, chain_caps, gas, holders, records
from backend.assets.models import AssetRow, DeploymentRow
from backend.assets.schemas import AssetStatus
from backend.assets.service import usable_chain
from backend.assets.terms import terms_of, token_rules
from backend.auth import operator_paid
from backend.auth.principal import Context
from backend.auth.scopes import Scope
from backend.bridges import paths, price, rules
from backend.bridges import plan as bridge_plans
from backend.bridges.models import BridgeRow
from backend.bridges.plan import Route
from backend.bridges.schemas import Bridge, BridgeAccepted, BridgeCreate, BridgePlan
from backend.caps.changes import NO_CHANGE, Change
from backend.caps.schemas import CapShare
from backend.chain.bindings import token
from backend.chain.transactions import lost_transactions
from backend.chains import new_activity
from backend.chains import service as chains
from backend.core import db, locks
from backend.core.changes import publish, shown
from backend.core.db import Write
from backend.core.errors import BadRequest, Conflict
from backend.core.locks import Purpose
from backend.core.recorded_time import recorded_now
from backend.core.units import grouped
from backend.issuers import lineage
from backend.requests.accept import accept, acceptance_message
from backend.requests.service import Step
from backend.requests.waiting import accepted_status
from backend.wallets import signing_wallets
from backend.wallets.known_names import titles_of


def steps(source_eid: int, destination_eid: int, names: Mapping[int, str]) -> list[Step]:
    """The steps in a bridge's timeline; `names` are those of the chains."""
    source, destination = names[source_eid], names[destination_eid]
    return [
        Step("bridge_pending", f"Prepare the token on {destination}", destination_eid),
        Step("bridge_submitting", f"Send the packet from {source}", source_eid),
        Step("bridge_confirmed", f"Deliver the packet on {destination}", destination_eid),
    ]


async def _checked(context: Context, asset_id: UUID, body: BridgeCreate) -> Route:
    """Run every check of a bridge: asset (404), chains and amount (400), the asset's state, funds, balance (409)."""
    asset = await records.asset(context.session, context.organization_id, asset_id)
    destination = await usable_chain(context, body.destination_chain_eid, "/destination_chain_eid")
    rows = await records.deployments(context.session, asset_id)
    source = await source_for(context, rows, body.source_chain_eid, body.destination_chain_eid)
    rules.check_route(source.chain_eid, body.destination_chain_eid)
    rules.check_amount(int(body.amount), asset.decimals)
    async with lost_transactions.considered(context.session, source.chain_eid, body.destination_chain_eid):
        fee = await check_ready(context, asset, rows, source, body.destination_chain_eid)
        there = next((row for row in records.active(rows) if row.chain_eid == body.destination_chain_eid), None)
        await paths.check_open(context.session, source, there, int(body.amount))
        await check_balance(context, asset, source, int(body.amount))
    return Route(asset, source, destination, fee, is_there(rows, body.destination_chain_eid))


async def plan(context: Context, asset_id: UUID, body: BridgeCreate) -> BridgePlan:
    """Run every check of a bridge, and return what it would do."""
    route = await _checked(context, asset_id, body)
    _, planned = await _planned(context, route, body)
    return planned


async def _planned(context: Context, route: Route, body: BridgeCreate) -> tuple[Change, BridgePlan]:
    """Return the shares of the caps afterwards, and the plan. 409 if the caller confirmed others."""
    change = await cap_change(context, route.asset, body.destination_chain_eid, is_there=route.is_there)
    change.check_expected(body.expected_caps)
    planned = await bridge_plans.plan(context.session, route, body, change)
    bridge_plans.check_expected(planned, body)
    return change, planned


async def create(context: Context, asset_id: UUID, body: BridgeCreate) -> BridgeAccepted:
    """Create a bridge and its request."""
    route = await _checked(context, asset_id, body)
    asset, source, destination = route.asset, route.source, route.destination
    change, planned = await _planned(context, route, body)
    missing = await missing_on(context, body.destination_chain_eid, is_there=route.is_there)
    await operator_paid.count(context.session, context.organization_id, sum(missing.values()))
    impact = planned.impact
    names = {source.chain_eid: impact.source_chain_name, body.destination_chain_eid: impact.destination_chain_name}
    row = await insert(
        context.session, asset, source.chain_eid, body.destination_chain_eid, int(body.amount), body.to_address
    )
    request = await accept(
        context,
        "bridge.send",
        await _title(context, body, route),
        subject=("bridge", row.id),
        scope=Scope.ASSETS_WRITE,
        steps=steps(source.chain_eid, body.destination_chain_eid, names),
        order=asset_id,
        arguments=lineage.noted(missing),
    )
    await begun(context.session, row, request.id)
    await confirmed(context, asset, request.id, change, body.expected_caps)
    message = acceptance_message(request, f"{asset.symbol} is being bridged to {destination.display_name}.")
    status = accepted_status(request, row.status)
    return BridgeAccepted(bridgeId=row.id, status=status, request_id=str(request.id), message=message)


async def cap_change(context: Context, asset: AssetRow, eid: int, *, is_there: bool) -> Change:
    """Return the shares of the caps after the asset's token is deployed on a chain; no change if it is there."""
    if is_there:
        return NO_CHANGE
    rows = await records.deployments(context.session, asset.id)
    eids = list(dict.fromkeys([*records.sharing(rows), eid]))
    return await chain_caps.change(context.session, asset, terms_of(asset), eids)


async def confirmed(
    context: Context, asset: AssetRow, request_id: UUID, change: Change, expected: Sequence[CapShare] | None
) -> None:
    """Record in the audit log that the caller confirmed the new shares of the caps, before any chain gets them."""
    if expected is None or not change.effects:
        return
    facts = {"caps": [effect.model_dump(mode="json") for effect in change.effects], "request_id": str(request_id)}
    await publish(context.session, asset.organization_id, "asset.caps_confirmed", ("asset", asset.id), None, facts)


async def _title(context: Context, body: BridgeCreate, route: Route) -> str:
    """Return the title of a bridge's request, with the receiver where it is not the treasury."""
    title, to = f"Bridge {_amount(body, route.asset)} to {route.destination.display_name}", body.to_address
    if to is None:
        return title
    names = await titles_of(context.session, context.organization_id, [to])
    return f"{title} for {names[to]}"


def _amount(body: BridgeCreate, asset: AssetRow) -> str:
    return f"{grouped(body.amount, asset.decimals)} {asset.symbol}"


async def missing_on(context: Context, eid: int, *, is_there: bool) -> dict[int, int]:
    """Return how many transactions the operator pays to register the organization on the destination, where the asset's
    token is deployed first."""
    path = await lineage.path_of(context.session, context.organization_id)
    return await lineage.unwritten(context.session, path, [] if is_there else [eid])


async def source_for(
    context: Context, rows: list[DeploymentRow], wanted: int | None, destination_eid: int
) -> DeploymentRow:
    """Return the deployment a packet leaves from: the named one, else the oldest on another chain, on an enabled one if
    there is one. 400 or 409 without one."""
    disabled = await new_activity.disabled_names(context, {row.chain_eid for row in rows})
    return source_of(sorted(rows, key=lambda row: row.chain_eid in disabled), wanted, destination_eid)


def source_of(rows: list[DeploymentRow], wanted: int | None, destination_eid: int) -> DeploymentRow:
    """Return the named deployment, else the first on another chain. 400 or 409 without one."""
    active = records.active(rows)
    if wanted is not None:
        for row in active:
            if row.chain_eid == wanted:
                return row
        raise BadRequest(
            "The asset has no active token on the source chain. Choose a chain that has it.",
            pointer="/source_chain_eid",
        )
    for row in active:
        if row.chain_eid != destination_eid:
            return row
    raise Conflict(
        "The asset has no active token on another chain to bridge from. Wait for its deployment, or retry it."
    )


async def check_ready(
    context: Context,
    asset: AssetRow,
    rows: list[DeploymentRow],
    source: DeploymentRow,
    destination_eid: int,
    gas_after: int = 0,
) -> int:
    """Return the delivery fee sent with the packet, in wei. 400 if it would leave from a chain of the other network;
    409 if one of the chains, or one whose share of the caps changes, is not enabled, too few DVNs verify packets
    between mainnets, the asset is not active, its caps cannot be shared with one more chain, or the wallet cannot pay
    on both sides, with `gas_after` for what follows on the destination."""
    await chains.check_network(context, source.chain_eid)
    shares = records.sharing(rows) if caps.are_set(terms_of(asset)) else []
    await new_activity.check(context, source.chain_eid, destination_eid, *shares)
    await paths.check(context.session, source.chain_eid, destination_eid)
    if asset.status not in (AssetStatus.ACTIVE, AssetStatus.UPDATING):
        raise Conflict(f"The asset is {asset.status}. Only an active asset can be bridged.")
    eids = list(dict.fromkeys([*records.sharing(rows), destination_eid]))
    held = await holders.by_chain(context.session, context.organization_id, asset.id)
    on_token = token_rules(terms_of(asset), eids, destination_eid, held)
    wallet = await signing_wallets.treasury(context.session, context.organization_id)
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
    """Return whether a chain has the asset's token."""
    return any(row.chain_eid == eid for row in records.active(rows))


async def check_balance(context: Context, asset: AssetRow, source: DeploymentRow, amount: int) -> None:
    """Raise 409 if the treasury holds less than an amount on the source chain."""
    if amount == 0:
        return
    assert source.token_address is not None
    async with db.paused(context.session):
        owner = await token.owner(source.chain_eid, source.token_address)
        held = await token.balance_of(source.chain_eid, source.token_address, owner)
    if held < amount:
        holds, wanted = (f"{grouped(n, asset.decimals)} {asset.symbol}" for n in (held, amount))
        raise Conflict(f"The treasury {owner} holds {holds} on the source chain; the amount is {wanted}.")


async def begun(session: Write, row: BridgeRow, request_id: UUID) -> None:
    """Link a new bridge to its request, and record it."""
    row.request_id = request_id
    await publish(session, row.organization_id, "bridge.created", ("bridge", row.id), None, shown(Bridge, row))


async def insert(
    session: Write, asset: AssetRow, source_eid: int, destination_eid: int, amount: int, to_address: str | None
) -> BridgeRow:
    """Insert a bridge row. `created_at` is the list's cursor, so it is later than any other of the organization."""
    organization_id = asset.organization_id
    await locks.wait(session, Purpose.BRIDGES, organization_id)
    last: datetime | None = await session.scalar(
        sa.select(sa.func.max(col(BridgeRow.created_at))).where(col(BridgeRow.organization_id) == organization_id)
    )
    created_at = max(recorded_now(), last + timedelta(microseconds=1)) if last else recorded_now()
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
