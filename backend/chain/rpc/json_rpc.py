"""JSON-RPC to a chain, which may have several URLs, each a pool of machines at different heights."""

import asyncio
import math
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import sqlalchemy as sa
import structlog
from eth_abi.exceptions import DecodingError
from sqlmodel import col

from backend.chain.abi.calls import Call
from backend.chain.abi.codec import contract
from backend.chain.abi.reverts import is_revert, reverted
from backend.chain.chain_models import ChainRow
from backend.chain.errors import ChainUnavailable, Reverted, RpcError, UnexpectedAnswer
from backend.chain.rpc import chain_ids, floors, node_urls, nodes, pinned_reads, transport
from backend.chain.rpc.connections import close
from backend.chain.rpc.nodes import Node, NodeBehind, NodeFault
from backend.chain.rpc.terms import terms_of
from backend.chain.rpc.transport import Answer, Request, error_of
from backend.core import db
from backend.core.errors import BadRequest
from backend.core.fields import VmType

__all__ = [
    "Request",
    "Rpc",
    "close",
    "connect",
    "heights",
    "native_balance",
    "patience",
    "patience_here",
    "restoring",
    "transaction",
]

BEHIND = 5.0
"""Seconds for which a machine that has the block is sought, in addition to the caller's patience."""
QUICK = 0.5
"""Seconds within which a call that failed immediately is retried, even for callers without patience."""
_patience: ContextVar[float] = ContextVar("rpc_patience", default=0.0)

_restores: ContextVar[bool] = ContextVar("rpc_restores", default=False)

log = structlog.get_logger()


class Restoring(ChainUnavailable):
    """Service Unavailable"""


class BehindFloor(ChainUnavailable):
    """Service Unavailable"""


class Passing(ChainUnavailable):
    """Service Unavailable"""


class Rpc:
    """A chain's nodes as one: the first that answers is used.

    Errors: ChainUnavailable, Reverted, and RpcError for any other error of a node.
    """

    def __init__(self, eid: int) -> None:
        self.eid = eid

    async def request(self, method: str, *parameters: Any) -> Any:
        """Make one call. Raises a contract's refusal as Reverted."""
        return self._result((await self._post([(method, list(parameters))]))[0])

    async def batch(self, requests: Sequence[Request]) -> list[Any]:
        """Make several calls, in one round trip if the node accepts batches; the first error is raised."""
        return [self._result(answer) for answer in await self._post(requests)]

    async def attempt(self, requests: Sequence[Request]) -> list[Any]:
        """Make several calls; a refused call returns its error as the result instead of raising it."""
        return [self._result_or_error(answer) for answer in await self._post(requests)]

    async def together(self, requests: Sequence[Request]) -> list[Any] | None:
        """Make several calls in one JSON-RPC batch, so that one machine answers all of them; the first error is raised.

        None if no node of the chain accepts such a batch.
        """
        if not any(node.takes_batch(len(requests)) for node in nodes.of(self.eid)):
            return None
        try:
            return [self._result(answer) for answer in await self._post(requests, is_whole=True)]
        except transport.BatchRefused:
            return None

    async def _post(self, requests: Sequence[Request], *, is_whole: bool = False) -> list[Answer]:
        """Post until a node answers, as long as the caller has patience. Sending the same bytes twice is harmless."""
        if not requests:
            return []
        began = time.monotonic()
        for pause in _pauses():
            try:
                return await self._ask_around(requests, is_whole)
            except ChainUnavailable as error:
                wait, allowed = max(pause, nodes.rest(self.eid)), _patience.get()
                if isinstance(error, Passing):
                    allowed = max(allowed, QUICK)
                if isinstance(error, Restoring):
                    wait, allowed = QUICK, max(allowed, BEHIND)
                if isinstance(error, BehindFloor):
                    wait, allowed = min(pause, terms_of(self.eid).block_time, 1.0), max(allowed, BEHIND)
                if time.monotonic() + wait > began + allowed:
                    raise
            await asyncio.sleep(wait)
        raise AssertionError("the pauses never end")

    async def _ask_around(self, requests: Sequence[Request], is_whole: bool) -> list[Answer]:
        if not _restores.get() and node_urls.is_restoring(self.eid):
            raise Restoring(
                f"The embedded chain {self.eid} is being restored. Retry in a few seconds.",
                headers={"Retry-After": "2"},
            )
        behind: NodeBehind | None = None
        is_passing = False
        for node in nodes.in_turn(self.eid):
            try:
                await _introduce(self.eid, node)
                response = await pinned_reads.ask(self.eid, node, requests, is_whole=is_whole)
            except NodeBehind as fault:
                behind = fault
            except NodeFault as fault:
                node.failed(fault)
                is_passing = is_passing or fault.is_passing
                log.warning(
                    "rpc.call_failed", eid=self.eid, method=requests[0][0], fault=fault.why, failures=node.failures
                )
            else:
                node.answered()
                return response
        if behind is not None:
            raise BehindFloor(f"The node of the chain {self.eid} {behind.why}. Retry in a few seconds.")
        raise self._unavailable(Passing if is_passing else ChainUnavailable)

    def _unavailable(self, kind: type[ChainUnavailable]) -> ChainUnavailable:
        response = nodes.faulty(self.eid)
        why = response[-1].error if response and response[-1].error else "does not answer"
        rest = nodes.rest(self.eid)
        headers = {"Retry-After": str(math.ceil(rest))} if rest else None
        return kind(f"The node of the chain {self.eid} {why}.", headers=headers)

    def _result(self, answer: dict[str, Any]) -> Any:
        if answer.get("error") is None:
            return answer["result"]
        error = error_of(answer["error"], self.eid)
        if is_revert(error):
            raise reverted(error.data, error.message)
        log.info("rpc.error_returned", eid=self.eid, code=error.code, message=error.message)
        raise error

    def _result_or_error(self, answer: dict[str, Any]) -> Any:
        try:
            return self._result(answer)
        except (RpcError, Reverted) as error:
            return error

    async def read(self, name: str, to: str, function: str, *values: Any, block: int | None = None) -> Any:
        """Return the answer of a view function of the contract `name` at `to`, at a block or now."""
        return (await self.read_many([(name, to, function, *values)], block=block))[0]

    async def read_many(self, reads: Sequence[tuple[Any, ...]], *, block: int | None = None) -> list[Any]:
        """Read several `(contract, address, function, *arguments)` in one round trip."""
        requests = _calls(reads, "latest" if block is None else hex(block))
        return await self._decoded(reads, lambda: self.batch(requests))

    async def read_newest(
        self, reads: Sequence[tuple[Any, ...]], *, wanted: int | None = None
    ) -> tuple[list[Any], int]:
        """Read several values of the newest state, or at a `wanted` block if nodes keep its state; also return the
        number of the block that all of them come from."""
        if terms_of(self.eid).history != 0:
            try:
                block = await self.height() if wanted is None else wanted
                return await self.read_many(reads, block=block), block
            except RpcError as error:
                if not transport.is_pruned(error):
                    raise
        height: Request = ("eth_blockNumber", [])
        heights: list[int] = []

        async def ask() -> list[Any]:
            response = await self.together([height, *_calls(reads, "latest")])
            if response is None:
                raise UnexpectedAnswer(
                    f"The node of the chain {self.eid} keeps only the newest state and accepts no batches: the block "
                    "of an answer cannot be determined."
                )
            heights.append(int(response[0], 16))
            return response[1:]

        return await self._decoded(reads, ask), heights[-1]

    async def _decoded(self, reads: Sequence[tuple[Any, ...]], ask: Callable[[], Awaitable[list[Any]]]) -> list[Any]:
        ends = time.monotonic() + (0.0 if node_urls.is_embedded(self.eid) else max(_patience.get(), QUICK))
        for pause in _pauses():
            response = await ask()
            try:
                return [contract(read[0]).answer(read[2], answer) for read, answer in zip(reads, response, strict=True)]
            except (DecodingError, OverflowError):
                # If a machine is behind, or after a reorg, there is no contract at the address yet: the answer is
                # empty.
                if "0x" not in response or time.monotonic() + pause > ends:
                    break
            await asyncio.sleep(pause)
        raise UnexpectedAnswer(
            f"The node of the chain {self.eid} does not answer like the contract; it may be behind the chain."
        )

    async def simulate(self, call: Call, sender: str, block: str = "latest") -> str:
        """Return the result of a simulated call. Raises Reverted if it would fail."""
        return str(await self.request("eth_call", transaction(call, sender), block))

    async def height(self) -> int:
        """Return the number of the newest block; on a public chain never less than the floor."""
        height = int(await self.request("eth_blockNumber"), 16)
        return height if node_urls.is_embedded(self.eid) else max(height, floors.known(self.eid))

    def forget_height(self) -> None:
        """Make the next read of the newest state query a machine's height first, even if the last answer is recent."""
        pinned_reads.forget(self.eid)

    async def has_code(self, address: str) -> bool:
        """Return whether an address has a contract."""
        return str(await self.request("eth_getCode", address, "latest")) not in ("0x", "0x0")

    async def balance(self, address: str) -> int:
        """Return an account's native currency, wei."""
        return int(await self.request("eth_getBalance", address, "latest"), 16)


def _calls(reads: Sequence[tuple[Any, ...]], at: str) -> list[Request]:
    """Return reads as calls of the node, at a block."""
    return [
        ("eth_call", [{"to": to, "data": contract(name).data(function, *v)}, at]) for name, to, function, *v in reads
    ]


def transaction(call: Call, sender: str) -> dict[str, str]:
    """Return a call as the node's parameter."""
    fields = {"from": sender, "data": call.data, "value": hex(call.value)}
    return fields if call.to is None else {**fields, "to": call.to}


async def _introduce(eid: int, node: Node) -> None:
    """Verify a node's chain ID once before its first use. Raises NodeFault."""
    if node.is_known or node_urls.is_embedded(eid):
        return
    expected = await chain_ids.chain_id(eid)
    (answer,) = await transport.ask(node, [("eth_chainId", [])])
    if "result" not in answer:
        raise NodeFault("does not return its chain ID")
    response = int(answer["result"], 16)
    if response != expected:
        raise NodeFault(f"belongs to another chain: its chain ID is {response}, not {expected}")
    node.is_known = True


async def heights(eid: int) -> list[int | None]:
    """Return the newest block of each node of a chain; None if it does not answer. Each node's result is recorded."""
    return list(await asyncio.gather(*(_height(eid, node) for node in nodes.of(eid))))


async def _height(eid: int, node: Node) -> int | None:
    try:
        await _introduce(eid, node)
        response = await transport.ask(node, [("eth_blockNumber", [])])
        height = int(response[0]["result"], 16)
    except NodeFault as fault:
        node.failed(fault)
        return None
    except KeyError:  # its own error
        return None
    node.answered()
    return height


@contextmanager
def patience(seconds: float) -> Iterator[None]:
    """Retry a chain that does not answer for this long while inside: for workflows, which no caller waits for."""
    token = _patience.set(seconds)
    try:
        yield
    finally:
        _patience.reset(token)


@contextmanager
def restoring() -> Iterator[None]:
    """Call a chain that is being restored while inside; all other callers wait. Until its lost transactions are sent
    again, it would return an older state, on which nothing may be signed or estimated."""
    token = _restores.set(True)
    try:
        yield
    finally:
        _restores.reset(token)


def patience_here() -> float:
    """Return the current patience, in seconds."""
    return _patience.get()


def _pauses() -> Iterator[float]:
    pause = 0.1
    while True:
        yield pause
        pause = min(pause * 1.7, 3.0)


async def connect(eid: int) -> Rpc:
    """Return the nodes of a chain. Raises BadRequest with the reason if it has none."""
    if not node_urls.urls_of(eid):
        raise await _refusal(eid)
    return Rpc(eid)


async def _refusal(eid: int) -> BadRequest:
    async with db.worker() as session:
        found = sa.select(ChainRow).where(col(ChainRow.xchain_eid) == eid)
        row = (await session.execute(found)).scalar_one_or_none()
    if row is None:
        return BadRequest(f"There is no chain with the endpoint ID {eid} in the chain list.")
    if row.vm_type is VmType.SOLANA:
        return BadRequest(
            f"{row.display_name} runs the Solana VM. It is listed, but this operation needs an EVM chain."
        )
    return BadRequest(f"{row.display_name} is listed, but this installation has no node for it.")


async def native_balance(eid: int, address: str) -> int:
    """Return an account's native currency, wei."""
    return await (await connect(eid)).balance(address)
