"""Relayer of messages between embedded chains: the operator verifies what one endpoint sent, and delivers it on the
other.

Public chains have their own relayers; there the same functions only check whether a message has arrived.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum

from backend.chain import devnet_faults
from backend.chain.abi.calls import Intent
from backend.chain.abi.outcome import Outcome
from backend.chain.bindings import layerzero, token
from backend.chain.bindings.layerzero import Packet
from backend.chain.deployment.contracts import contract_address, operator
from backend.chain.errors import ChainUnavailable, Reverted
from backend.chain.layerzero import deliveries
from backend.chain.models import TransactionStatus
from backend.chain.rpc import deep_reads, node_urls
from backend.chain.rpc.json_rpc import Rpc, connect
from backend.chain.rpc.receipts import final_receipt, outcome_of
from backend.chain.transactions.execution import execute, find, rehearse
from backend.core.errors import BadRequest, NotFound

__all__ = ["Delivery", "DeliveryStatus", "Packet", "deliver", "delivery_status", "packets"]


Pay = Callable[[], Awaitable[None]]
DROPPED = "The packet was dropped and can never be delivered."


class DeliveryStatus(StrEnum):
    """`ready`: verified on the destination and would be accepted; anyone may deliver it there. `refused`: the receiving
    token reverts; the message stays verified and may be delivered later. `dropped`: its owner removed it from its path,
    and it can never be delivered."""

    PENDING = "pending"
    READY = "ready"
    DELIVERED = "delivered"
    REFUSED = "refused"
    DROPPED = "dropped"


@dataclass(frozen=True, slots=True)
class Delivery:
    """The delivery of a message on its destination. `tx_hash` is null if it is no longer known."""

    status: DeliveryStatus
    tx_hash: str | None = None
    block_number: int | None = None
    reason: str | None = None
    code: int | None = None
    refusal: Reverted | None = None
    """The receiving token's own refusal, with the chain that it is on."""


def packets(outcome: Outcome) -> list[Packet]:
    """Return the messages that a transaction sent."""
    return [layerzero.packet(event["encodedPayload"]) for event in outcome.events("PacketSent")]


async def burnt(guid: str, source_eid: int, source_tx_hash: str) -> tuple[str, int]:
    """Return who sent a message, and how much of the token was burned for it in base units of the source; 0 for rules
    alone."""
    for event in (await _sent(source_eid, source_tx_hash)).events("OFTSent"):
        if event["guid"] == guid.lower():
            return event["fromAddress"], event["amountSentLD"]
    raise NotFound(f"The transaction {source_tx_hash} did not send the message {guid}.")


async def packet_of(guid: str, source_eid: int, source_tx_hash: str) -> Packet:
    """Return a message, read back from the chain it was sent on. Raises NotFound if the transaction did not send it,
    and ChainUnavailable if no node knows the transaction: the node may be behind, or a reorg removed the transaction.
    """
    for packet in packets(await _sent(source_eid, source_tx_hash)):
        if packet.guid == guid.lower():
            return packet
    raise NotFound(f"The transaction {source_tx_hash} did not send the message {guid}.")


async def _sent(source_eid: int, tx_hash: str) -> Outcome:
    receipt = await final_receipt(source_eid, tx_hash)
    if receipt is None:
        receipt = await (await connect(source_eid)).request("eth_getTransactionReceipt", tx_hash)
    if receipt is None and node_urls.is_embedded(source_eid):
        raise NotFound(f"There is no transaction {tx_hash} on the chain {source_eid}.")
    if receipt is None:
        raise ChainUnavailable(f"The node of the chain {source_eid} does not have the transaction {tx_hash} now.")
    return outcome_of(receipt)


async def deliver(guid: str, source_eid: int, source_tx_hash: str) -> Delivery:
    """Deliver a message on its destination; a repeated call finds it delivered, or retries a refused one.

    On a public chain it only checks. Raises NotFound, ChainUnavailable.
    """
    packet = await packet_of(guid, source_eid, source_tx_hash)
    rpc, at = await _destination(packet)
    if not node_urls.is_embedded(packet.destination_eid):
        return await _look(rpc, at, packet)
    if await layerzero.is_off_path(rpc, at, packet):
        return await _off_path(rpc, at, packet)
    if devnet_faults.refuses_packets(packet.destination_eid):
        return Delivery(
            DeliveryStatus.REFUSED, reason=("The devnet refuses packets on this chain, because a fault is set.")
        )
    agent = await operator()
    try:
        if not await layerzero.is_verified(rpc, at, packet):
            await execute(_intent(packet, "verify", agent, at))
        outcome = await execute(_intent(packet, "receive", agent, at))
    except Reverted as refusal:
        if await layerzero.is_off_path(rpc, at, packet):
            return await _off_path(rpc, at, packet)
        return _refused(packet, refusal)
    return Delivery(DeliveryStatus.DELIVERED, outcome.tx_hash, outcome.block_number)


async def delivery_status(guid: str, source_eid: int, source_tx_hash: str) -> Delivery:
    """Return a message's delivery status without sending anything. A simulated delivery detects a refusal."""
    packet = await packet_of(guid, source_eid, source_tx_hash)
    rpc, at = await _destination(packet)
    return await _look(rpc, at, packet)


async def _look(rpc: Rpc, at: str, packet: Packet) -> Delivery:
    if await layerzero.is_off_path(rpc, at, packet):
        return await _off_path(rpc, at, packet)
    if not await layerzero.is_verified(rpc, at, packet):
        return Delivery(DeliveryStatus.PENDING)
    try:
        await rpc.simulate(layerzero.receive(at, packet), await operator())
    except Reverted as refusal:
        if refusal.name == "LZ_InvalidNonce":  # an earlier one is not verified yet, which says nothing about this one
            return Delivery(DeliveryStatus.PENDING)
        return _refused(packet, refusal)
    return Delivery(DeliveryStatus.READY)


def _refused(packet: Packet, refusal: Reverted) -> Delivery:
    refusal.eid = packet.destination_eid
    return Delivery(DeliveryStatus.REFUSED, reason=refusal.reason, code=refusal.code, refusal=refusal)


async def receive(guid: str, source_eid: int, source_tx_hash: str, *, pay: Pay | None = None) -> Delivery:
    """Deliver a message on a public chain that its executors did not deliver: after verification anyone may, and the
    operator does. Nothing is sent for a message that is not ready. `pay` counts a new transaction before it is signed.
    Raises NotFound, ChainUnavailable, InsufficientFunds, and what `pay` raises."""
    packet = await packet_of(guid, source_eid, source_tx_hash)
    rpc, at = await _destination(packet)
    seen = await _look(rpc, at, packet)
    if seen.status is not DeliveryStatus.READY:
        return seen
    intent = _intent(packet, "receive", await operator(), at)
    try:
        if pay is not None and await _is_new(intent):
            await rehearse(intent)
            await pay()
        outcome = await execute(intent)
    except Reverted:
        return await _look(rpc, at, packet)  # another account was faster, or it is refused now
    return Delivery(DeliveryStatus.DELIVERED, outcome.tx_hash, outcome.block_number)


async def _is_new(intent: Intent) -> bool:
    row = await find(intent.key)
    return row is None or row.status is TransactionStatus.FAILED


async def is_dropped(packet: Packet) -> bool:
    """Return whether a message was dropped, with the confirmations that a request on its destination needs."""

    async def look(block: int | None) -> bool:
        return await token.is_given_up(packet.destination_eid, packet.receiver, packet.guid, block)

    return await deep_reads.holds(await connect(packet.destination_eid), f"dropped {packet.guid}", look)


async def _off_path(rpc: Rpc, at: str, packet: Packet) -> Delivery:
    if await token.is_given_up(packet.destination_eid, packet.receiver, packet.guid):
        return Delivery(DeliveryStatus.DROPPED, reason=DROPPED)
    return await _delivered(rpc, at, packet)


async def _delivered(rpc: Rpc, at: str, packet: Packet) -> Delivery:
    """Return the delivery by our own transaction, or by the one that the chain's events name."""
    row = await find(_key(packet, "receive"))
    if row is not None and row.status is TransactionStatus.CONFIRMED:
        return Delivery(DeliveryStatus.DELIVERED, row.tx_hash, row.block_number)
    found = await deliveries.find(rpc, at, packet)
    return Delivery(DeliveryStatus.DELIVERED, *(found or ()))


async def _destination(packet: Packet) -> tuple[Rpc, str]:
    at = await contract_address(packet.destination_eid, "endpoint")
    if at is None:
        raise BadRequest(f"No messaging endpoint is known on the chain with the endpoint ID {packet.destination_eid}.")
    return await connect(packet.destination_eid), at


def _key(packet: Packet, step: str) -> str:
    return f"relay:{packet.guid}:{step}"


def _intent(packet: Packet, step: str, agent: str, at: str) -> Intent:
    call = layerzero.verify(at, packet) if step == "verify" else layerzero.receive(at, packet)
    return call.intent(_key(packet, step), eid=packet.destination_eid, signer=agent, label=f"relay: {step}")
