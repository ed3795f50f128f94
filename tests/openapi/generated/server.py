"""`signum serve` for generated requests, with a separate database and chains."""

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import httpx

from backend.core.connections import database
from backend.core.settings import settings
from backend.installation import ROOT as CHECKOUT
from backend.migrations.migrate import migrate
from backend.server.postgres import EmbeddedPostgres

START = 300
"""Seconds for a start that builds the console."""
FIRST_EVENT = 0.2
"""Seconds for which a stream is read. Streams of a server stay open."""
from tests.support.night import NIGHT


class Beginning(httpx.AsyncByteStream):
    """The beginning of a stream."""

    def __init__(self, whole: httpx.AsyncByteStream) -> None:
        self._whole = whole

    async def __aiter__(self) -> AsyncIterator[bytes]:
        with suppress(TimeoutError):
            async with asyncio.timeout(FIRST_EVENT):
                async for part in self._whole:
                    yield part

    async def aclose(self) -> None:
        await self._whole.aclose()


class BriefStreams(httpx.AsyncHTTPTransport):
    """Reads what a stream of events begins with, then closes it."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        response = await super().handle_async_request(request)
        if response.headers.get("content-type", "").startswith("text/event-stream"):
            assert isinstance(response.stream, httpx.AsyncByteStream)
            response.stream = Beginning(response.stream)
        return response


@asynccontextmanager
async def serving(folder: Path) -> AsyncIterator[None]:
    """Serve at this process's `settings().origin`. Rate limits are off: generated requests come too fast."""
    postgres = EmbeddedPostgres(folder / "pg")
    url = await asyncio.to_thread(postgres.start)
    try:
        await asyncio.to_thread(migrate, url)
        kept = {k: v for k, v in os.environ.items() if not k.startswith("SIGNUM_")} | NIGHT
        own = {"DATABASE_URL": url, "SIGNUM_HOME": str(folder), "SIGNUM_DEMO": "0", "SIGNUM_RATE_LIMITS": "off"}
        with (folder / "server.log").open("wb") as log:
            process = subprocess.Popen(  # noqa: ASYNC220  (it starts immediately)
                [sys.executable, "-m", "backend.cli", "serve"],
                cwd=CHECKOUT,
                env=kept | own,
                stdout=log,
                stderr=log,
            )
        try:
            await _until_ready(process)
            database.start(url)
            yield
            await database.stop()
        finally:
            process.terminate()
            await asyncio.to_thread(process.wait, 60)
    finally:
        await asyncio.to_thread(postgres.stop)


async def _until_ready(process: "subprocess.Popen[bytes]") -> None:
    async with httpx.AsyncClient(trust_env=False, base_url=settings().origin) as client, asyncio.timeout(START):
        while True:
            if process.poll() is not None:
                raise RuntimeError(f"The server ended with {process.returncode} while it started.")
            try:
                if (await client.get("/v1/ready")).status_code == httpx.codes.OK:
                    return
            except httpx.TransportError:
                pass
            await asyncio.sleep(0.1)
