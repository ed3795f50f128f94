"""Reads of the newest state, pinned to a known block, so that a lagging machine cannot answer them.

"Latest" has a different meaning on every machine of a pool. On a public chain, a read of it is sent with a block number
instead: a machine without that block refuses, and another one is used. For a node that keeps only the newest state, its
height is queried in the same batch and must be at least the floor.
"""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from backend.chain.errors import RpcError
from backend.chain.rpc import floors, node_urls, transport
from backend.chain.rpc.nodes import Node, NodeBehind
from backend.chain.rpc.terms import terms_of
from backend.chain.rpc.transport import Answer, Request, error_of
from backend.core.runtime import runtime

_BLOCK_PARAMETER: Final = {
    "eth_call": 1,
    "eth_estimateGas": 1,
    "eth_getBalance": 1,
    "eth_getCode": 1,
    "eth_getTransactionCount": 1,
}
"""Methods that read state, and the position of the block among their parameters."""
FRESH = 1.0
"""Maximum seconds for which a height counts as the newest."""


@dataclass
class Heights:
    """By chain: the newest block reported by any machine, and when."""

    newest: dict[int, tuple[int, float]] = field(default_factory=dict)


def saw(eid: int, height: int) -> None:
    """Record a height reported by a machine."""
    runtime.part(Heights).newest[eid] = height, time.monotonic()


def forget(eid: int) -> None:
    """Query the height of a chain before the next read."""
    runtime.part(Heights).newest.pop(eid, None)


async def ask(eid: int, node: Node, requests: Sequence[Request], *, is_whole: bool = False) -> list[Answer]:
    """Query a node, with reads of the newest state pinned on a public chain. `is_whole` allows only one batch.

    Raises NodeFault, NodeBehind, and BatchRefused if the whole cannot be one batch.
    """
    places = [] if node_urls.is_embedded(eid) else [i for i, one in enumerate(requests) if _reads_latest(one)]
    if not places:
        response = await (_post_whole(node, requests) if is_whole else transport.ask(node, requests))
        return _checked(eid, requests, response)
    # Without batches, a height proves nothing about the other calls, so that even such a node is queried by number.
    if (node.is_latest_only or terms_of(eid).history == 0) and node.takes_batch(len(requests) + 2):
        with suppress(transport.BatchRefused):
            return await _with_height(eid, node, requests)
    pin = await _pin(eid, node)
    pinned = [_at(one, pin) if i in places else one for i, one in enumerate(requests)]
    response = await (_post_whole(node, pinned) if is_whole else transport.ask(node, pinned))
    if any(_says(response[i], transport.is_pruned) for i in places):
        node.refused_state()
        forget(eid)
        raise NodeBehind(f"does not keep the state of the block {pin}")
    node.kept_state()
    try:
        return _checked(eid, pinned, response)
    except NodeBehind:
        forget(eid)  # more machines may have the next machine's own height
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
    """Return the newest block reported by a machine.

    Raises NodeBehind if it is below the floor: nodes may no longer keep the state of the floor itself.
    """
    height, seen_at = runtime.part(Heights).newest.get(eid, (0, 0.0))
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
    """Query the newest state in one batch with the height before and after, for nodes that keep no older state.

    Raises BatchRefused if the node does not accept the batch.
    """
    height: Request = ("eth_blockNumber", [])
    first, *answers, last = await _post_whole(node, [height, *requests, height])
    floor = await floors.of(eid)
    seen = [int(response["result"], 16) for response in (first, last) if response.get("error") is None]
    if any(number < floor for number in seen):
        raise NodeBehind(f"does not have the block {floor} yet")
    if len(set(seen)) > 1:
        raise NodeBehind("answers the calls of one batch from several machines")
    return _checked(eid, requests, answers)


def _checked(eid: int, requests: Sequence[Request], response: list[Answer]) -> list[Answer]:
    """Return the answers, unless a machine refused one because it lacks the block."""
    if node_urls.is_embedded(eid):
        return response
    for request, answer in zip(requests, response, strict=True):
        if _names_block(request) and _says(answer, transport.is_behind):
            raise NodeBehind(f"does not yet have a block that {request[0]} needs")
    return response


def _names_block(request: Request) -> bool:
    """Return whether a call refers to an existing block, so that a machine that does not know the block is behind. A
    machine that does not know a tag is not."""
    method, parameters = request
    return method in _BLOCK_PARAMETER or (method == "eth_getLogs" and "blockHash" in parameters[0])


def _says(answer: Answer, test: Callable[[RpcError], bool]) -> bool:
    return answer.get("error") is not None and test(error_of(answer["error"]))
