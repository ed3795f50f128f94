"""A JSON-RPC node that does wrong on demand, in front of a real one."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx

from backend.chain import endpoints, nodes

Told = dict[str, Any]


@dataclass(frozen=True)
class Raw:
    """A whole HTTP answer in the place of JSON-RPC."""

    status: int = 200
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()


HANG = Raw(0)
"""No answer at all: the connection stays open."""
SILENT = Raw(-1)
"""The call is passed on, and the answer lost."""

Fault = Callable[[Told], "Told | Raw | None"]
"""What is answered to a call in the place of the node's own answer; None passes it on."""


@dataclass
class Faulty:
    """Counts what it is asked; `fault` decides what becomes of a call."""

    target: str
    url: str = ""
    asked: list[str] = field(default_factory=list)
    calls: list[Told] = field(default_factory=list)
    """What it was asked, with all parameters."""
    _faults: list[Fault] = field(default_factory=list)
    _gates: dict[str, tuple[asyncio.Event, asyncio.Event, int]] = field(default_factory=dict)
    _held: asyncio.Event = field(default_factory=asyncio.Event)

    def does(self, fault: Fault) -> None:
        """Do this wrong from now on."""
        self._faults.append(fault)

    def answers(self, method: str, result: Any, times: int = 10**9) -> None:
        """Lie: answer a method so, a number of times."""
        left = [times]

        def fault(call: Told) -> Told | Raw | None:
            if call["method"] != method or left[0] <= 0:
                return None
            left[0] -= 1
            return result if isinstance(result, Raw) else {"result": result}

        self.does(fault)

    def refuses(self, method: str, code: int, message: str, times: int = 10**9) -> None:
        """Answer a method with an error of JSON-RPC."""
        left = [times]

        def fault(call: Told) -> Told | None:
            if call["method"] != method or left[0] <= 0:
                return None
            left[0] -= 1
            return {"error": {"code": code, "message": message}}

        self.does(fault)

    def waits(self, method: str, reached: asyncio.Event, go_on: asyncio.Event, times: int) -> None:
        """Hold calls of a method back; `reached` is set when so many wait."""
        self._gates[method] = (reached, go_on, times)

    def heals(self) -> None:
        """Do right again."""
        self._faults.clear()

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection."""
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

    async def _alone(self, call: Told) -> bytes | None:
        """The answer to a call that is no batch."""
        told = await self._answer([call])
        if told is None or not told.endswith(b"]"):
            return told
        (answer,) = json.loads(told.partition(b"\r\n\r\n")[2])
        return _http(Raw(200, json.dumps(answer).encode()))

    async def _answer(self, calls: Sequence[Told]) -> bytes | None:
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
        async with httpx.AsyncClient(timeout=30, trust_env=False) as client:
            told = (await client.post(self.target, json=passed)).json() if passed else []
        if whole is SILENT:
            return None
        told += [{"jsonrpc": "2.0", "id": c["id"], **a} for c, a in zip(calls, decided, strict=True) if a is not None]
        return _http(Raw(200, json.dumps(told).encode()))

    async def _hold(self, method: str) -> None:
        if method in self._gates:
            reached, go_on, times = self._gates[method]
            if self.asked.count(method) >= times:
                reached.set()
            await go_on.wait()

    def _decide(self, call: Told) -> Any:
        return next((answer for fault in self._faults if (answer := fault(call)) is not None), None)

    def release(self) -> None:
        """Let go of every call that hangs."""
        self._held.set()


async def _length(reader: asyncio.StreamReader) -> int:
    head = await reader.readuntil(b"\r\n\r\n")
    lines = head.decode().lower().split("\r\n")
    return next((int(line.split(":")[1]) for line in lines if line.startswith("content-length:")), 0)


def _http(answer: Raw) -> bytes:
    headers = (("Content-Type", "application/json"), ("Content-Length", str(len(answer.body))), *answer.headers)
    told = "".join(f"{name}: {value}\r\n" for name, value in headers)
    return f"HTTP/1.1 {answer.status} Told\r\n{told}\r\n".encode() + answer.body


@asynccontextmanager
async def in_front_of(eid: int) -> AsyncIterator[Faulty]:
    """A node that may do wrong, in the place of a chain's own."""
    before = endpoints._running[eid]
    faulty = Faulty(before)
    server = await asyncio.start_server(faulty.handle, "127.0.0.1", 0)
    faulty.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    endpoints._running[eid] = faulty.url
    nodes._nodes.clear()
    try:
        yield faulty
    finally:
        endpoints._running[eid] = before
        nodes._nodes.clear()
        faulty.release()
        server.close()
