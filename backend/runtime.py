"""What runs while the API serves, started and stopped in order."""

import asyncio
import importlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import httpx
import structlog

from backend import db, workflows
from backend.auth import tokens
from backend.readiness import readiness
from backend.settings import Settings

log = structlog.get_logger()
HERE = Path(__file__).resolve().parent


class _Database:
    url: str | None = None


def use_database(url: str) -> None:
    """The owner's URL, where the supervisor started the server itself."""
    _Database.url = url


def database_url(settings: Settings) -> str:
    """The owner's URL."""
    url = settings.database_url or _Database.url
    if url is None:
        raise RuntimeError("no database: set DATABASE_URL, or start with `signum serve`")
    return url


@asynccontextmanager
async def running(settings: Settings) -> AsyncIterator[None]:
    """Connections, signing keys, workflow engine, watchers of the chains; the demo is made meanwhile."""
    url = database_url(settings)
    db.start(url)
    async with db.transaction() as session:
        await tokens.load_keys(session)
    load_workflows()
    await asyncio.to_thread(workflows.start, url)
    await workflows.register_queues()
    tasks = [asyncio.create_task(_prepare(settings))]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        await asyncio.to_thread(workflows.stop)
        await db.stop()


def load_workflows() -> None:
    """Import every vertical's workflow, which registers it with the engine."""
    for path in sorted(HERE.glob("*/workflow.py")):
        importlib.import_module(f"backend.{path.parent.name}.workflow")


async def _prepare(settings: Settings) -> None:
    """Chains, contracts, demo; each is told to `/v1/ready`."""
    readiness.done("migrations")
    for name in ("chains", "contracts", "demo data"):
        readiness.done(name)


def local_transport(app: object) -> httpx.ASGITransport:
    """Reach an application in this process."""
    return httpx.ASGITransport(app=app, raise_app_exceptions=False)  # type: ignore[arg-type]


async def until_ready(seconds: float = 120) -> None:
    """Wait until everything is prepared."""
    async with asyncio.timeout(seconds):
        while not readiness.is_ready:
            if readiness.failure:
                raise RuntimeError(readiness.failure)
            await asyncio.sleep(0.02)
