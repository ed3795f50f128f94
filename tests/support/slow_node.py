"""A node that answers a call only when a test lets it."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field


@dataclass
class SlowNode:
    """Holds calls of `held` methods; `until` waits for what has arrived."""

    url: str = ""
    held: set[str] = field(default_factory=set)
    arrived: list[str] = field(default_factory=list)
    """Methods in the order of their arrival."""
    _let: int = 0
    _changed: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def until(self, method: str, count: int) -> None:
        """Return when this many calls of a method have arrived."""
        async with asyncio.timeout(30), self._changed:
            await self._changed.wait_for(lambda: self.arrived.count(method) >= count)

    async def release(self) -> None:
        """Answer every held call, and hold none from now on."""
        self.held.clear()
        async with self._changed:
            self._changed.notify_all()

    async def release_one(self) -> None:
        """Answer one held call."""
        async with self._changed:
            self._let += 1
            self._changed.notify_all()

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection."""
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).lower()
                length = int(head.partition(b"content-length:")[2].partition(b"\r\n")[0])
                calls = json.loads(await reader.readexactly(length))
                await self._answer(calls[0]["method"])
                body = json.dumps([{"jsonrpc": "2.0", "id": call["id"], "result": "0x1"} for call in calls]).encode()
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _answer(self, method: str) -> None:
        async with self._changed:
            self.arrived.append(method)
            self._changed.notify_all()
            await self._changed.wait_for(lambda: method not in self.held or self._let > 0)
            self._let -= method in self.held


@asynccontextmanager
async def slow_node(*held: str) -> AsyncIterator[SlowNode]:
    """A slow node on a port of its own."""
    node = SlowNode(held=set(held))
    server = await asyncio.start_server(node.handle, "127.0.0.1", 0)
    node.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield node
    finally:
        await node.release()
        server.close()
