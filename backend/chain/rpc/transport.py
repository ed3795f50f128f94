"""One HTTP round trip of JSON-RPC to one node. A node's errors are translated only here.

These few lines replace web3, which costs 11 MB and 0.3 s more at start, retries sends automatically, and would only
post JSON. `connections` has the HTTP clients, and decides who may call when.
"""

import asyncio
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

import aiohttp
import orjson

from backend.chain.abi.reverts import is_revert
from backend.chain.errors import RpcError
from backend.chain.rpc import connections, response_shapes
from backend.chain.rpc.connections import Response
from backend.chain.rpc.nodes import Node, NodeFault
from backend.tracing import spans

Request = tuple[str, list[Any]]
Answer = dict[str, Any]
_LIMITS = frozenset({-32005, -32029, -32097, 429})
"""Codes with which a node limits its callers. -32005 also refuses log ranges; `_is_fault` distinguishes them."""
AGAIN = 3
"""How often a single call is attempted."""
SINGLES = 8
"""Concurrent single calls to a node that accepts no batches."""
_SUCCESS = range(200, 300)
_NO_BATCH = frozenset({400, 404, 405, 413, 415, 501})
"""HTTP statuses with which nodes refuse a batch as a whole."""


class BatchRefused(Exception):
    """A node refused a batch as a whole; its calls may pass separately, or in smaller batches."""


async def ask(node: Node, requests: Sequence[Request]) -> list[Answer]:
    """Return a node's answers in the order of the requests: one batch if the node accepts it, otherwise call by call.

    Raises NodeFault and NodeBusy.
    """
    while node.takes_batch(len(requests)):
        try:
            return await post(node, requests)
        except BatchRefused:
            node.refused_batch(len(requests))
    if len(requests) > 1 and node.batch_limit > 1:
        size = node.batch_limit
        parts = [requests[start : start + size] for start in range(0, len(requests), size)]
        return [answer for part in parts for answer in await ask(node, part)]
    reply: list[Answer] = []
    for start in range(0, len(requests), SINGLES):
        reply += await asyncio.gather(*(_alone(node, request) for request in requests[start : start + SINGLES]))
    return reply


async def _alone(node: Node, request: Request) -> Answer:
    """Make one call, and retry it if a gateway or a limit refused it, so that the other calls are not lost."""
    for _ in range(AGAIN - 1):
        try:
            return (await post(node, [request], as_object=True))[0]
        except NodeFault as fault:
            if not fault.is_passing and (fault.rest is None or fault.rest > 1):
                raise
            await asyncio.sleep(fault.rest or 0.05)
    return (await post(node, [request], as_object=True))[0]


async def post(node: Node, requests: Sequence[Request], *, as_object: bool = False) -> list[Answer]:
    """Make one HTTP request. The URL may contain a provider's key, so no cause is kept.

    Raises NodeFault, BatchRefused if the node refused the batch as a whole, and NodeBusy if too many calls wait.
    """
    calls = [{"jsonrpc": "2.0", "id": i, "method": m, "params": p} for i, (m, p) in enumerate(requests)]
    name = requests[0][0] if len(requests) == 1 else f"batch of {len(requests)}"
    try:
        with spans.span(f"rpc {name}", "CLIENT", **{"rpc.system": "jsonrpc", "signum.chain": node.eid}):
            response = await connections.line(node.eid, node.url).post(calls[0] if as_object else calls)
    except TimeoutError:
        raise NodeFault("does not answer in time") from None
    except (aiohttp.ClientError, OSError):
        raise NodeFault("does not answer") from None
    if response.status == HTTPStatus.TOO_MANY_REQUESTS:
        raise NodeFault("limits the call rate", _retry_after(response))
    reply = _checked(requests, _body(response, as_object), response)
    for (method, _), answer in zip(requests, reply, strict=True):
        if answer.get("error") is not None:
            _check_fault(method, error_of(answer["error"]))
    return reply


def _body(response: Response, as_object: bool) -> Any:
    try:
        # Not the standard library's parser, whose stack a deeply nested answer overflows.
        reply = orjson.loads(response.content)
    except ValueError:
        if not as_object and response.status in _NO_BATCH:
            raise BatchRefused from None
        raise NodeFault(f"answers {_garbled(response)}", is_passing=response.status >= 500) from None
    if not as_object and (refusal := _whole_refusal(reply)) is not None:
        _check_fault("", error_of(refusal))
        raise BatchRefused
    return [reply | {"id": 0}] if as_object and isinstance(reply, dict) else reply


def _whole_refusal(reply: Any) -> Mapping[str, Any] | None:
    """Return the error with which a node answered a batch as a whole: one object, or a list of one without an ID."""
    if isinstance(reply, list) and len(reply) == 1 and isinstance(reply[0], dict) and reply[0].get("id") is None:
        reply = reply[0]
    error = reply.get("error") if isinstance(reply, dict) else None
    return error if isinstance(error, dict) else None


def _checked(requests: Sequence[Request], reply: Any, response: Response) -> list[Answer]:
    try:
        return response_shapes.ordered(requests, reply)
    except response_shapes.Garbage:
        raise NodeFault(f"answers {_garbled(response)}") from None


def _garbled(response: Response) -> str:
    return "with a malformed response" if response.status in _SUCCESS else f"with status {response.status}"


def _check_fault(method: str, error: RpcError) -> None:
    """Raise NodeFault if another node, or the same one later, might succeed."""
    if method == "eth_getLogs" and is_range_refusal(error):
        return
    is_internal = error.code == -32603 and error.says("internal") and not is_revert(error)
    if error.code in _LIMITS or is_internal:
        raise NodeFault(f"answers with its own error ({error.code})")


def is_range_refusal(error: RpcError) -> bool:
    """Return whether a node refused `eth_getLogs` because the range or the result is too large."""
    if error.says("request count", "requests per", "rate limit", "too many requests"):
        return False
    return error.says("range", "result", "more than", "limited to", "response size", "too large", "exceed", "log count")


def is_behind(error: RpcError) -> bool:
    """Return whether a machine refused because it does not have the requested block."""
    return error.says(
        "header not found",
        "block not found",
        "unknown block",
        "cannot find block",
        "blockoutofrange",
        "block number out of range",
        "after last accepted block",
        "block is not available",
        "future block",
    )


def is_pruned(error: RpcError) -> bool:
    """Return whether a node refused because it does not keep the state of the requested block."""
    return error.says(
        "missing trie node",
        "historical state",
        "state is not available",
        "state not available",
        "state unavailable",
        "pruned",
        "archive",
        "only latest",
        "latest block only",
        "only the latest",
        "too many arguments",
        "older than",
    )


def _retry_after(response: Response) -> float:
    """Return seconds; a date, or a missing value, counts as one second."""
    reply = response.retry_after
    return float(reply) if reply.isdecimal() and len(reply) < 6 else 1.0


def error_of(reply: Mapping[str, Any], eid: int | None = None) -> RpcError:
    """Return a JSON-RPC error as our error."""
    code, data = reply.get("code", 0), reply.get("data")
    return RpcError(
        str(reply.get("message", "")), code if isinstance(code, int) else 0, data if isinstance(data, str) else "", eid
    )
