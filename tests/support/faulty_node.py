"""A JSON-RPC node with faults on demand, in front of a real one."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx

from backend.chain.rpc.node_urls import EmbeddedNodes
from backend.chain.rpc.nodes import NodeList
from backend.core.runtime import runtime

Json = dict[str, Any]


@dataclass(frozen=True)
class Raw:
    """A whole HTTP response that replaces JSON-RPC."""

    status: int = 200
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()


HANG = Raw(0)
"""No response: the connection stays open."""
SILENT = Raw(-1)
"""The call is passed on, and the response lost."""

Fault = Callable[[Json], "Json | Raw | None"]
"""The response to a call that replaces the node's own; None passes the call on."""


@dataclass
class Faulty:
    """Counts calls; `fault` decides their outcome."""

    target: str
    url: str = ""
    asked: list[str] = field(default_factory=list)
    calls: list[Json] = field(default_factory=list)
    """The calls, with all parameters."""
    _faults: list[Fault] = field(default_factory=list)
    _gates: dict[str, tuple[asyncio.Event, asyncio.Event, int]] = field(default_factory=dict)
    _held: asyncio.Event = field(default_factory=asyncio.Event)

    def does(self, fault: Fault) -> None:
        """Use this fault from now on."""
        self._faults.append(fault)

    def answers(self, method: str, result: Any, times: int = 10**9) -> None:
        """Replace the response to a method, a number of times."""
        left = [times]

        def fault(call: Json) -> Json | Raw | None:
            if call["method"] != method or left[0] <= 0:
                return None
            left[0] -= 1
            return result if isinstance(result, Raw) else {"result": result}

        self.does(fault)

    def refuses(self, method: str, code: int, message: str, times: int = 10**9) -> None:
        """Respond to a method with a JSON-RPC error."""
        left = [times]

        def fault(call: Json) -> Json | None:
            if call["method"] != method or left[0] <= 0:
                return None
            left[0] -= 1
            return {"error": {"code": code, "message": message}}

        self.does(fault)

    def waits(self, method: str, reached: asyncio.Event, released: asyncio.Event, times: int) -> None:
        """Hold calls of a method; `reached` is set when this many wait."""
        self._gates[method] = (reached, released, times)

    def heals(self) -> None:
        """Remove the fault."""
        self._faults.clear()

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection."""
        try:
            while length := await _length(reader):
                body = json.loads(await reader.readexactly(length))
                answer = await (self._answer(body) if isinstance(body, list) else self._alone(body))
                if answer is None:
                    break
                writer.write(answer)
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _alone(self, call: Json) -> bytes | None:
        """Return the response to a call outside a batch."""
        reply = await self._answer([call])
        if reply is None or not reply.endswith(b"]"):
            return reply
        (answer,) = json.loads(reply.partition(b"\r\n\r\n")[2])
        return _http(Raw(200, json.dumps(answer).encode()))

    async def _answer(self, calls: Sequence[Json]) -> bytes | None:
        self.asked += [call["method"] for call in calls]
        self.calls += calls
        for call in calls:
            await self._hold(call["method"])
        decided = [self._decide(call) for call in calls]
        whole = next((answer for answer in decided if isinstance(answer, Raw)), None)
        if whole is HANG:
            await self._held.wait()
            return None
        if whole is not None and whole is not SILENT:
            return _http(whole)
        passed = [call for call, answer in zip(calls, decided, strict=True) if answer is None or answer is SILENT]
        # Without TLS: to read the certificates for each call takes longer than the call.
        async with httpx.AsyncClient(timeout=30, trust_env=False, verify=False) as client:
            reply = (await client.post(self.target, json=passed)).json() if passed else []
        if whole is SILENT:
            return None
        reply += [{"jsonrpc": "2.0", "id": c["id"], **a} for c, a in zip(calls, decided, strict=True) if a is not None]
        return _http(Raw(200, json.dumps(reply).encode()))

    async def _hold(self, method: str) -> None:
        if method in self._gates:
            reached, released, times = self._gates[method]
            if self.asked.count(method) >= times:
                reached.set()
            await released.wait()

    def _decide(self, call: Json) -> Any:
        return next((answer for fault in self._faults if (answer := fault(call)) is not None), None)

    def release(self) -> None:
        """Release every held call."""
        self._held.set()


async def _length(reader: asyncio.StreamReader) -> int:
    head = await reader.readuntil(b"\r\n\r\n")
    lines = head.decode().lower().split("\r\n")
    return next((int(line.split(":")[1]) for line in lines if line.startswith("content-length:")), 0)


def _http(answer: Raw) -> bytes:
    headers = (("Content-Type", "application/json"), ("Content-Length", str(len(answer.body))), *answer.headers)
    reply = "".join(f"{name}: {value}\r\n" for name, value in headers)
    return f"HTTP/1.1 {answer.status} Faulty\r\n{reply}\r\n".encode() + answer.body


@asynccontextmanager
async def in_front_of(eid: int) -> AsyncIterator[Faulty]:
    """A faulty node that replaces a chain's own."""
    urls = runtime.part(EmbeddedNodes).urls
    before = urls[eid]
    faulty = Faulty(before)
    server = await asyncio.start_server(faulty.handle, "127.0.0.1", 0)
    faulty.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    urls[eid] = faulty.url
    runtime.reset(NodeList)
    try:
        yield faulty
    finally:
        urls[eid] = before
        runtime.reset(NodeList)
        faulty.release()
        server.close()
