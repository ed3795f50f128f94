"""Health endpoints of a worker, which has no API: `/v1/health` and `/v1/ready`, with the answers of the API's."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from http import HTTPStatus

import orjson

from backend.core.errors import CannotStart
from backend.core.settings import Settings
from backend.status import checks
from backend.status.schemas import Health

DEADLINE = 5.0
"""Seconds within which a request must arrive."""


@asynccontextmanager
async def serving(settings: Settings) -> AsyncIterator[None]:
    """Answer on the configured port while inside; do nothing without one."""
    port = settings.worker_health_port
    if port is None:
        yield
        return
    try:
        server = await asyncio.start_server(_answer, settings.worker_health_host, port, limit=8_192)
    except OSError as error:
        where = f"{settings.worker_health_host}:{port}"
        raise CannotStart(f"The health port {where} cannot be used: {error.strerror}.") from error
    try:
        yield
    finally:
        server.close()
        await checks.close()


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError, ValueError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        async with asyncio.timeout(DEADLINE):
            head = await reader.readuntil(b"\r\n\r\n")
        status, body = await _result(head.partition(b"\r\n")[0].decode("ascii", "replace").split(" "))
        writer.write(
            f"HTTP/1.1 {status.value} {status.phrase}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode()
            + body
        )
        await writer.drain()
    writer.close()


async def _result(line: list[str]) -> tuple[HTTPStatus, bytes]:
    match line[:2]:
        case ["GET", "/v1/health"]:
            return HTTPStatus.OK, orjson.dumps(Health().model_dump())
        case ["GET", "/v1/ready"]:
            ready = await checks.ready()
            status = HTTPStatus.OK if ready.ready else HTTPStatus.SERVICE_UNAVAILABLE
            return status, orjson.dumps(ready.model_dump())
    return HTTPStatus.NOT_FOUND, b"{}"
