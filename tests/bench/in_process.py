"""An API in the benchmark's process, on a database and chains of its own."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx

from backend.api import create_api
from backend.chain.devnet import anvil
from backend.core.settings import settings
from backend.migrations.migrate import migrate
from backend.server import runtime
from backend.server.postgres import EmbeddedPostgres
from backend.server.serving import trim_memory
from tests.conftest import HOME

Rows = list[dict[str, Any]]


def run(measured: Callable[[str], Awaitable[Rows]]) -> Rows:
    """Return what is measured on a new database; `measured` receives its URL."""
    server = EmbeddedPostgres(HOME / "pg")
    url = server.start()
    anvil.start(HOME)

    async def measuring() -> Rows:
        return await measured(url)

    try:
        migrate(url)
        runtime.use_database(url)
        return asyncio.run(measuring())
    finally:
        anvil.stop()
        server.stop()


@asynccontextmanager
async def api() -> AsyncIterator[httpx.AsyncBaseTransport]:
    """Run an API; yield the transport of clients that call it."""
    app = create_api()
    async with runtime.running(settings()):
        await runtime.until_ready()
        trim_memory()  # as a server does
        yield runtime.local_transport(app)
