"""What runs while the API serves, started and stopped in order."""

import asyncio
import importlib
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path

import httpx
import structlog

import backend.listeners  # noqa: F401  (whoever must hear of changes)
from backend import db, executors, queues, retention, sweep, workflows
from backend.auth import tokens
from backend.auth.secrets import verify_password
from backend.chain import endpoints, faults, preparing, recovery, rpc
from backend.chains import registry
from backend.errors import CannotStart
from backend.indexing import run_indexer
from backend.mail import sending
from backend.readiness import readiness
from backend.reconciliation import service as reconciliation
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
    url = settings.outside_database or _Database.url
    if url is None:
        raise RuntimeError("no database: set DATABASE_URL, or start with `signum serve`")
    return url


@asynccontextmanager
async def running(settings: Settings) -> AsyncIterator[None]:
    """Connections, signing keys, chains, workflow engine, indexer, in this order; the demo is made meanwhile."""
    url = database_url(settings)
    async with AsyncExitStack() as held:
        db.start(url)
        held.push_async_callback(db.stop)
        async with db.worker() as session:
            await tokens.load_keys(session)
        readiness.done("migrations")
        held.push_async_callback(rpc.close)
        await _prepare_chains()
        waiting = await _contracts(settings)
        load_workflows()
        name = executors.name_of("web")
        await held.enter_async_context(executors.present(url, name))
        await asyncio.to_thread(workflows.start, url, name, queues.queues_here())
        held.push_async_callback(asyncio.to_thread, workflows.stop)
        await queues.register_queues()
        await queues.register_webhooks()
        stopping = asyncio.Event()
        works = (
            run_indexer(stopping),
            preparing.run(stopping, waiting),
            executors.watch(stopping),
            sweep.run(stopping),
            reconciliation.nightly(stopping),
            retention.nightly(stopping),
            sending.run(stopping, settings),
            _demo(settings),
            _warm_up(),
        )
        for work in works:
            held.push_async_callback(_end, asyncio.create_task(work))
        held.callback(faults.forget)
        held.callback(stopping.set)
        yield


async def _end(task: asyncio.Task[None]) -> None:
    """Cancel a task and wait for its end; a fault of its own has been logged and must not stop the others' end."""
    task.cancel()
    with suppress(asyncio.CancelledError, Exception):
        await task


async def _warm_up() -> None:
    """What the first sign-in and the first signature would otherwise wait for."""
    await asyncio.to_thread(verify_password, "", None)
    await asyncio.to_thread(importlib.import_module, "eth_account")


async def _prepare_chains() -> None:
    """The registry's rows, and what a killed chain has lost. Raises CannotStart where the database is of others."""
    try:
        async with db.worker() as session:
            await registry.check(session)
            await registry.seed(session)
    except CannotStart as error:
        readiness.failure = str(error)
        raise
    await recovery.recover()
    readiness.done("chains")


async def _contracts(settings: Settings) -> list[int]:
    """Our contracts on the chains we start ourselves, for the demo needs them. A public one is ready when it answers
    and is funded, and nobody waits for that. The chains that are not ready yet."""
    if not settings.embedded_chains:
        return sorted(settings.rpc_urls)
    eids = sorted(endpoints.EMBEDDED)
    ready = await asyncio.gather(*(preparing.attempt(eid) for eid in eids))
    return [eid for eid, is_ready in zip(eids, ready, strict=True) if not is_ready]


async def _demo(settings: Settings) -> None:
    """Demo data on an empty database and embedded chains; a failure is told by `/v1/ready` and in the log."""
    if settings.demo and settings.embedded_chains:
        try:
            from backend.demo import story

            await story.ensure(settings)
        except Exception as error:
            log.exception("the demo could not be made")
            readiness.failure = f"The demo data could not be made: {error}"
            return
    readiness.done("demo data")


async def until_listening(settings: Settings) -> None:
    """Wait until the port answers."""
    host = "localhost" if settings.host in ("0.0.0.0", "::") else settings.host  # noqa: S104
    while True:
        with suppress(OSError):
            _, writer = await asyncio.open_connection(host, settings.port)
            writer.close()
            return
        await asyncio.sleep(0.02)


def load_workflows() -> None:
    """Import every vertical's workflow, which registers it with the engine."""
    for path in sorted(HERE.glob("*/workflow.py")):
        importlib.import_module(f"backend.{path.parent.name}.workflow")


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
