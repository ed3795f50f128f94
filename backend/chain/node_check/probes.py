"""The probes: each tests one feature of an RPC URL. Together they make about 60 calls."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, TypeVar

from backend.chain.node_check.connection import NodeConnection, Refused, Unanswered, host_of
from backend.chain.node_check.facts import NodeFacts, Pool, Sample, Tag, blocks_apart
from backend.chain.rpc.json_rpc import Request
from backend.chain.rpc.terms import ChainTerms

SAMPLES, WAVE = 20, 5
"""Requests that search for several machines behind a URL, and how many of them are sent at a time."""
DEPTHS = (4, 16, 60, 120, 1_000, 10_000)
"""Blocks below the newest whose state is probed, before that of the oldest blocks."""
RANGES = (1, 5, 10, 50, 100, 500, 1_000, 2_000, 10_000)
"""Blocks of one `eth_getLogs`."""
BATCHES = (2, 5, 10, 20, 50, 100)
AGAIN = 3
"""Attempts at a block that one machine of a pool may not have yet."""
BUDGET = 60.0
"""Maximum seconds for all probes of a URL; those left then have no result."""
NOBODY = "0x000000000000000000000000000000000000dEaD"
"""An address that emits none of our events, so that only the range of a log query matters."""
_AHEAD = 1_000_000
_OF_A_RECEIPT = ("transactionHash", "blockHash", "blockNumber", "status", "gasUsed", "logs")
T = TypeVar("T")


async def probe(url: str, terms: ChainTerms, budget: float = BUDGET) -> NodeFacts:
    """Return what a URL supports. `terms` are those of its chain: the probes test nothing beyond them."""
    connection = NodeConnection(url, time.monotonic() + budget)
    facts = NodeFacts(host_of(url))
    try:
        async with asyncio.timeout(budget):
            await _fill(connection, facts, terms)
    except TimeoutError:
        facts.notes.append(f"The probes did not finish within {budget:.0f} seconds.")
    except Unanswered as error:
        facts.failure = f"The node does not answer: {error}."
    except Refused as error:
        facts.failure = f"The node refuses calls (code {error.code}). Check the key and the plan of its URL."
    finally:
        facts.calls, facts.limited = connection.calls, connection.limited
        await connection.close()
    return facts


async def _fill(connection: NodeConnection, facts: NodeFacts, terms: ChainTerms) -> None:
    facts.chain_id = int(await connection.call("eth_chainId"), 16)
    samples = await _samples(connection)
    facts.pool = Pool(len(samples), blocks_apart(samples, terms.block_time))
    # The lowest height seen; every machine behind the URL has this block.
    base, top = (choose(sample.height for sample in samples) for choose in (min, max))
    await _newest(connection, facts)
    await _batches(connection, facts, terms)
    await _history(connection, facts, base)
    await _logs(connection, facts, base, terms)
    facts.safe = await _known(_tag(connection, "safe", top))
    facts.final = await _known(_tag(connection, "finalized", top))
    await _transactions(connection, facts)


async def _known(question: Awaitable[T]) -> T | None:
    """Return a probe's result, None if the node gave none."""
    try:
        return await question
    except Unanswered:
        return None


async def _samples(connection: NodeConnection) -> list[Sample]:
    samples: list[Sample] = []
    for _ in range(SAMPLES // WAVE):
        samples += await asyncio.gather(*(_sample(connection) for _ in range(WAVE)))
    return samples


async def _sample(connection: NodeConnection) -> Sample:
    asked = time.monotonic()
    height = int(await connection.call("eth_blockNumber"), 16)
    return Sample(asked, time.monotonic(), height)


async def _newest(connection: NodeConnection, facts: NodeFacts) -> None:
    block = await _known(connection.call("eth_getBlockByNumber", "latest", False))
    if block is not None:
        facts.age = time.time() - int(block["timestamp"], 16)
        facts.gas_limit = int(block.get("gasLimit", "0x0"), 16)


async def _batches(connection: NodeConnection, facts: NodeFacts, terms: ChainTerms) -> None:
    sizes = sorted({terms.batch, *(size for size in BATCHES if size < terms.batch)}, reverse=True)
    facts.batch_asked = max(2, sizes[0])
    for size in [size for size in sizes if size > 1] or [2]:
        supported = await _known(_answers(partial(connection.batch, [("eth_chainId", [])] * size)))
        if supported is None:
            return
        if supported:
            facts.batch = size
            return
    facts.batch = 1


async def _answers(call: Callable[[], Awaitable[Any]]) -> bool:
    """Return whether a call returns a result. A rate limit raises Unanswered."""
    try:
        await call()
    except Refused:
        return False
    return True


async def _history(connection: NodeConnection, facts: NodeFacts, base: int) -> None:
    facts.ignores_block = await _known(_answers(lambda: _state(connection, base + _AHEAD)))
    if facts.ignores_block:
        facts.history = 0
        return
    depths = [*(depth for depth in DEPTHS if depth < base), base]
    readable = 0
    for depth in depths:
        supported = await _known(_has_state(connection, base - depth))
        if supported is None:
            facts.history = readable or None
            return
        if not supported:
            break
        readable = depth
    facts.history, facts.is_archive = readable, readable == base


async def _has_state(connection: NodeConnection, block: int) -> bool:
    """Return whether state can be read at a block; with retries, because one machine of a pool may not have it yet."""
    for _ in range(AGAIN):
        if await _answers(lambda: _state(connection, block)):
            return True
    return False


async def _state(connection: NodeConnection, block: int) -> None:
    await connection.call("eth_call", {"to": NOBODY, "data": "0x"}, hex(block))
    await connection.call("eth_getBalance", NOBODY, hex(block))


async def _logs(connection: NodeConnection, facts: NodeFacts, base: int, terms: ChainTerms) -> None:
    await _log_range(connection, facts, base)
    block = await _known(connection.call("eth_getBlockByNumber", hex(base), False))
    if block is None:
        return
    at = {"blockHash": block["hash"], "address": [NOBODY]}
    facts.logs_by_hash = await _known(_persistent(lambda: connection.call("eth_getLogs", at)))
    if facts.batch is not None and facts.batch > 1:
        pair: list[Request] = [("eth_getBlockByNumber", [hex(base), False]), ("eth_getLogs", [_range(base, 1)])]
        facts.logs_with_block = await _known(_persistent(lambda: _together(connection, pair)))


async def _log_range(connection: NodeConnection, facts: NodeFacts, base: int) -> None:
    """Find the largest range that works, among those of RANGES that the chain is long enough for."""
    ranges = [size for size in RANGES if size <= base + 1]
    facts.log_range_asked = ranges[-1]
    works, fails = 0, len(ranges) + 1
    probed = len(ranges)
    while works + 1 < fails:
        query = _range(base, ranges[probed - 1])
        supported = await _known(_persistent(partial(connection.call, "eth_getLogs", query)))
        if supported is None:
            return
        works, fails = (probed, fails) if supported else (works, probed)
        probed = (works + fails) // 2
    facts.log_range = ranges[works - 1] if works else 0


async def _persistent(call: Callable[[], Awaitable[Any]]) -> bool:
    """As `_answers`, but only a repeated refusal counts."""
    return await _answers(call) or await _answers(call)


def _range(last: int, blocks: int) -> dict[str, Any]:
    return {"fromBlock": hex(last - blocks + 1), "toBlock": hex(last), "address": [NOBODY]}


async def _together(connection: NodeConnection, pair: Sequence[Request]) -> None:
    for entry in await connection.batch(pair):
        if entry.get("error") or entry.get("result") is None:
            raise Refused(0, "one of the two was not answered")


async def _tag(connection: NodeConnection, name: str, top: int) -> Tag:
    """Probe a block tag. `top` is the highest height seen; another machine may answer for the tag than for the newest
    block."""
    try:
        block = await connection.call("eth_getBlockByNumber", name, False)
        newest = max(top, int(await connection.call("eth_blockNumber"), 16))
    except Refused:
        return Tag(False)
    return Tag(False) if block is None else Tag(True, max(0, newest - int(block["number"], 16)))


async def _transactions(connection: NodeConnection, facts: NodeFacts) -> None:
    """Probe what pricing, sending and confirming a transaction need."""

    async def has(method: str, *parameters: Any) -> bool | None:
        return await _known(_answers(lambda: connection.call(method, *parameters)))

    facts.gas_price = await has("eth_gasPrice")
    facts.priority_fee = await has("eth_maxPriorityFeePerGas")
    facts.fee_history = await has("eth_feeHistory", "0x5", "latest", [50])
    facts.estimates = await has("eth_estimateGas", {"from": NOBODY, "to": NOBODY, "value": "0x0"})
    facts.receipts = await _known(_receipts(connection))
    facts.sends = await _known(_sends(connection))


async def _receipts(connection: NodeConnection) -> bool:
    """Return whether the receipt of a transaction in the newest block, if any, has all the fields that we read."""
    block = await connection.call("eth_getBlockByNumber", "latest", False)
    tx_hash = next(iter(block.get("transactions") or ()), "0x" + "11" * 32)
    try:
        receipt = await connection.call("eth_getTransactionReceipt", tx_hash)
    except Refused:
        return False
    return receipt is None or all(receipt.get(name) is not None for name in _OF_A_RECEIPT)


async def _sends(connection: NodeConnection) -> bool:
    """Send bytes that no node can decode: an error about them proves that the method exists."""
    try:
        await connection.call("eth_sendRawTransaction", "0x00")
    except Refused as error:
        return not error.is_unknown_method and error.code not in (401, 403, 405)
    return True
