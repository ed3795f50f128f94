"""Reads of the newest state, pinned to a block that we know of, so that a machine that lags cannot answer them.

"Latest" means something else on every machine of a pool. On a public chain a read of it is sent with a block number
instead: a machine without that block refuses, and another one is asked. A node that keeps no state but the newest is
asked for its height in the same batch, which has to be at least the floor.
"""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

from backend.chain import endpoints, floors, transport
from backend.chain.errors import RpcError
from backend.chain.nodes import Node, NodeBehind
from backend.chain.terms import terms_of
from backend.chain.transport import Answer, Request, error_of

_BLOCK_PARAMETER: Final = {
    "eth_call": 1,
    "eth_estimateGas": 1,
    "eth_getBalance": 1,
    "eth_getCode": 1,
    "eth_getTransactionCount": 1,
}
"""Methods that read state, and the place of the block among their parameters."""
FRESH = 1.0
"""Seconds for which a height is taken as the newest, at most."""

_heights: dict[int, tuple[int, float]] = {}
"""By chain: the newest block that any machine told of, and when."""


def saw(eid: int, height: int) -> None:
    """Remember a height that a machine told."""
    _heights[eid] = height, time.monotonic()


def forget(eid: int) -> None:
    """Ask for the height of a chain before the next read."""
    _heights.pop(eid, None)


async def ask(eid: int, node: Node, requests: Sequence[Request], *, is_whole: bool = False) -> list[Answer]:
    """Ask a node, with reads of the newest state pinned where the chain is a public one. `is_whole` allows one batch
    only.

    Raises NodeFault, NodeBehind, and BatchRefused where the whole cannot be one batch.
    """
    places = [] if endpoints.is_embedded(eid) else [i for i, one in enumerate(requests) if _reads_latest(one)]
    if not places:
        told = await (_post_whole(node, requests) if is_whole else transport.ask(node, requests))
        return _checked(eid, requests, told)
    # Without batches a height proves nothing about the other calls, so that even such a node is asked by number.
    if (node.is_latest_only or terms_of(eid).history == 0) and node.takes_batch(len(requests) + 2):
        with suppress(transport.BatchRefused):
            return await _with_height(eid, node, requests)
    pin = await _pin(eid, node)
    pinned = [_at(one, pin) if i in places else one for i, one in enumerate(requests)]
    told = await (_post_whole(node, pinned) if is_whole else transport.ask(node, pinned))
    if any(_says(told[i], transport.is_pruned) for i in places):
        node.refused_state()
        forget(eid)
        raise NodeBehind(f"does not keep the state of the block {pin}")
    node.kept_state()
    try:
        return _checked(eid, pinned, told)
    except NodeBehind:
        forget(eid)  # the next machine's own height may be one that more of them have
        raise


async def _post_whole(node: Node, requests: Sequence[Request]) -> list[Answer]:
    if not node.takes_batch(len(requests)):
        raise transport.BatchRefused
    try:
        return await transport.post(node, requests)
    except transport.BatchRefused:
        node.refused_batch(len(requests))
        raise


def _reads_latest(request: Request) -> bool:
    method, parameters = request
    place = _BLOCK_PARAMETER.get(method)
    return place is not None and (len(parameters) <= place or parameters[place] == "latest")


def _at(request: Request, block: int) -> Request:
    method, parameters = request
    return method, [*parameters[: _BLOCK_PARAMETER[method]], hex(block)]


async def _pin(eid: int, node: Node) -> int:
    """The newest block that a machine told of.

    Raises NodeBehind where that is below the floor: the floor itself may be older than what nodes keep the state of.
    """
    height, seen_at = _heights.get(eid, (0, 0.0))
    if time.monotonic() - seen_at > min(FRESH, terms_of(eid).block_time):
        (answer,) = await transport.ask(node, [("eth_blockNumber", [])])
        if answer.get("error") is None:
            height = int(answer["result"], 16)
            saw(eid, height)
    floor = await floors.of(eid)
    if height < floor:
        forget(eid)
        raise NodeBehind(f"does not have the block {floor} yet")
    return height


async def _with_height(eid: int, node: Node, requests: Sequence[Request]) -> list[Answer]:
    """Ask for the newest state in one batch with the height before and after, for nodes that keep no older state.

    Raises BatchRefused where the node does not take the batch.
    """
    height: Request = ("eth_blockNumber", [])
    first, *answers, last = await _post_whole(node, [height, *requests, height])
    floor = await floors.of(eid)
    seen = [int(told["result"], 16) for told in (first, last) if told.get("error") is None]
    if any(number < floor for number in seen):
        raise NodeBehind(f"does not have the block {floor} yet")
    if len(set(seen)) > 1:
        raise NodeBehind("answers the calls of one batch from several machines")
    return _checked(eid, requests, answers)


def _checked(eid: int, requests: Sequence[Request], told: list[Answer]) -> list[Answer]:
    """The answers, unless a machine refused one because it lacks the block."""
    if endpoints.is_embedded(eid):
        return told
    for request, answer in zip(requests, told, strict=True):
        if _names_block(request) and _says(answer, transport.is_behind):
            raise NodeBehind(f"does not have a block yet that {request[0]} needs")
    return told


def _names_block(request: Request) -> bool:
    """Whether a call is about a block that exists, so that a machine that does not know it is behind. A machine that
    does not know a tag is not."""
    method, parameters = request
    return method in _BLOCK_PARAMETER or (method == "eth_getLogs" and "blockHash" in parameters[0])


def _says(answer: Answer, test: Callable[[RpcError], bool]) -> bool:
    return answer.get("error") is not None and test(error_of(answer["error"]))
