"""The steps of a bridge: the token that receives the packet, the packet itself, and its delivery.

`POST …/bridge` and a market on a chain without the asset use the same code. Each of the three steps can be repeated
from its start: it finds what is already on chain.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.assets import caps, deployment, records
from backend.assets.models import AssetRow, DeploymentRow
from backend.assets.rules import NOTHING, Held
from backend.assets.schemas import DeploymentStatus
from backend.assets.terms import terms_of, token_rules
from backend.assets.transaction_step import write
from backend.auth import operator_paid
from backend.bridges import paths, price
from backend.bridges.models import BridgeRow
from backend.bridges.own_delivery import Patience
from backend.bridges.schemas import Bridge, BridgeStatus
from backend.chain.abi.rule_sets import TokenRules
from backend.chain.bindings import token
from backend.chain.errors import InsufficientFunds, Reverted, Undone
from backend.chain.layerzero import relayer
from backend.chain.layerzero.relayer import Delivery, DeliveryStatus
from backend.chain.models import TransactionStatus
from backend.chain.rpc import node_urls
from backend.chain.rpc.json_rpc import connect
from backend.chain.rpc.receipts import outcome_of
from backend.chain.transactions.execution import find
from backend.core.changes import set_status
from backend.core.db import Write, now
from backend.core.errors import Conflict, Denied, NotFound, SignumError, TooManyRequests, Unavailable
from backend.core.recorded_time import recorded_now
from backend.core.settings import settings
from backend.core.units import shortened
from backend.requests.runs import Run, StepNotes
from backend.requests.workflows import Elsewhere

TRIES = 3
"""Deliveries that an embedded chain may refuse before the bridge fails."""
PAUSES = (0.15, 5.0)
"""Seconds between two checks, on embedded chains and on public ones."""
USED_UP = (
    "The transactions that the operator pays for today are used up. The packet is delivered when they are free again. "
    "Any account may deliver it earlier."
)
Deliver = Callable[[str, int, str], Awaitable[Delivery]]


class DeliveryRefused(Conflict):
    """Conflict"""

    def __init__(self, detail: str, refusal: Reverted | None = None) -> None:
        """`refusal` is the receiving token's, if it refused the packet."""
        super().__init__(detail)
        self.refusal = refusal

    def extensions(self) -> dict[str, Any]:
        """Return the token's own error, where it refused."""
        return self.refusal.extensions() if self.refusal else {}


@dataclass(frozen=True)
class Route:
    """A bridge with its source and destination."""

    bridge: BridgeRow
    asset: AssetRow
    source: DeploymentRow
    destination: DeploymentRow
    rules: TokenRules
    """Return the rules for the destination, with its share of the caps."""


async def carry(run: Run, bridge_id: UUID) -> DeploymentRow:
    """Complete a bridge: the token on the destination is active afterwards. Raises the cause of a failure, such as
    DeliveryRefused.

    On a public chain others deliver, which takes minutes or days: a separate job of the bridge waits, so that the asset
    can be used in the meantime.
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
        raise Conflict("This bridge's packet was abandoned: its supply is being returned, or was returned.")


async def failed(run: Run, bridge_id: UUID, error: SignumError) -> None:
    """Mark the bridge as failed; a confirmed one stays confirmed."""
    async with run.transaction() as session:
        bridge = await session.get_one(BridgeRow, bridge_id, with_for_update=True)
        if bridge.status is BridgeStatus.CONFIRMED and not isinstance(error, Undone):
            return
        await _set(session, bridge, status=BridgeStatus.FAILED, failure=error.detail)
    if not isinstance(
        error, Denied
    ):  # a bridge that never started has no deployment; a deployment in progress there belongs to another bridge
        await deployment.failed(run, bridge.asset_id, bridge.destination_chain_eid)


async def _prepare(run: Run, step: StepNotes, bridge_id: UUID) -> Route:
    async with run.transaction() as session:
        bridge = await session.get_one(BridgeRow, bridge_id, with_for_update=True)
        if bridge.status is BridgeStatus.FAILED:
            status = BridgeStatus.SUBMITTING if bridge.guid else BridgeStatus.PENDING
            await _set(session, bridge, status=status, failure=None)
        if bridge.guid is None:
            await paths.check(session, bridge.source_chain_eid, bridge.destination_chain_eid)
    await deployment.create_token(run, step, bridge.asset_id, bridge.destination_chain_eid)
    tx_hash = step.tx_hash
    route = await _route(run, bridge, await _share_caps(run, step, bridge.asset_id))
    await paths.together(
        _connect(run, step, route.source, route.destination), _connect(run, step, route.destination, route.source)
    )
    step.tx_hash, step.detail = (
        tx_hash,
        f"Token {route.asset.symbol} at {route.destination.token_address}. Both tokens are connected.",
    )
    return route


async def _route(run: Run, bridge: BridgeRow, held: Held) -> Route:
    async with run.transaction() as session:
        asset = await records.asset(session, run.organization_id, bridge.asset_id)
        rows = await records.deployments(session, bridge.asset_id)
    by_eid = {r.chain_eid: r for r in rows}
    rules = token_rules(terms_of(asset), records.sharing(rows), bridge.destination_chain_eid, held)
    return Route(bridge, asset, by_eid[bridge.source_chain_eid], by_eid[bridge.destination_chain_eid], rules)


async def _share_caps(run: Run, step: StepNotes, asset_id: UUID) -> Held:
    """Reduce the other chains' shares before this one gets its own, so that the sum never exceeds the cap."""
    async with run.transaction() as session:
        terms = terms_of(await records.asset(session, run.organization_id, asset_id))
    return await caps.share_out(run, step, asset_id, terms, "share") if caps.are_set(terms) else NOTHING


async def _connect(run: Run, step: StepNotes, row: DeploymentRow, other: DeploymentRow) -> None:
    """Configure a token's end of the path: verifiers and executor first, then the peer."""
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
    step.tx_hash, step.detail = bridge.source_tx_hash, f"Packet {shortened(bridge.guid or '')}"
    return bridge


async def _sent_again(run: Run, bridge: BridgeRow) -> BridgeRow:
    """Return the bridge with the packet of its transaction as mined now. After a reorg, the packets of a path can be
    sent in another order and have other IDs."""
    row = await find(run.key("packet", bridge.source_chain_eid))
    if row is None or row.status is not TransactionStatus.CONFIRMED or row.receipt is None:
        return bridge
    packet = relayer.packets(outcome_of(row.receipt))[0]
    if (packet.guid, row.tx_hash) == (bridge.guid, bridge.source_tx_hash):
        return bridge
    return await _identify(run, bridge.id, packet.guid, row.tx_hash)


async def _identify(run: Run, bridge_id: UUID, guid: str, tx_hash: str, **values: object) -> BridgeRow:
    """Record the packet of a bridge. Another bridge that still has this ID, from before a reorg, gets this bridge's
    former ID until it is checked itself."""
    involved = sa.or_(col(BridgeRow.id) == bridge_id, col(BridgeRow.guid) == guid)
    query = sa.select(BridgeRow).where(involved).order_by(col(BridgeRow.id)).with_for_update()
    async with run.transaction() as session:
        rows = {row.id: row for row in await session.scalars(query)}
        row = rows.pop(bridge_id)
        former = row.guid
        for other in rows.values():
            row.guid = None  # IDs are unique
            await session.flush()
            await _set(session, other, guid=former, arrived_at=None)
        await _set(session, row, guid=guid, source_tx_hash=tx_hash, arrived_at=None, **values)
        return row


def _is_local(bridge: BridgeRow) -> bool:
    return node_urls.is_embedded(bridge.destination_chain_eid)


async def _wait(run: Run, bridge_id: UUID) -> None:
    async with run.transaction() as session:
        bridge = await session.get_one(BridgeRow, bridge_id)
    async with run.step("bridge_confirmed") as step:
        delivery = await _delivered(run, step, bridge)
        await _note(run, bridge_id, arrived_at=recorded_now(), destination_tx_hash=delivery.tx_hash)
        raise Elsewhere(None)


async def _looked(step: StepNotes, bridge: BridgeRow) -> Delivery:
    """Return the delivery if it exists already; otherwise start the job that waits for it."""
    if bridge.arrived_at is not None:
        return Delivery(DeliveryStatus.DELIVERED, bridge.destination_tx_hash)
    delivery = await _try(bridge, relayer.deliver)
    if delivery is not None and delivery.status is DeliveryStatus.DELIVERED:
        return delivery
    await step.say("In transit.")
    raise Elsewhere(f"delivery:{bridge.id}")


async def _delivered(run: Run, step: StepNotes, bridge: BridgeRow) -> Delivery:
    """Wait for the delivery. On embedded chains, deliver the packet; on public ones, deliver it if no executor does. A
    chain that does not answer is queried again."""
    local = _is_local(bridge)
    give_up = now() + timedelta(seconds=settings().bridge_give_up_seconds)
    refusals, patience, refusal = 0, Patience(), None
    while True:
        bridge = await _sent_again(run, bridge)
        delivery = await _try(bridge, relayer.deliver)
        if delivery is not None and patience.ends(delivery):
            delivery = await _try(bridge, partial(relayer.receive, pay=partial(_pay, run)))
            if delivery is not None and delivery.status is DeliveryStatus.DELIVERED:
                # It counts once it has enough confirmations. The next check follows after a pause: a node may still
                # lack it.
                delivery = Delivery(DeliveryStatus.PENDING)
        if delivery is not None and delivery.status is DeliveryStatus.DELIVERED:
            return delivery
        if delivery is not None and delivery.status is DeliveryStatus.DROPPED:
            raise DeliveryRefused(delivery.reason or "")
        reason = delivery.reason if delivery is not None else None
        refusals += reason is not None
        refusal = delivery.refusal if delivery is not None else refusal
        checked = {"checked_at": recorded_now()} if delivery else {}
        await _note(run, bridge.id, failure=reason, attempts=refusals, **checked)
        if now() > give_up or (local and refusals >= TRIES):
            raise DeliveryRefused(reason or "The packet was not delivered in time. Retry the bridge.", refusal)
        await step.say(f"Refused and retried: {reason}" if reason else "In transit.")
        await asyncio.sleep(PAUSES[0] if local else PAUSES[1])


async def _try(bridge: BridgeRow, deliver: Deliver) -> Delivery | None:
    assert bridge.guid is not None
    assert bridge.source_tx_hash is not None
    try:
        return await deliver(bridge.guid, bridge.source_chain_eid, bridge.source_tx_hash)
    except (Unavailable, NotFound):  # a reorg may have sent the packet again, with another ID
        return None
    except InsufficientFunds as error:
        return Delivery(DeliveryStatus.PENDING, reason=error.detail)
    except TooManyRequests:
        return Delivery(DeliveryStatus.PENDING, reason=USED_UP)


async def _pay(run: Run) -> None:
    """Count a delivery among the transactions that the operator pays for. Raises TooManyRequests."""
    async with run.transaction() as session:
        await operator_paid.count_more(session, run.organization_id, 1)


async def _settle(run: Run, step: StepNotes, route: Route, delivery: Delivery) -> DeploymentRow:
    """Read back what arrived, and fix rules that changed while the packet was in transit."""
    bridge, destination = route.bridge, route.destination
    await deployment.set_rules(run, step, destination, route.rules, "settle")
    for row in (destination, route.source) if bridge.amount else (destination,):
        if row is destination or row.status is DeploymentStatus.ACTIVE:
            await deployment.activate(run, row.id, block_number=await (await connect(row.chain_eid)).height())
    done = {"status": BridgeStatus.CONFIRMED, "destination_tx_hash": delivery.tx_hash}
    await _note(run, bridge.id, **done, failure=None, checked_at=recorded_now())
    step.tx_hash, step.detail = delivery.tx_hash, "Delivered; the rules were read back."
    return destination


async def _note(run: Run, bridge_id: UUID, **values: object) -> BridgeRow:
    async with run.transaction() as session:
        row = await session.get_one(BridgeRow, bridge_id, with_for_update=True)
        await _set(session, row, **values)
        return row


async def _set(session: Write, row: BridgeRow, **values: object) -> None:
    await set_status(session, "bridge", Bridge, row, **values)
