"""One HTTP round trip of JSON-RPC to one node. A node's errors are translated here, once.

Our own few lines in place of web3: it costs 11 MB and 0.3 s more at start, retries sends by itself, and would be
used for nothing but posting JSON. One HTTP client per event loop.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any
from weakref import WeakKeyDictionary

import httpx
import orjson

from backend.chain import answers
from backend.chain.errors import RpcError
from backend.chain.nodes import Node, NodeFault
from backend.chain.reverts import is_revert

Request = tuple[str, list[Any]]
Answer = dict[str, Any]
TIMEOUT = httpx.Timeout(10.0, connect=3.0)
_LIMITS = frozenset({-32005, -32029, -32097, 429})
"""Codes with which a node limits its callers. -32005 also refuses log ranges, which `_is_fault` tells apart."""
AGAIN = 3
"""How often a call that is made by itself is tried."""
SINGLES = 8
"""Calls made one by one at the same time to a node that takes no batches."""
_NO_BATCH = frozenset({400, 404, 405, 413, 415, 501})
"""HTTP statuses with which nodes refuse a batch as a whole."""

_clients: WeakKeyDictionary[asyncio.AbstractEventLoop, httpx.AsyncClient] = WeakKeyDictionary()


class BatchRefused(Exception):
    """A node refused a batch as a whole; its calls may pass one by one, or in smaller batches."""


def _client() -> httpx.AsyncClient:
    loop = asyncio.get_running_loop()
    client = _clients.get(loop)
    if client is None or client.is_closed:
        limits = httpx.Limits(max_connections=40, max_keepalive_connections=20)
        client = _clients[loop] = httpx.AsyncClient(timeout=TIMEOUT, limits=limits, trust_env=False)
    return client


async def close() -> None:
    """Close this loop's connections to the nodes."""
    client = _clients.pop(asyncio.get_running_loop(), None)
    if client is not None:
        await client.aclose()


async def ask(node: Node, requests: Sequence[Request]) -> list[Answer]:
    """Return a node's answers in the order of the requests: one batch where the node takes it, else call by call.

    Raises NodeFault.
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
    told: list[Answer] = []
    for start in range(0, len(requests), SINGLES):
        told += await asyncio.gather(*(_alone(node, request) for request in requests[start : start + SINGLES]))
    return told


async def _alone(node: Node, request: Request) -> Answer:
    """Make one call, again where a gateway or a limit refused it: the others that go with it are not lost by that."""
    for _ in range(AGAIN - 1):
        try:
            return (await post(node, [request], as_object=True))[0]
        except NodeFault as fault:
            if not fault.is_passing and (fault.rest is None or fault.rest > 1):
                raise
            await asyncio.sleep(fault.rest or 0.05)
    return (await post(node, [request], as_object=True))[0]


async def post(node: Node, requests: Sequence[Request], *, as_object: bool = False) -> list[Answer]:
    """Make one HTTP request. The URL may carry a provider's key, so no cause is kept.

    Raises NodeFault, and BatchRefused where the node refused the batch as a whole.
    """
    calls = [{"jsonrpc": "2.0", "id": i, "method": m, "params": p} for i, (m, p) in enumerate(requests)]
    try:
        response = await _client().post(node.url, json=calls[0] if as_object else calls, timeout=TIMEOUT)
    except httpx.TimeoutException:
        raise NodeFault("does not answer in time") from None
    except httpx.HTTPError:
        raise NodeFault("does not answer") from None
    if response.status_code == httpx.codes.TOO_MANY_REQUESTS:
        raise NodeFault("limits the rate of calls", _retry_after(response))
    told = _checked(requests, _body(response, as_object), response)
    for (method, _), answer in zip(requests, told, strict=True):
        if answer.get("error") is not None:
            _check_fault(method, error_of(answer["error"]))
    return told


def _body(response: httpx.Response, as_object: bool) -> Any:
    try:
        # Not the standard library's reader, which a deeply nested answer makes overflow the stack.
        told = orjson.loads(response.content)
    except ValueError:
        if not as_object and response.status_code in _NO_BATCH:
            raise BatchRefused from None
        raise NodeFault(f"answers {_garbled(response)}", is_passing=response.status_code >= 500) from None
    if not as_object and (refusal := _whole_refusal(told)) is not None:
        _check_fault("", error_of(refusal))
        raise BatchRefused
    return [told | {"id": 0}] if as_object and isinstance(told, dict) else told


def _whole_refusal(told: Any) -> Mapping[str, Any] | None:
    """The error with which a node answered a batch as a whole: one object, or a list of one that has no id."""
    if isinstance(told, list) and len(told) == 1 and isinstance(told[0], dict) and told[0].get("id") is None:
        told = told[0]
    error = told.get("error") if isinstance(told, dict) else None
    return error if isinstance(error, dict) else None


def _checked(requests: Sequence[Request], told: Any, response: httpx.Response) -> list[Answer]:
    try:
        return answers.ordered(requests, told)
    except answers.Garbage:
        raise NodeFault(f"answers {_garbled(response)}") from None


def _garbled(response: httpx.Response) -> str:
    return "with something that is no answer" if response.is_success else f"with status {response.status_code}"


def _check_fault(method: str, error: RpcError) -> None:
    """Raise NodeFault where another node, or the same one a little later, might do better."""
    if method == "eth_getLogs" and is_range_refusal(error):
        return
    is_internal = error.code == -32603 and error.says("internal") and not is_revert(error)
    if error.code in _LIMITS or is_internal:
        raise NodeFault(f"answers with an error of its own ({error.code})")


def is_range_refusal(error: RpcError) -> bool:
    """Whether a node refused `eth_getLogs` because the range or the result is too large for it."""
    if error.says("request count", "requests per", "rate limit", "too many requests"):
        return False
    return error.says("range", "result", "more than", "limited to", "response size", "too large", "exceed", "log count")


def is_behind(error: RpcError) -> bool:
    """Whether a machine refused because it does not have the block that was asked for."""
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
    """Whether a node refused because it does not keep the state of the block that was asked for."""
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


def _retry_after(response: httpx.Response) -> float:
    """Seconds; a date, or nothing, is taken as a second."""
    told = response.headers.get("retry-after", "")
    return float(told) if told.isdecimal() and len(told) < 6 else 1.0


def error_of(told: Mapping[str, Any], eid: int | None = None) -> RpcError:
    """Return a JSON-RPC error as ours."""
    code, data = told.get("code", 0), told.get("data")
    return RpcError(
        str(told.get("message", "")), code if isinstance(code, int) else 0, data if isinstance(data, str) else "", eid
    )
