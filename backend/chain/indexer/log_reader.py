"""Logs of some contracts, accepted only from a machine that has the queried blocks.

Behind one URL there may be many machines at different heights, and one that lacks a block answers `eth_getLogs` with an
empty list. So the newest blocks of a public chain are queried by hash (`read_blocks`): a machine that lacks them
refuses. Older blocks are queried as a range, in one batch with its last block and with the reader's current block
(`read_range`). That proves nothing if a provider sends each call of a batch to another machine; a reader that was down
for more than `NEWEST` blocks relies on the window that is read again, and on reconciliation.
"""

import asyncio
import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any, TypeVar

import structlog

from backend.chain.abi.outcome import Log
from backend.chain.coordination.cursor import Block
from backend.chain.errors import ChainUnavailable, RpcError, UnexpectedAnswer
from backend.chain.indexer.log_limits import CAP, LogLimits, is_beyond, is_unknown_method, limits_of
from backend.chain.rpc import node_urls, nodes
from backend.chain.rpc.json_rpc import BehindFloor, Request, Rpc
from backend.chain.rpc.receipts import log_of
from backend.chain.rpc.terms import terms_of

T = TypeVar("T")
log = structlog.get_logger()
NEWEST = 512
"""Blocks at the end of a public chain that are read by hash: more than a restart misses."""
AT_A_TIME = 8
"""Blocks read by hash together, one request each, if nodes accept no batches."""
AT_A_TIME_IN_BATCHES = 32
"""The same limit if they do."""
TRIES = 4
"""Requests for blocks that a machine does not have, before they are left to the next pass."""


@dataclass(frozen=True, slots=True)
class Piece:
    """The logs of some blocks in the chain's order, with the blocks' times. They reach up to the last of `blocks`."""

    logs: list[Log]
    blocks: list[Block]


class Behind(Exception):
    """The machines that answered do not have the next block yet; wait."""


class Forked(Exception):
    """The reader's current block has another hash on the chain."""


async def read_next(rpc: Rpc, addresses: Sequence[str], anchor: Block, target: int) -> Piece:
    """Return the logs of some blocks above the anchor, at most up to the target. Raises Behind and Forked."""
    newest = target if node_urls.is_embedded(rpc.eid) else max(anchor.number, target - NEWEST)
    if newest > anchor.number:
        return await read_range(rpc, addresses, anchor.number + 1, newest, anchor)
    return await read_blocks(rpc, addresses, anchor.number + 1, target, anchor)


async def read_range(rpc: Rpc, addresses: Sequence[str], first: int, last: int, anchor: Block) -> Piece:
    """Return the logs of a range, or of its beginning if a node refuses all of it. The anchor may be below the range or
    above it. Raises Behind and Forked."""
    limits, tries = limits_of(rpc.eid), TRIES
    while True:
        until = min(last, first + limits.blocks - 1) if addresses else last
        try:
            piece = await _read_together(rpc, addresses, first, until, anchor, limits)
        except Behind:
            tries, last = tries - 1, first + (until - first) // 2
            if not tries:
                raise
            continue
        except ChainUnavailable:
            limits.shrink(until - first + 1, len(addresses))  # it may have timed out
            raise
        if piece is not None:
            return piece


async def _read_together(
    rpc: Rpc, addresses: Sequence[str], first: int, last: int, anchor: Block, limits: LogLimits
) -> Piece | None:
    """Return the logs of exactly this range, from one machine; None if it was refused and must be smaller."""
    size, parts, found = last - first + 1, list(_chunks(addresses, limits.addresses)), list[Log]()
    ends: set[Block] = set()
    for group in _chunks(parts or [[]], _parts_at_a_time(rpc.eid)):
        try:
            answer = await rpc.together(_range_requests(group, first, last, anchor))
        except RpcError as error:
            _refused(rpc, error, limits, size, len(group[0]))
            return None
        if answer is None:
            return await read_blocks(rpc, addresses, first, last, anchor if anchor.number == first - 1 else None)
        ends.add(_verified(answer, last, anchor))
        if any(len(logs) == CAP for logs in answer[2:]) and limits.refused(size, len(group[0])):
            return None
        found += [entry for logs in answer[2:] for entry in _checked(rpc, logs, first, last, addresses)]
    if len(ends) > 1:
        raise Behind  # the machines are on different branches
    if addresses:
        limits.accepted(size)
    return Piece(await _timed(rpc, _sorted(found)), list(ends))


def _parts_at_a_time(eid: int) -> int:
    """Number of queries that fit into one batch with the two blocks."""
    taken = max((node.batch_limit for node in nodes.of(eid)), default=1)
    return max(1, min(taken, terms_of(eid).batch) - 2)


def _range_requests(parts: Sequence[Sequence[str]], first: int, last: int, anchor: Block) -> list[Request]:
    span = {"fromBlock": hex(first), "toBlock": hex(last)}
    blocks = [_block_request(anchor.number), _block_request(last)]
    return blocks + [("eth_getLogs", [{**span, "address": list(part)}]) for part in parts if part]


def _refused(rpc: Rpc, error: RpcError, limits: LogLimits, blocks: int, addresses: int) -> None:
    """Halve the query; raises if the range is not the reason, or cannot be smaller."""
    if is_beyond(error):
        raise Behind from error
    if is_unknown_method(error) or not limits.refused(blocks, addresses):
        raise error
    log.info("chain.logs_refused", eid=rpc.eid, code=error.code, blocks=limits.blocks, addresses=limits.addresses)


def _verified(answer: Sequence[Any], last: int, anchor: Block) -> Block:
    """Return the last block of a range, after verifying that the machine has it and the anchor."""
    under, end = answer[0], answer[1]
    if under is None or end is None:
        raise Behind
    if under["hash"] != anchor.hash:
        raise Forked
    return Block(last, str(end["hash"]))


async def read_blocks(rpc: Rpc, addresses: Sequence[str], first: int, last: int, anchor: Block | None) -> Piece:
    """Return the logs of some blocks, by their hashes, up to the first that no machine returns. An anchor is the block
    below the first. Raises Behind and Forked."""
    blocks = await _headers(rpc, first, min(last, first + _blocks_at_a_time(rpc.eid, addresses) - 1), anchor)
    found: list[Log] = []
    read: list[Block] = []
    for block, logs in zip(blocks, await _logs_of_all(rpc, addresses, blocks), strict=False):
        found += logs
        read.append(block)
    if not read:
        raise Behind
    return Piece(await _timed(rpc, found), read)


async def _timed(rpc: Rpc, logs: list[Log]) -> list[Log]:
    """Return logs with the times of their blocks, which some nodes do not return with a log. Raises Behind."""
    numbers = sorted({entry.block_number for entry in logs if not entry.timestamp})
    if not numbers:
        return logs
    answer = await rpc.batch([_block_request(number) for number in numbers])
    times = {str(block["hash"]): int(block["timestamp"], 16) for block in answer if block is not None}
    if any(not entry.timestamp and entry.block_hash not in times for entry in logs):
        raise Behind  # a machine without the block, or on another branch
    return [entry if entry.timestamp else replace(entry, timestamp=times[entry.block_hash]) for entry in logs]


def _blocks_at_a_time(eid: int, addresses: Sequence[str]) -> int:
    """Number of blocks whose headers, and whose logs, fit into one batch each."""
    parts = max(1, math.ceil(len(addresses) / limits_of(eid).addresses))
    return max(AT_A_TIME, min(AT_A_TIME_IN_BATCHES, _parts_at_a_time(eid) // parts))


async def _headers(rpc: Rpc, first: int, last: int, anchor: Block | None) -> list[Block]:
    """Return the linked blocks from the first on."""
    numbers = range(first, last + 1)
    answer = await rpc.batch([_block_request(number) for number in numbers])
    for _ in range(TRIES - 1):
        missing = [place for place, block in enumerate(answer) if block is None]
        if not missing:
            break
        again = await rpc.batch([_block_request(numbers[place]) for place in missing])
        for place, block in zip(missing, again, strict=True):
            answer[place] = block
    return _linked(numbers, answer, anchor)


def _linked(numbers: Sequence[int], answer: Sequence[Any], anchor: Block | None) -> list[Block]:
    """Return the blocks up to the first that is missing or has another parent. Raises Forked."""
    found: list[Block] = []
    below = anchor
    for number, block in zip(numbers, answer, strict=True):
        if block is None or (below is not None and block["parentHash"] != below.hash):
            break
        below = Block(number, str(block["hash"]))
        found.append(below)
    if not found and anchor is not None and answer[0] is not None:
        raise Forked
    return found


async def _logs_of_all(rpc: Rpc, addresses: Sequence[str], blocks: Sequence[Block]) -> list[list[Log]]:
    """Return the logs of each block, up to the first that no machine returns."""
    if not addresses or not blocks:
        return [[] for _ in blocks]
    parts = list(_chunks(addresses, limits_of(rpc.eid).addresses))
    with suppress(RpcError, BehindFloor):
        answer = await rpc.together([_hash_request(block, part) for block in blocks for part in parts])
        if answer is not None:
            grouped = zip(blocks, _chunks(answer, len(parts)), strict=True)
            return [_joined(rpc, group, block, addresses) for block, group in grouped]
    found = await asyncio.gather(*(_logs_of(rpc, addresses, block) for block in blocks))
    return [logs for logs in takewhile(lambda logs: logs is not None, found) if logs is not None]


async def _logs_of(rpc: Rpc, addresses: Sequence[str], block: Block) -> list[Log] | None:
    """Return the logs of one block, queried alone; None if no queried machine has it."""
    limits = limits_of(rpc.eid)
    while True:
        parts = list(_chunks(addresses, limits.addresses))
        try:
            answer = [await rpc.request("eth_getLogs", _by_hash(block, part)) for part in parts]
        except BehindFloor:
            return None
        except RpcError as error:
            if is_beyond(error):
                return None
            if is_unknown_method(error) or not limits.refused(1, len(parts[0])):
                raise
        else:
            return _joined(rpc, answer, block, addresses)


def _joined(rpc: Rpc, answer: Sequence[Any], block: Block, addresses: Sequence[str]) -> list[Log]:
    """Return the logs of a block from the answers for its addresses."""
    return _sorted([entry for logs in answer for entry in _checked_block(rpc, logs, block, addresses)])


def _block_request(number: int) -> Request:
    return "eth_getBlockByNumber", [hex(number), False]


def _hash_request(block: Block, addresses: Sequence[str]) -> Request:
    return "eth_getLogs", [_by_hash(block, addresses)]


def _by_hash(block: Block, addresses: Sequence[str]) -> dict[str, Any]:
    return {"blockHash": block.hash, "address": list(addresses)}


def _checked_block(rpc: Rpc, answer: Sequence[Any], block: Block, addresses: Sequence[str]) -> list[Log]:
    logs = _checked(rpc, answer, block.number, block.number, addresses)
    if any(entry.block_hash != block.hash for entry in logs):
        raise UnexpectedAnswer(f"The node of the chain {rpc.eid} returned the logs of another block.")
    return logs


def _checked(rpc: Rpc, answer: Sequence[Any], first: int, last: int, addresses: Sequence[str]) -> list[Log]:
    """Return a node's logs, after checking that they match the query."""
    logs, named = [log_of(entry) for entry in answer if not entry.get("removed")], set(addresses)
    if any(entry.address not in named or not first <= entry.block_number <= last for entry in logs):
        raise UnexpectedAnswer(f"The node of the chain {rpc.eid} returned logs that do not match the query.")
    return logs


def _sorted(logs: list[Log]) -> list[Log]:
    return sorted(logs, key=lambda entry: (entry.block_number, entry.log_index))


def _chunks(values: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    for start in range(0, len(values), size):
        yield values[start : start + size]
