"""A receiver of webhooks: a real server on this machine that responds as a test configures it."""

import asyncio
import ssl
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

PATIENCE = 60.0
"""Seconds after which no request is expected any longer."""


@dataclass
class Received:
    """One request, as received."""

    line: str
    headers: dict[str, str]
    body: bytes

    @property
    def event(self) -> str:
        """`webhook-id`."""
        return self.headers["webhook-id"]


Answering = Callable[[Received, asyncio.StreamWriter], Awaitable[None]]


@dataclass
class Receiver:
    """Use as a context; `url` is where it listens, `received` the requests in order."""

    host: str = "127.0.0.1"
    received: list[Received] = field(default_factory=list)
    answering: Answering | None = None
    status: int = 200
    body: bytes = b"thanks"
    headers: str = ""
    tls: ssl.SSLContext | None = None

    async def __aenter__(self) -> "Receiver":
        self._came = asyncio.Condition()
        self._server = await asyncio.start_server(self._serve, self.host, 0, ssl=self.tls)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()

    @property
    def url(self) -> str:
        """Where to send to."""
        return f"http://{self.host}:{self.port}/hooks?from=signum"

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if await reader.read(1) != b"P":  # a client that uses TLS
            writer.write(b"HTTP/1.1 400 Plain\r\n\r\n")
            writer.close()
            return
        head = "P" + (await reader.readuntil(b"\r\n\r\n")).decode()
        line, *rest = head.strip().split("\r\n")
        headers = {k.lower(): v for k, v in (h.split(": ", 1) for h in rest)}
        body = await reader.readexactly(int(headers["content-length"]))
        request = Received(line, headers, body)
        async with self._came:
            self.received.append(request)
            self._came.notify_all()
        try:
            await (self.answering or self._answer)(request, writer)
        except ConnectionError:
            return
        finally:
            writer.close()

    async def _answer(self, request: Received, writer: asyncio.StreamWriter) -> None:
        head = f"HTTP/1.1 {self.status} Said\r\ncontent-length: {len(self.body)}\r\n{self.headers}\r\n"
        writer.write(head.encode() + self.body)
        await writer.drain()

    async def came(self, count: int = 1) -> list[Received]:
        """Wait for this many requests; return all of them."""
        async with asyncio.timeout(PATIENCE), self._came:
            await self._came.wait_for(lambda: len(self.received) >= count)
        return self.received
