"""The delivery transaction of a message: on public chains others deliver, and the chain's events name their
transaction."""

import asyncio
from collections.abc import Sequence
from typing import Any

from backend.chain.abi.codec import topic
from backend.chain.abi.outcome import Outcome
from backend.chain.bindings.layerzero import Packet
from backend.chain.errors import ChainUnavailable, RpcError
from backend.chain.indexer.log_limits import is_beyond
from backend.chain.rpc import deep_reads
from backend.chain.rpc.json_rpc import Request, Rpc
from backend.chain.rpc.receipts import LOOKS, log_of, outcome_of
from backend.chain.rpc.terms import terms_of

SPANS = 25
"""How far back a delivery is searched: shortly after it happened, or after a downtime of ours."""


async def find(rpc: Rpc, at: str, packet: Packet) -> tuple[str, int] | None:
    """Return the hash and block of the transaction in which the endpoint at `at` delivered a packet; None if it is too
    long ago. The endpoint's events cannot be filtered by receiver, but each delivery also makes the token emit an
    event."""
    last, span = await deep_reads.block(rpc), terms_of(rpc.eid).log_range
    for _ in range(SPANS):
        first = max(0, last - span + 1)
        for tx_hash in reversed(await _touched(rpc, packet.receiver, first, last)):
            receipt = await rpc.request("eth_getTransactionReceipt", tx_hash)
            if receipt is not None and _delivers(outcome_of(receipt), at, packet):
                return tx_hash, int(receipt["blockNumber"], 16)
        if first == 0:
            break
        last = first - 1
    return None


async def _touched(rpc: Rpc, token: str, first: int, last: int) -> Sequence[str]:
    """Return transactions in which a token received a packet, or may have, in the order of the chain."""
    topics = [[topic(event) for event in ("OFTReceived", "RulesSet", "RulesIgnored")]]
    query: dict[str, Any] = {"fromBlock": hex(first), "toBlock": hex(last), "address": token, "topics": topics}
    logs = [log_of(entry) for entry in await _logs(rpc, query)]
    return list(dict.fromkeys(log.tx_hash for log in logs))


async def _logs(rpc: Rpc, query: dict[str, Any]) -> list[Any]:
    """Return the logs of a range, from a machine that has its last block. Raises ChainUnavailable if none has it."""
    requests: list[Request] = [("eth_getBlockByNumber", [query["toBlock"], False]), ("eth_getLogs", [query])]
    for _ in range(LOOKS):
        try:
            block, logs = await rpc.together(requests) or await rpc.batch(requests)
        except RpcError as error:
            if not is_beyond(error):
                raise
            block, logs = None, []
        if block is not None:
            return list(logs)
        await asyncio.sleep(min(terms_of(rpc.eid).block_time, 1.0))
    raise ChainUnavailable(f"The node of the chain {rpc.eid} does not have the block {int(query['toBlock'], 16)} yet.")


def _delivers(outcome: Outcome, at: str, packet: Packet) -> bool:
    origin = {"srcEid": packet.source_eid, "sender": "0x" + packet.origin["sender"].hex(), "nonce": packet.nonce}
    return any(
        event["_address"] == at and event["origin"] == origin and event["receiver"] == packet.receiver
        for event in outcome.events("PacketDelivered")
    )
