"""Background tasks of the server, started and stopped in order."""

import asyncio
import importlib
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import sqlalchemy as sa
import structlog
from fastapi import FastAPI

import backend.registrations.listeners  # noqa: F401  (listeners to changes)
from backend.attempts import service as attempts
from backend.auth import tokens
from backend.auth.secrets import verify_password
from backend.chain import chain_list, devnet_faults
from backend.chain.deployment import preparation
from backend.chain.rpc import json_rpc, node_urls
from backend.chain.signing.wallet_provider import keystore
from backend.chain.transactions import recovery
from backend.core import db, threads
from backend.core.connections import database
from backend.core.errors import CannotStart
from backend.core.readiness import readiness
from backend.core.runtime import runtime
from backend.core.settings import Settings
from backend.core.threads import Work
from backend.distributions import retention as drafts
from backend.engine import engine, executors, queue_wakeup, queues, retention, schedules
from backend.live_updates import hints
from backend.mail import delivery
from backend.metrics import exposition
from backend.notifications import digest
from backend.reconciliation import service as reconciliation
from backend.registrations.event_streams import run_indexer
from backend.secret_keys import data_keys
from backend.secret_keys import retention as old_keys
from backend.server import sweep

log = structlog.get_logger()
BACKEND = Path(__file__).resolve().parents[1]


@dataclass
class StartedDatabase:
    """The database that the supervisor of this process has started."""

    url: str | None = field(default=None, repr=False)
    """The owner's."""


def use_database(url: str) -> None:
    """Set the owner's URL of a database that the supervisor started."""
    runtime.part(StartedDatabase).url = url


def database_url(settings: Settings) -> str:
    """Return the owner's URL."""
    url = settings.outside_database or runtime.part(StartedDatabase).url
    if url is None:
        raise RuntimeError("no database: set DATABASE_URL, or start with `signum serve`")
    return url


@asynccontextmanager
async def running(settings: Settings, api: FastAPI | None = None) -> AsyncIterator[None]:
    """Run connections, signing keys, chains, workflow engine and indexer, started in this order; the demo is created in
    the background.
    """
    url = database_url(settings)
    async with AsyncExitStack() as held:
        database.start(url)
        held.push_async_callback(database.stop)
        await _open_keys(settings)
        await held.enter_async_context(exposition.serving(settings))
        async with db.worker() as session:
            await tokens.load_keys(session)
        readiness().done("migrations")
        held.push_async_callback(json_rpc.close)
        await _prepare_chains()
        waiting = await _contracts(settings)
        load_workflows()
        name = executors.name_of("web")
        await held.enter_async_context(executors.present(url, name))
        await asyncio.to_thread(engine.start, url, name, queues.queues_here())
        held.push_async_callback(asyncio.to_thread, engine.stop)
        await queues.register_queues()
        await queues.register_fair()
        await queues.register_bulk()
        await queues.register_nightly()
        await schedules.start(
            [reconciliation.NIGHTLY, retention.NIGHTLY, drafts.NIGHTLY, digest.NIGHTLY, old_keys.NIGHTLY]
        )
        stopping = asyncio.Event()
        works = (
            run_indexer(stopping),
            preparation.run(stopping, waiting),
            executors.watch(stopping),
            queue_wakeup.listen(stopping),
            hints.listen(stopping),
            sweep.run(stopping),
            delivery.run(stopping, settings),
            _demo(settings, api),
            attempts.carry_on(),
            _warm_up(),
            _import_wallet_keys(settings),
        )
        for work in works:
            held.push_async_callback(_end, asyncio.create_task(work))
        held.callback(devnet_faults.forget)
        held.callback(stopping.set)
        yield


async def _open_keys(settings: Settings) -> None:
    """Read the keys in the database. Raises CannotStart where this process has the wrong secrets."""
    try:
        await asyncio.to_thread(data_keys.prepare, settings)
    except CannotStart as error:
        readiness().failure = str(error)
        raise


async def _import_wallet_keys(settings: Settings) -> None:
    """Import the wallet keys that an earlier version left in files. A key that is needed first is imported first."""
    count = await threads.run(Work.WALLET_KEYS, keystore().import_files)
    if count:
        log.info("wallet_keys.imported", count=count, folder=str(settings.keystore))


async def _end(task: asyncio.Task[None]) -> None:
    """Cancel a task and wait for its end. Its own fault was logged and must not prevent the end of the others."""
    task.cancel()
    with suppress(asyncio.CancelledError, Exception):
        await task


async def _warm_up() -> None:
    """Load in advance what the first sign-in and the first signature need."""
    await asyncio.to_thread(verify_password, "", None)
    await asyncio.to_thread(importlib.import_module, "eth_account")


async def _prepare_chains() -> None:
    """Write the rows of the chain list, and recover from a killed chain.

    Raises CannotStart where the database belongs to another installation.
    """
    try:
        async with db.worker() as session:
            await chain_list.check(session)
            await chain_list.seed(session)
    except CannotStart as error:
        readiness().failure = str(error)
        raise
    await recovery.recover()
    readiness().done("chains")


async def _contracts(settings: Settings) -> list[int]:
    """Deploy Signum's contracts on the embedded chains, because the demo needs them; return the chains that are not
    ready yet.

    Public chains become ready when they respond and are funded; the start does not wait for them.
    """
    if not settings.embedded_chains:
        return sorted(settings.rpc_urls)
    eids = sorted(node_urls.EMBEDDED)
    ready = await asyncio.gather(*(preparation.attempt(eid) for eid in eids))
    return [eid for eid, is_ready in zip(eids, ready, strict=True) if not is_ready]


async def _demo(settings: Settings, api: FastAPI | None) -> None:
    """Create demo data on an empty database and embedded chains; `/v1/ready` and the log report a failure."""
    if api is not None and settings.demo and settings.embedded_chains:
        try:
            from backend.demo import story

            await story.ensure(settings, api)
        except Exception as error:
            log.exception("demo.creation_failed")
            readiness().failure = f"The demo data could not be created: {error}"
            return
    readiness().done("demo data")


async def until_listening(settings: Settings) -> None:
    """Wait until the port accepts connections."""
    host = "localhost" if settings.host in ("0.0.0.0", "::") else settings.host  # noqa: S104
    while True:
        with suppress(OSError):
            _, writer = await asyncio.open_connection(host, settings.port)
            writer.close()
            return
        await asyncio.sleep(0.02)


def load_workflows() -> None:
    """Import every vertical's workflow module, which registers it with the engine."""
    for path in sorted(BACKEND.glob("*/workflow.py")):
        importlib.import_module(f"backend.{path.parent.name}.workflow")


def local_transport(app: object) -> httpx.ASGITransport:
    """Return a transport to an application in this process."""
    return httpx.ASGITransport(app=app, raise_app_exceptions=False)  # type: ignore[arg-type]


async def until_ready(seconds: float = 120) -> None:
    """Wait until the server is ready."""
    async with asyncio.timeout(seconds):
        while not readiness().is_ready:
            if readiness().failure:
                raise RuntimeError(readiness().failure)
            await asyncio.sleep(0.02)


async def has_organizations() -> bool:
    """Return whether the database has an organization."""
    async with db.look() as session:
        return bool(await session.scalar(sa.text("select exists (select from organizations)")))
