"""Who delivered a message: on public chains others do, and the chain's events name their transaction."""

import asyncio
from collections.abc import Sequence
from typing import Any

from backend.chain import settled
from backend.chain.codec import topic
from backend.chain.endpoint import Packet
from backend.chain.errors import ChainUnavailable, RpcError
from backend.chain.log_limits import is_beyond
from backend.chain.outcome import Outcome
from backend.chain.receipts import LOOKS, log_of, outcome_of
from backend.chain.rpc import Request, Rpc
from backend.chain.terms import terms_of

SPANS = 25
"""How far back a delivery is looked for. It is asked for when it has just happened, or after a time without us."""


async def find(rpc: Rpc, at: str, packet: Packet) -> tuple[str, int] | None:
    """The hash and block of the transaction in which the endpoint at `at` delivered a packet; None where it is too long
    ago. The endpoint's events cannot be filtered by receiver, but each delivery makes the token tell something too."""
    last, span = await settled.block(rpc), terms_of(rpc.eid).log_range
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
    """Transactions in which a token took a packet, or might have, in the order of the chain."""
    topics = [[topic(event) for event in ("OFTReceived", "RulesSet", "RulesIgnored")]]
    query: dict[str, Any] = {"fromBlock": hex(first), "toBlock": hex(last), "address": token, "topics": topics}
    logs = [log_of(entry) for entry in await _logs(rpc, query)]
    return list(dict.fromkeys(log.tx_hash for log in logs))


async def _logs(rpc: Rpc, query: dict[str, Any]) -> list[Any]:
    """The logs of a range, from a machine that has the last block of it. Raises ChainUnavailable where none has."""
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
