"""A node pool: one RPC URL with several machines behind it, in front of a real anvil.

It answers as public RPC URLs do: each request may reach another machine, each machine has a head of its own, and the
provider limits what can be asked. `PoolOptions` says what a pool does; `NodePool.become` changes it at any time. Tests
use anvil itself, beside the pool, by `NodePool.node`. Blocks come from the pool alone: with a transaction
(`PoolOptions.automine`), with requests (`PoolOptions.mines_every`), by `mine`, or by the clock (`keep_mining`).
"""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import orjson

from backend.chain.rpc.node_urls import EmbeddedNodes
from backend.chain.rpc.nodes import NodeList
from backend.core.runtime import runtime
from tests.support.node_pool import refusals
from tests.support.node_pool.anvil import Anvil
from tests.support.node_pool.branches import Branch, Json
from tests.support.node_pool.machines import Machine
from tests.support.node_pool.options import Batches, PoolOptions
from tests.support.node_pool.refusals import Refusal
from tests.support.node_pool.views import View

CONTROLS = ("anvil_", "evm_", "txpool_", "net_", "web3_")
"""Methods outside the chain's own: they reach anvil unchanged."""


@dataclass(frozen=True)
class Asked:
    """A call that reached a machine, and the machine's height then."""

    machine: int
    height: int
    method: str
    parameters: Sequence[Any]


class NodePool:
    """Serves one URL. `asked` lists the calls that reached a machine; `requests` counts all calls, and `sent` the
    transactions."""

    def __init__(self, target: str, options: PoolOptions) -> None:
        self.node = Anvil(target)
        self.options = options
        self.asked: list[Asked] = []
        self.url = ""
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.StreamWriter] = set()
        self._mining: asyncio.Task[None] | None = None
        self._funded: dict[str, int] = {}
        self.requests = self.sent = 0
        self._in_flight = 0
        self._idle = asyncio.Condition()
        self._ended = asyncio.Event()
        self._begin()

    def _begin(self) -> None:
        options = self.options
        self._dice = Random(options.seed)
        count = len(options.lags) if options.lags is not None else options.machines
        self.machines = [Machine(number, options, self.node) for number in range(count)]
        if options.syncing_at is not None:
            self.machines.append(Machine(count, options, self.node, options.syncing_at))

    async def start(self, port: int = 0) -> None:
        """Serve on a port of this machine, a free one by default."""
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", port)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        await self.node.call("evm_setAutomine", False)

    async def stop(self) -> None:
        """Close the URL and restore anvil: it mines each transaction that it receives."""
        self._ended.set()
        self.stop_mining()
        if self._server is not None:
            self._server.close()
        for writer in list(self._connections):
            writer.close()
        with contextlib.suppress(Refusal):
            await self.node.call("evm_setAutomine", True)
            await self.node.call("anvil_mine", "0x1")
        await self.node.close()

    def become(self, **changes: Any) -> None:
        """Change the options and reset the machines."""
        self.options = replace(self.options, **changes)
        self._begin()

    def reset(self, **options: Any) -> None:
        """Become a single healthy machine again, with some options, and reset the machines."""
        self.options = PoolOptions(**options)
        self._begin()

    async def fund(self, address: str, wei: int = 10**21) -> None:
        """Set an account's native balance, and mine a block that has it. A reorg does not take it back."""
        self._funded[address] = wei
        await self.node.call("anvil_setBalance", address, hex(wei))
        await self.mine()

    async def mine(self, blocks: int = 1) -> None:
        """Mine blocks now."""
        await self.node.call("anvil_mine", hex(blocks))

    def keep_mining(self, seconds: float, requests: int = 0, at_most: float = 0) -> None:
        """Mine a block at this interval in seconds, until the pool is stopped.

        A block also waits until `requests` have come since the last one, but `at_most` seconds: a slow machine, which
        asks less often, then has as many requests for each block as a fast one.
        """

        async def mine() -> None:
            while True:
                until, last = self.requests + requests, time.monotonic() + at_most
                await asyncio.sleep(seconds)
                while self.requests < until and time.monotonic() < last:  # noqa: ASYNC110 - others ask
                    await asyncio.sleep(seconds / 5)
                async with self._stopped():
                    await self.mine()

        self.stop_mining()
        self._mining = asyncio.create_task(mine())

    def stop_mining(self) -> None:
        """Stop mining by the clock."""
        if self._mining is not None:
            self._mining.cancel()
            self._mining = None

    async def reorg(self, depth: int, returned: float | None = None) -> None:
        """Replace the newest `depth` blocks by one more block than before.

        A share of their transactions returns to the mempool and is mined on the new branch, in one of its blocks; the
        others are lost until someone sends them again. The machines switch over one by one
        (`PoolOptions.switches_within`).
        """
        async with self._stopped():
            await self._reorganize(depth, self.options.returned if returned is None else returned)

    async def replace(self, block: int, returned: float) -> None:
        """Replace a block and all above it, however many there are by now."""
        async with self._stopped():
            await self._reorganize(await self.node.height() - block + 1, returned)

    async def _reorganize(self, depth: int, share: float) -> None:
        branch = await Branch.recorded(self.node, depth)
        await self.node.call("anvil_setCoinbase", f"0x{self._dice.getrandbits(160):040x}")
        await self._roll_back(branch)
        empty = self._dice.randint(0, depth)
        if empty:
            await self.mine(empty)
        for raw in branch.raw:
            if self._dice.random() < share:
                with contextlib.suppress(Refusal):
                    await self.node.call("eth_sendRawTransaction", raw)
        await self.mine(depth + 1 - empty)
        for machine in self.machines:
            machine.reorganized(branch)

    async def _roll_back(self, branch: Branch) -> None:
        """Undo blocks. Anvil loses the code of all contracts if it has to read the state from its disk, which is 10 to
        500 blocks below the head: the code is set again."""
        logs = await self.node.call("eth_getLogs", {"fromBlock": "0x0", "toBlock": hex(branch.fork)})
        contracts = sorted({entry["address"] for entry in logs})
        codes = await self.node.batch([("eth_getCode", [address, "latest"]) for address in contracts])
        await self.node.call("anvil_rollback", branch.tip - branch.fork)
        left = await self.node.batch([("eth_getCode", [address, "latest"]) for address in contracts])
        lost = [(address, code) for address, code, now in zip(contracts, codes, left, strict=True) if now == "0x"]
        await self.node.batch([("anvil_setCode", [address, code]) for address, code in lost if code != "0x"])
        balances = await self.node.batch([("eth_getBalance", [address, "latest"]) for address in self._funded])
        poor = [address for address, reply in zip(self._funded, balances, strict=True) if int(reply, 16) == 0]
        await self.node.batch([("anvil_setBalance", [address, hex(self._funded[address])]) for address in poor])

    @asynccontextmanager
    async def _stopped(self) -> AsyncIterator[None]:
        """No request is answered during this, so that no response mixes both branches."""
        async with self._idle:
            await self._idle.wait_for(lambda: self._in_flight == 0)
            yield

    # HTTP

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._connections.add(writer)
        try:
            while length := await _length(reader):
                answer = await self._served(orjson.loads(await reader.readexactly(length)))
                if answer is None:
                    break
                writer.write(answer)
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            self._connections.discard(writer)
            writer.close()

    async def _served(self, body: Any) -> bytes | None:
        """Return the response to a request; None closes the connection without one."""
        self.requests += 1
        if self.options.mines_every and self.requests % self.options.mines_every == 0:
            async with self._stopped():
                await self.mine()
        async with self._idle:
            self._in_flight += 1
        try:
            answer = await self._response(body)
        finally:
            async with self._idle:
                self._in_flight -= 1
                self._idle.notify_all()
        if answer is None and (self.options.hangs or self.options.stuck):
            await self._ended.wait()
        return answer

    async def _response(self, body: Any) -> bytes | None:
        if self._happens(self.options.rate_limited):
            text = b'{"jsonrpc":"2.0","id":null,"error":{"code":-32005,"message":"rate limit exceeded"}}'
            return _http(429, text, ("Retry-After", str(self.options.retry_after)))
        if self._happens(self.options.gateway_errors):
            return _http(502, b"<html><h1>502 Bad Gateway</h1></html>", ("Content-Type", "text/html"))
        if isinstance(body, list):
            refused = self._refused(body)
            if refused is not None:
                return refused
        calls = body if isinstance(body, list) else [body]
        if self.options.stuck and any(call["method"] in self.options.stuck for call in calls):
            self.asked += [Asked(-1, 0, call["method"], call.get("params", [])) for call in calls]
            return None
        answers = await self._answers(calls)
        if any(call["method"] == "eth_sendRawTransaction" for call in calls) and self._happens(self.options.lost):
            return None
        return _http(200, orjson.dumps(answers if isinstance(body, list) else answers[0]))

    def _happens(self, share: float) -> bool:
        return share > 0 and self._dice.random() < share

    def _refused(self, calls: Sequence[Json]) -> bytes | None:
        """Return the response to a batch that is not supported, or is too long."""
        if self.options.batches is Batches.HTTP_400:
            return _http(400, b"Batch requests are not supported")
        most = self.options.most_calls
        if self.options.batches is Batches.ANSWERED and (most is None or len(calls) <= most):
            return None
        error = (
            refusals.no_batches()
            if self.options.batches is not Batches.ANSWERED
            else refusals.batch_too_large(most or 0)
        )
        reply = {"jsonrpc": "2.0", "id": None, "error": error.error}
        return _http(200, orjson.dumps([reply] if self.options.batches is Batches.ERROR_LIST else reply))

    # Machines

    async def _answers(self, calls: Sequence[Json]) -> list[Json]:
        head = await self.node.height()
        groups = [[call] for call in calls] if self.options.splits_batches else [list(calls)]
        answers: list[Json] = []
        for group in groups:
            machine = self._machine([call["method"] for call in group])
            view = machine.advance(head)
            answers += await asyncio.gather(*(self._answer(machine.number, view, call) for call in group))
        return answers

    def _machine(self, methods: Sequence[str]) -> Machine:
        routed = [self.options.routes[method] for method in methods if method in self.options.routes]
        return self.machines[routed[0]] if routed else self._dice.choice(self.machines)

    async def _answer(self, machine: int, view: View, call: Json) -> Json:
        reply = {"jsonrpc": "2.0", "id": call.get("id")}
        parameters = call.get("params", [])
        self.sent += call["method"] == "eth_sendRawTransaction"
        self.asked.append(Asked(machine, view.height, call["method"], parameters))
        try:
            if call["method"].startswith(CONTROLS):
                return reply | {"result": await self.node.call(call["method"], *parameters)}
            return reply | {"result": await view.answer(call["method"], parameters)}
        except Refusal as refusal:
            return reply | {"error": refusal.error}


async def _length(reader: asyncio.StreamReader) -> int:
    head = await reader.readuntil(b"\r\n\r\n")
    lines = head.decode().lower().split("\r\n")
    return next((int(line.split(":")[1]) for line in lines if line.startswith("content-length:")), 0)


def _http(status: int, body: bytes, *headers: tuple[str, str]) -> bytes:
    reply = dict((("Content-Type", "application/json"), *headers)) | {"Content-Length": str(len(body))}
    lines = "".join(f"{name}: {value}\r\n" for name, value in reply.items())
    return f"HTTP/1.1 {status} Answer\r\n{lines}\r\n".encode() + body


@asynccontextmanager
async def in_front_of(eid: int, options: PoolOptions | None = None) -> AsyncIterator[NodePool]:
    """A pool that replaces an embedded chain's node."""
    urls = runtime.part(EmbeddedNodes).urls
    before = urls[eid]
    pool = NodePool(before, options or PoolOptions())
    await pool.start()
    urls[eid] = pool.url
    runtime.reset(NodeList)
    try:
        yield pool
    finally:
        urls[eid] = before
        runtime.reset(NodeList)
        await pool.stop()
