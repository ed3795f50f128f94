"""JSON-RPC to a chain's node. The node's words are translated here, once.

Our own few lines in the place of web3: it costs 11 MB and 0.3 s more at start, retries sends by itself, and would be
used for nothing but posting JSON. One HTTP client per event loop.
"""

import asyncio
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any
from weakref import WeakKeyDictionary

import httpx
import orjson
import sqlalchemy as sa
import structlog
from eth_abi.exceptions import DecodingError
from sqlmodel import col

from backend import db
from backend.chain import answers, endpoints, identity, nodes
from backend.chain.calls import Call
from backend.chain.codec import contract
from backend.chain.errors import ChainUnavailable, RpcError, UnexpectedAnswer
from backend.chain.nodes import Node, NodeFault
from backend.chain.reverts import is_revert, reverted
from backend.chains.models import ChainRow
from backend.chains.schemas import VmType
from backend.errors import BadRequest

Request = tuple[str, list[Any]]
TIMEOUT = httpx.Timeout(10.0, connect=3.0)
_LIMITS = frozenset({-32005, 429})
"""Codes by which a node limits its callers; with others it tells a fault inside by words alone."""
_patience: ContextVar[float] = ContextVar("rpc_patience", default=0.0)

log = structlog.get_logger()

_clients: WeakKeyDictionary[asyncio.AbstractEventLoop, httpx.AsyncClient] = WeakKeyDictionary()


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


class Rpc:
    """A chain's nodes as one: the first that answers is asked.

    Errors: ChainUnavailable, Reverted, and RpcError for what a node says that is neither.
    """

    def __init__(self, eid: int) -> None:
        self.eid = eid

    async def request(self, method: str, *parameters: Any) -> Any:
        """One call. A contract's refusal is raised as Reverted."""
        return self._result((await self._post([(method, list(parameters))]))[0])

    async def batch(self, requests: Sequence[Request]) -> list[Any]:
        """Several calls in one round trip; the first error is raised."""
        return [self._result(answer) for answer in await self._post(requests)]

    async def _post(self, requests: Sequence[Request]) -> list[dict[str, Any]]:
        """Ask until somebody answers, as long as the caller has patience. Sending the same bytes twice is harmless."""
        if not requests:
            return []
        deadline = time.monotonic() + _patience.get()
        for pause in _pauses():
            try:
                return await self._ask_around(requests)
            except ChainUnavailable:
                wait = max(pause, nodes.rest(self.eid))
                if time.monotonic() + wait > deadline:
                    raise
            await asyncio.sleep(wait)
        raise AssertionError("the pauses never end")

    async def _ask_around(self, requests: Sequence[Request]) -> list[dict[str, Any]]:
        for node in nodes.in_turn(self.eid):
            try:
                await _introduce(self.eid, node)
                told = await _ask(node.url, requests)
            except NodeFault as fault:
                node.failed(fault)
                log.warning("rpc.fault", eid=self.eid, method=requests[0][0], fault=fault.why, failures=node.failures)
            else:
                node.answered()
                return told
        raise self._unavailable()

    def _unavailable(self) -> ChainUnavailable:
        told = nodes.faulty(self.eid)
        why = told[-1].error if told and told[-1].error else "does not answer"
        rest = nodes.rest(self.eid)
        headers = {"Retry-After": str(math.ceil(rest))} if rest else None
        return ChainUnavailable(f"The node of the chain {self.eid} {why}.", headers=headers)

    def _result(self, answer: dict[str, Any]) -> Any:
        if answer.get("error") is None:
            return answer["result"]
        error = _error(answer["error"], self.eid)
        if is_revert(error):
            raise reverted(error.data, error.message)
        log.info("rpc.error", eid=self.eid, code=error.code, message=error.message)
        raise error

    async def read(self, name: str, to: str, function: str, *values: Any, block: int | None = None) -> Any:
        """The answer of a view function of the contract `name` at `to`, at a block or now."""
        return (await self.read_many([(name, to, function, *values)], block=block))[0]

    async def read_many(self, reads: Sequence[tuple[Any, ...]], *, block: int | None = None) -> list[Any]:
        """Several `(contract, address, function, *arguments)` in one round trip."""
        at = "latest" if block is None else hex(block)
        calls = [({"to": to, "data": contract(name).data(function, *v)}, function) for name, to, function, *v in reads]
        told = await self.batch([("eth_call", [parameters, at]) for parameters, _ in calls])
        try:
            return [contract(read[0]).answer(read[2], answer) for read, answer in zip(reads, told, strict=True)]
        except (DecodingError, OverflowError) as error:
            raise UnexpectedAnswer(
                f"The node of the chain {self.eid} does not answer as the contract would; it may be behind the chain."
            ) from error

    async def simulate(self, call: Call, sender: str, block: str = "latest") -> str:
        """What a call would return. Raises Reverted where it would fail."""
        return str(await self.request("eth_call", transaction(call, sender), block))

    async def height(self) -> int:
        """The number of the newest block."""
        return int(await self.request("eth_blockNumber"), 16)

    async def has_code(self, address: str) -> bool:
        """Whether a contract lives at an address."""
        return str(await self.request("eth_getCode", address, "latest")) not in ("0x", "0x0")

    async def balance(self, address: str) -> int:
        """Native currency of an account, wei."""
        return int(await self.request("eth_getBalance", address, "latest"), 16)


def transaction(call: Call, sender: str) -> dict[str, str]:
    """A call as the node's parameter."""
    fields = {"from": sender, "data": call.data, "value": hex(call.value)}
    return fields if call.to is None else {**fields, "to": call.to}


async def _ask(url: str, requests: Sequence[Request]) -> list[dict[str, Any]]:
    """One round trip to one node. Raises NodeFault; the URL may carry a provider's key, so no cause is kept."""
    body = [{"jsonrpc": "2.0", "id": i, "method": m, "params": p} for i, (m, p) in enumerate(requests)]
    try:
        response = await _client().post(url, json=body, timeout=TIMEOUT)
    except httpx.TimeoutException:
        raise NodeFault("does not answer in time") from None
    except httpx.HTTPError:
        raise NodeFault("does not answer") from None
    if response.status_code == httpx.codes.TOO_MANY_REQUESTS:
        raise NodeFault("limits the rate of calls", _retry_after(response))
    try:
        # Not the standard library's reader, which a deeply nested answer makes overflow the stack.
        told = answers.ordered(requests, orjson.loads(response.content))
    except ValueError:
        garbled = "with something that is no answer" if response.is_success else f"with status {response.status_code}"
        raise NodeFault(f"answers {garbled}") from None
    for answer in told:
        if answer.get("error") is not None and _is_own_fault(error := _error(answer["error"])):
            raise NodeFault(f"answers with an error of its own ({error.code})")
    return told


def _is_own_fault(error: RpcError) -> bool:
    """Whether another node might do better."""
    return error.code in _LIMITS or (error.code == -32603 and error.says("internal") and not is_revert(error))


async def _introduce(eid: int, node: Node) -> None:
    """Ask a node once which chain it is of, before it is believed anything. Raises NodeFault."""
    if node.is_known or endpoints.is_embedded(eid):
        return
    expected = await identity.chain_id(eid)
    (answer,) = await _ask(node.url, [("eth_chainId", [])])
    if "result" not in answer:
        raise NodeFault("does not tell which chain it is of")
    told = int(answer["result"], 16)
    if told != expected:
        raise NodeFault(f"is of another chain: its chain id is {told}, not {expected}")
    node.is_known = True


async def heights(eid: int) -> list[int | None]:
    """The newest block of each node of a chain; None where it does not answer. What each of them did is noted."""
    return list(await asyncio.gather(*(_height(eid, node) for node in nodes.of(eid))))


async def _height(eid: int, node: Node) -> int | None:
    try:
        await _introduce(eid, node)
        told = await _ask(node.url, [("eth_blockNumber", [])])
        height = int(told[0]["result"], 16)
    except NodeFault as fault:
        node.failed(fault)
        return None
    except KeyError:  # an error of its own
        return None
    node.answered()
    return height


def _retry_after(response: httpx.Response) -> float:
    """Seconds; a date, or nothing, is taken as a second."""
    told = response.headers.get("retry-after", "")
    return float(told) if told.isdecimal() and len(told) < 6 else 1.0


def _error(told: Mapping[str, Any], eid: int | None = None) -> RpcError:
    code, data = told.get("code", 0), told.get("data")
    return RpcError(
        str(told.get("message", "")), code if isinstance(code, int) else 0, data if isinstance(data, str) else "", eid
    )


@contextmanager
def patience(seconds: float) -> Iterator[None]:
    """Inside, a chain that does not answer is asked again for so long: for workflows, which nobody waits for."""
    token = _patience.set(seconds)
    try:
        yield
    finally:
        _patience.reset(token)


def patience_here() -> float:
    """The patience that holds here, in seconds."""
    return _patience.get()


def _pauses() -> Iterator[float]:
    pause = 0.1
    while True:
        yield pause
        pause = min(pause * 1.7, 3.0)


async def connect(eid: int) -> Rpc:
    """The nodes of a chain. Raises BadRequest where there is none, saying why."""
    if not endpoints.urls_of(eid):
        raise await _refusal(eid)
    return Rpc(eid)


async def _refusal(eid: int) -> BadRequest:
    async with db.worker() as session:
        found = sa.select(ChainRow).where(col(ChainRow.xchain_eid) == eid)
        row = (await session.execute(found)).scalar_one_or_none()
    if row is None:
        return BadRequest(f"There is no chain with the endpoint id {eid} in the registry.")
    if row.vm_type is VmType.SOLANA:
        return BadRequest(f"{row.display_name} runs the Solana VM: it is listed, but this needs an EVM chain.")
    return BadRequest(f"{row.display_name} is listed, but this installation has no connection to it.")


async def native_balance(eid: int, address: str) -> int:
    """Native currency of an account, wei."""
    return await (await connect(eid)).balance(address)
