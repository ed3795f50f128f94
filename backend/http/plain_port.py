"""A port for machines that read the state of a process: one GET request per connection."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from http import HTTPStatus

from backend.core.errors import CannotStart

DEADLINE = 5.0
"""Seconds within which a request must arrive."""


@dataclass(frozen=True)
class Reply:
    """An answer."""

    body: bytes = b"{}"
    status: HTTPStatus = HTTPStatus.OK
    content_type: str = "application/json"


NOT_FOUND = Reply(status=HTTPStatus.NOT_FOUND)
Answer = Callable[[str], Awaitable[Reply]]
"""Returns the reply to a GET of a path."""


@asynccontextmanager
async def listening(host: str, port: int, name: str, answer: Answer) -> AsyncIterator[None]:
    """Answer on a port while inside. `name` is that of the port. Raises CannotStart if the port cannot be used."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, ValueError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            await _serve(reader, writer, answer)
        writer.close()

    try:
        server = await asyncio.start_server(serve, host, port, limit=8_192)
    except OSError as error:
        raise CannotStart(f"The {name} {host}:{port} cannot be used: {error.strerror}.") from error
    try:
        yield
    finally:
        server.close()


async def _serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, answer: Answer) -> None:
    async with asyncio.timeout(DEADLINE):
        head = await reader.readuntil(b"\r\n\r\n")
    match head.partition(b"\r\n")[0].decode("ascii", "replace").split(" "):
        case ["GET", path, *_]:
            reply = await answer(path.partition("?")[0])
        case _:
            reply = NOT_FOUND
    lines = f"Content-Type: {reply.content_type}\r\nContent-Length: {len(reply.body)}\r\nConnection: close\r\n\r\n"
    writer.write(f"HTTP/1.1 {reply.status.value} {reply.status.phrase}\r\n{lines}".encode() + reply.body)
    await writer.drain()
