"""Steps of an accepted return: drop the packet permanently, then mint its supply back once.

The tokens record both by packet ID, so neither can happen twice, and nothing is minted for a packet that was delivered.
The process may be killed at any point: it finds what is already on chain.
"""

import asyncio
from datetime import timedelta

from backend.assets import deployment, records
from backend.assets.schemas import DeploymentStatus
from backend.assets.transaction_step import write
from backend.bridges import late_deliveries, rules
from backend.bridges.models import BridgeRow
from backend.bridges.schemas import Bridge, BridgeStatus
from backend.chain.bindings import token
from backend.chain.errors import Reverted
from backend.chain.layerzero import relayer
from backend.chain.layerzero.relayer import DeliveryStatus, Packet
from backend.chain.rpc import deep_reads, node_urls
from backend.chain.rpc.json_rpc import connect
from backend.core.changes import publish_change, shown
from backend.core.db import Write, now
from backend.core.errors import Conflict, Denied, SignumError
from backend.core.recorded_time import recorded_now
from backend.core.settings import settings
from backend.core.units import grouped, shortened
from backend.requests.runs import Run, StepNotes
from backend.wallets.known_names import names_of

PAUSES = (0.1, 5.0)
"""Seconds between two checks, on embedded chains and on public ones."""
DELIVERED = "The packet was delivered in the meantime. Nothing was minted back."


async def give_back(run: Run) -> None:
    """Drop the packet, wait until that is final, and mint back what it burned."""
    bridge = await _begin(run)
    known = (bridge.guid or "", bridge.source_chain_eid, bridge.source_tx_hash or "")
    packet = await relayer.packet_of(*known)
    async with run.step("packet_dropped") as step:
        await _drop(run, step, bridge, packet)
    async with run.step("supply_returned") as step:
        sender, amount = await relayer.burnt(*known)
        await _mint_back(run, step, bridge, packet, sender, amount)
        await _note(run, bridge, step, sender, amount)


async def failed(run: Run, error: SignumError) -> None:
    """Release a bridge whose packet can still be delivered, for a retry. A bridge whose packet is dropped stays with
    the return, which a retry completes; so does one whose chain does not answer."""
    if isinstance(error, Denied):
        return
    async with run.transaction() as session:
        bridge = await session.get_one(BridgeRow, run.subject_id)
    try:
        packet = await relayer.packet_of(bridge.guid or "", bridge.source_chain_eid, bridge.source_tx_hash or "")
        is_dropped = await token.is_given_up(packet.destination_eid, packet.receiver, packet.guid)
    except SignumError:
        return
    if not is_dropped:
        async with run.transaction() as session:
            row = await session.get_one(BridgeRow, run.subject_id, with_for_update=True)
            row.return_request_id = None if row.return_request_id == run.request_id else row.return_request_id


async def _begin(run: Run) -> BridgeRow:
    """Assign the bridge to this return: its own request can no longer be retried."""
    async with run.transaction() as session:
        bridge = await session.get_one(BridgeRow, run.subject_id, with_for_update=True)
        if bridge.return_request_id != run.request_id or bridge.returned_at is None:
            rules.check_returnable(bridge.status, bridge.guid, bridge.returned_at)
            bridge.return_request_id = run.request_id
        return bridge


async def _drop(run: Run, step: StepNotes, bridge: BridgeRow, packet: Packet) -> None:
    eid, at = packet.destination_eid, packet.receiver
    if not await token.is_given_up(eid, at, packet.guid):
        await _check_undelivered(run, bridge)
        owner = await token.owner(eid, at)
        try:
            await write(run, step, token.drop_packet(at, packet), "drop", eid=eid, signer=owner, label="drop packet")
        except Reverted:
            await _check_undelivered(run, bridge)
            raise
    await step.say("Dropped. Waiting for finality.")
    await _settled(run, bridge, packet)
    step.detail = "The packet can never be delivered."


async def _settled(run: Run, bridge: BridgeRow, packet: Packet) -> None:
    """Wait until the drop, and the burn before it, have the confirmations that requests on their chains need."""
    give_up = now() + timedelta(seconds=settings().bridge_give_up_seconds)
    rpc = await connect(packet.source_eid)
    while not (await relayer.is_dropped(packet) and await deep_reads.is_included(rpc, bridge.source_tx_hash or "")):
        await _check_undelivered(run, bridge)
        if now() > give_up:
            raise Conflict("The drop of the packet is not final yet. Retry later.")
        await asyncio.sleep(PAUSES[0] if node_urls.is_embedded(packet.destination_eid) else PAUSES[1])


async def _check_undelivered(run: Run, bridge: BridgeRow) -> None:
    """Raise 409 if the packet was delivered after all; the bridge is then confirmed."""
    arrival = await late_deliveries.look(bridge)
    if arrival is None or arrival.delivery.status is not DeliveryStatus.DELIVERED:
        return
    async with run.transaction() as session:
        await late_deliveries.note(session, bridge.id, arrival)
    raise Conflict(DELIVERED)


async def _mint_back(run: Run, step: StepNotes, bridge: BridgeRow, packet: Packet, sender: str, amount: int) -> None:
    if not amount:
        step.detail = "The packet carried only rules; nothing was burned."
        return
    eid, at = packet.source_eid, packet.sender
    call = token.mint_back(at, packet.guid, sender, amount)
    owner = await token.owner(eid, at)
    try:
        await write(run, step, call, "mint-back", eid=eid, signer=owner, label="mint back")
    except Reverted as refusal:
        if refusal.name != "AlreadyReturned":  # by an earlier return
            raise
    if not await token.is_given_up(eid, at, packet.guid):
        raise Conflict("The token does not show that the supply was minted back.")
    async with run.transaction() as session:
        asset = await records.asset(session, run.organization_id, bridge.asset_id)
        known = await names_of(session, run.organization_id, [sender])
    minted = f"{grouped(amount, asset.decimals)} {asset.symbol}"
    step.detail = f"{minted} minted back to {shortened(sender)} ({known[sender]})."


async def _note(run: Run, bridge: BridgeRow, step: StepNotes, sender: str, amount: int) -> None:
    async with run.transaction() as session:
        rows = await records.deployments(session, bridge.asset_id)
    for row in rows:
        if row.chain_eid == bridge.source_chain_eid and row.status is DeploymentStatus.ACTIVE and amount:
            await deployment.activate(run, row.id, block_number=await (await connect(row.chain_eid)).height())
    async with run.transaction() as session:
        await _returned(session, bridge, step.tx_hash)
    facts = {
        "asset_id": str(bridge.asset_id),
        "amount": str(amount),
        "to_address": sender,
        "reason": run.arguments["reason"],
        "tx_hash": step.tx_hash,
    }
    run.publish("bridge.returned", ("bridge", bridge.id), facts)


async def _returned(session: Write, bridge: BridgeRow, tx_hash: str | None) -> None:
    row = await session.get_one(BridgeRow, bridge.id, with_for_update=True)
    before = shown(Bridge, row)
    assert row.status is BridgeStatus.FAILED
    row.returned_at, row.return_tx_hash = row.returned_at or recorded_now(), tx_hash or row.return_tx_hash
    await session.flush()
    subject = ("bridge", row.id)
    await publish_change(session, row.organization_id, "bridge.updated", subject, before, shown(Bridge, row))
