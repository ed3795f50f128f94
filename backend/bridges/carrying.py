"""A packet from one chain to another: the token that takes it, the packet itself, and its delivery.

The same code serves `POST …/bridge` and a market on a chain where the asset is not yet. Each of the three steps may be
run again from its start: what is on chain already is found there.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.assets import caps, deploying, records
from backend.assets.models import AssetRow, DeploymentRow
from backend.assets.rules import NOTHING, Held
from backend.assets.schemas import DeploymentStatus
from backend.assets.terms import terms_of, token_rules
from backend.assets.writing import write
from backend.bridges import paths, price
from backend.bridges.models import BridgeRow
from backend.bridges.patience import Patience
from backend.bridges.schemas import Bridge, BridgeStatus
from backend.chain import endpoints, relayer, token
from backend.chain.errors import InsufficientFunds, Undone
from backend.chain.models import TransactionStatus
from backend.chain.receipts import outcome_of
from backend.chain.relayer import Delivery, DeliveryStatus
from backend.chain.rpc import connect
from backend.chain.rule_sets import TokenRules
from backend.chain.transactions import find
from backend.changes import shown, tell_state
from backend.db import Write, now
from backend.errors import Conflict, Denied, NotFound, SignumError, Unavailable
from backend.settings import settings
from backend.workflows import Elsewhere, Run, StepNotes

TRIES = 3
"""Deliveries that may be refused on an embedded chain before the bridge has failed."""
PAUSES = (0.15, 5.0)
"""Seconds between two looks, on embedded chains and on public ones."""
Deliver = Callable[[str, int, str], Awaitable[Delivery]]


class DeliveryRefused(Conflict):
    """Conflict"""


@dataclass(frozen=True)
class Route:
    """A bridge with all it stands between."""

    bridge: BridgeRow
    asset: AssetRow
    source: DeploymentRow
    destination: DeploymentRow
    rules: TokenRules
    """For the destination, with its share of the caps."""


async def carry(run: Run, bridge_id: UUID) -> DeploymentRow:
    """Bring a bridge to its end: the token on the destination. Raises what stopped it, such as DeliveryRefused.

    On a public chain others deliver, which takes minutes or days: the wait is done in an order of the bridge's own, so
    that the asset can be worked with meanwhile.
    """
    await _check_not_returned(run, bridge_id)
    if run.is_away:
        await _wait(run, bridge_id)
    async with run.step("bridge_pending") as step:
        route = await _prepare(run, step, bridge_id)
    async with run.step("bridge_submitting") as step:
        bridge = await _submit(run, step, route)
    async with run.step("bridge_confirmed") as step:
        delivery = await (_delivered(run, step, bridge) if _is_local(bridge) else _looked(step, bridge))
        return await _settle(run, step, route, delivery)


async def _check_not_returned(run: Run, bridge_id: UUID) -> None:
    async with run.transaction() as session:
        bridge = await session.get_one(BridgeRow, bridge_id)
    if bridge.return_request_id is not None:
        raise Conflict("The packet of this bridge is given up: its supply is being returned, or was.")


async def failed(run: Run, bridge_id: UUID, error: SignumError) -> None:
    """The bridge did not come to its end; one that was confirmed stays so."""
    async with run.transaction() as session:
        bridge = await session.get_one(BridgeRow, bridge_id, with_for_update=True)
        if bridge.status is BridgeStatus.CONFIRMED and not isinstance(error, Undone):
            return
        await _set(session, bridge, status=BridgeStatus.FAILED, failure=error.detail)
    if not isinstance(error, Denied):  # what never began has no deployment; one that is under way there is another's
        await deploying.failed(run, bridge.asset_id, bridge.destination_chain_eid)


async def _prepare(run: Run, step: StepNotes, bridge_id: UUID) -> Route:
    async with run.transaction() as session:
        bridge = await session.get_one(BridgeRow, bridge_id, with_for_update=True)
        if bridge.status is BridgeStatus.FAILED:
            status = BridgeStatus.SUBMITTING if bridge.guid else BridgeStatus.PENDING
            await _set(session, bridge, status=status, failure=None)
        if bridge.guid is None:
            await paths.check(session, bridge.source_chain_eid, bridge.destination_chain_eid)
    await deploying.create_token(run, step, bridge.asset_id, bridge.destination_chain_eid)
    tx_hash = step.tx_hash
    route = await _route(run, bridge, await _share_caps(run, step, bridge.asset_id))
    await paths.together(
        _connect(run, step, route.source, route.destination), _connect(run, step, route.destination, route.source)
    )
    step.tx_hash, step.detail = tx_hash, f"Token {route.destination.token_address}, peers set both ways."
    return route


async def _route(run: Run, bridge: BridgeRow, held: Held) -> Route:
    async with run.transaction() as session:
        asset = await records.asset(session, run.organization_id, bridge.asset_id)
        rows = await records.deployments(session, bridge.asset_id)
    by_eid = {r.chain_eid: r for r in rows}
    rules = token_rules(terms_of(asset), records.sharing(rows), bridge.destination_chain_eid, held)
    return Route(bridge, asset, by_eid[bridge.source_chain_eid], by_eid[bridge.destination_chain_eid], rules)


async def _share_caps(run: Run, step: StepNotes, asset_id: UUID) -> Held:
    """Give the other chains their new share before this one gets its own, so that the sum never exceeds the cap."""
    async with run.transaction() as session:
        terms = terms_of(await records.asset(session, run.organization_id, asset_id))
    return await caps.share_out(run, step, asset_id, terms, "share") if caps.are_set(terms) else NOTHING


async def _connect(run: Run, step: StepNotes, row: DeploymentRow, other: DeploymentRow) -> None:
    """A token's end of the path: who verifies and delivers first, then the peer."""
    await paths.configure(run, step, row, other)
    await _peer(run, step, row, other)


async def _peer(run: Run, step: StepNotes, row: DeploymentRow, other: DeploymentRow) -> None:
    assert row.token_address is not None
    assert other.token_address is not None
    eid, at = row.chain_eid, row.token_address
    if await token.peer(eid, at, other.chain_eid) == other.token_address:
        return
    call = token.set_peer(at, other.chain_eid, other.token_address)
    await write(run, step, call, "peer", eid=eid, signer=await token.owner(eid, at), label="set peer")


async def _submit(run: Run, step: StepNotes, route: Route) -> BridgeRow:
    bridge, source = route.bridge, route.source
    if bridge.guid is None:
        await _note(run, bridge.id, status=BridgeStatus.SUBMITTING)
        assert source.token_address is not None
        eid, at = source.chain_eid, source.token_address
        owner = await token.owner(eid, at)
        amount, to = bridge.amount or 0, (bridge.to_address or owner) if bridge.amount else None
        fee = await token.quote_send(
            eid, at, destination_eid=bridge.destination_chain_eid, to=to, amount=amount, rules=route.rules
        )
        call = token.send_with_rules(
            at,
            destination_eid=bridge.destination_chain_eid,
            rules=route.rules,
            fee=price.paid(fee),
            refund=owner,
            to=to,
            amount=amount,
        )
        outcome = await write(run, step, call, "packet", eid=eid, signer=owner, label=f"bridge {route.asset.symbol}")
        packet = relayer.packets(outcome)[0]
        bridge = await _identify(run, bridge.id, packet.guid, outcome.tx_hash, failure=None)
    else:
        bridge = await _sent_again(run, bridge)
    step.tx_hash, step.detail = bridge.source_tx_hash, f"Packet {bridge.guid}"
    return bridge


async def _sent_again(run: Run, bridge: BridgeRow) -> BridgeRow:
    """The bridge with the packet of its transaction as it is mined now. After a reorganization the packets of a path
    can be sent in another order, and then they have other ids."""
    row = await find(run.key("packet", bridge.source_chain_eid))
    if row is None or row.status is not TransactionStatus.CONFIRMED or row.receipt is None:
        return bridge
    packet = relayer.packets(outcome_of(row.receipt))[0]
    if (packet.guid, row.tx_hash) == (bridge.guid, bridge.source_tx_hash):
        return bridge
    return await _identify(run, bridge.id, packet.guid, row.tx_hash)


async def _identify(run: Run, bridge_id: UUID, guid: str, tx_hash: str, **values: object) -> BridgeRow:
    """Write which packet a bridge is. Another bridge that has its id still, from before a reorganization, gets the one
    that this bridge had, until it looks itself."""
    involved = sa.or_(col(BridgeRow.id) == bridge_id, col(BridgeRow.guid) == guid)
    query = sa.select(BridgeRow).where(involved).order_by(col(BridgeRow.id)).with_for_update()
    async with run.transaction() as session:
        rows = {row.id: row for row in await session.scalars(query)}
        row = rows.pop(bridge_id)
        former = row.guid
        for other in rows.values():
            row.guid = None  # ids are unique
            await session.flush()
            await _set(session, other, guid=former, arrived_at=None)
        await _set(session, row, guid=guid, source_tx_hash=tx_hash, arrived_at=None, **values)
        return row


def _is_local(bridge: BridgeRow) -> bool:
    return endpoints.is_embedded(bridge.destination_chain_eid)


async def _wait(run: Run, bridge_id: UUID) -> None:
    async with run.transaction() as session:
        bridge = await session.get_one(BridgeRow, bridge_id)
    async with run.step("bridge_confirmed") as step:
        delivery = await _delivered(run, step, bridge)
        await _note(run, bridge_id, arrived_at=now(), destination_tx_hash=delivery.tx_hash)
        raise Elsewhere(None)


async def _looked(step: StepNotes, bridge: BridgeRow) -> Delivery:
    """The delivery where it is there already; else the wait for it is begun elsewhere."""
    if bridge.arrived_at is not None:
        return Delivery(DeliveryStatus.DELIVERED, bridge.destination_tx_hash)
    delivery = await _try(bridge, relayer.deliver)
    if delivery is not None and delivery.status is DeliveryStatus.DELIVERED:
        return delivery
    await step.say("On its way.")
    raise Elsewhere(f"delivery:{bridge.id}")


async def _delivered(run: Run, step: StepNotes, bridge: BridgeRow) -> Delivery:
    """Wait for the delivery; on embedded chains, do it, and on public ones where nobody does. A chain that does not
    answer is asked again."""
    local = _is_local(bridge)
    give_up = now() + timedelta(seconds=settings().bridge_give_up_seconds)
    refusals, patience = 0, Patience()
    while True:
        bridge = await _sent_again(run, bridge)
        delivery = await _try(bridge, relayer.deliver)
        if delivery is not None and patience.ends(delivery):
            delivery = await _try(bridge, relayer.receive)
            if delivery is not None and delivery.status is DeliveryStatus.DELIVERED:
                # It counts once it is deep enough. A later look tells, after a pause: a node may still lack it.
                delivery = Delivery(DeliveryStatus.PENDING)
        if delivery is not None and delivery.status is DeliveryStatus.DELIVERED:
            return delivery
        if delivery is not None and delivery.status is DeliveryStatus.DROPPED:
            raise DeliveryRefused(delivery.reason or "")
        reason = delivery.reason if delivery is not None else None
        refusals += reason is not None
        await _note(run, bridge.id, failure=reason, attempts=refusals, **({"checked_at": now()} if delivery else {}))
        if now() > give_up or (local and refusals >= TRIES):
            raise DeliveryRefused(reason or "The packet was not delivered in time.")
        await step.say(f"Refused, and tried again: {reason}" if reason else "On its way.")
        await asyncio.sleep(PAUSES[0] if local else PAUSES[1])


async def _try(bridge: BridgeRow, deliver: Deliver) -> Delivery | None:
    assert bridge.guid is not None
    assert bridge.source_tx_hash is not None
    try:
        return await deliver(bridge.guid, bridge.source_chain_eid, bridge.source_tx_hash)
    except (Unavailable, NotFound):  # a reorganization may have sent the packet again, with another id
        return None
    except InsufficientFunds as error:
        return Delivery(DeliveryStatus.PENDING, reason=error.detail)


async def _settle(run: Run, step: StepNotes, route: Route, delivery: Delivery) -> DeploymentRow:
    """Read back what arrived. Rules that changed while the packet was on its way are put right here."""
    bridge, destination = route.bridge, route.destination
    await deploying.set_rules(run, step, destination, route.rules, "settle")
    for row in (destination, route.source) if bridge.amount else (destination,):
        if row is destination or row.status is DeploymentStatus.ACTIVE:
            await deploying.activate(run, row.id, block_number=await (await connect(row.chain_eid)).height())
    done = {"status": BridgeStatus.CONFIRMED, "destination_tx_hash": delivery.tx_hash}
    await _note(run, bridge.id, **done, failure=None, checked_at=now())
    step.tx_hash, step.detail = delivery.tx_hash, "Delivered; the rules were read back."
    return destination


async def _note(run: Run, bridge_id: UUID, **values: object) -> BridgeRow:
    async with run.transaction() as session:
        row = await session.get_one(BridgeRow, bridge_id, with_for_update=True)
        await _set(session, row, **values)
        return row


async def _set(session: Write, row: BridgeRow, **values: object) -> None:
    before = shown(Bridge, row)
    for name, value in values.items():
        setattr(row, name, value)
    await session.flush()
    await tell_state(session, "bridge", Bridge, row, before)
