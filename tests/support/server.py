"""The tests' API on a separate port, for programs outside this process."""

import asyncio
import os
import secrets
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import httpx
from granian.constants import Interfaces
from granian.log import LogLevels
from granian.server.embed import Server


def free_port() -> int:
    """Return a free port. It is below the range from which systems give ports to outgoing connections, so that none of
    those takes it before the server does."""
    while True:
        port = 20_000 + secrets.randbelow(10_000)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


@asynccontextmanager
async def served(app: Any, connections: int = 128) -> AsyncIterator[str]:
    """The application's origin, while it is served on at most so many connections at a time."""
    port = free_port()
    server = Server(
        app,
        address="127.0.0.1",
        port=port,
        interface=Interfaces.ASGINL,
        log_level=LogLevels.warning,
        backpressure=connections,
    )
    running = asyncio.create_task(server.serve())
    url = f"http://127.0.0.1:{port}"
    async with httpx.AsyncClient(trust_env=False) as client, asyncio.timeout(60):
        while True:
            try:
                await client.get(f"{url}/v1/health")
                break
            except httpx.TransportError:
                await asyncio.sleep(0.01)
    yield url
    server.stop()
    await running


def environment(url: str, **more: str) -> dict[str, str]:
    """Return the environment that a program needs to find it."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("SIGNUM_")}
    return kept | {"SIGNUM_URL": url} | more
