"""`signum worker --chain EID`: a separate process for the work of some chains.

It runs only the workflows of its chains' queues; the server keeps the indexer, the relayer's sweeps and the API.
Several workers may serve one chain: the queues process each order one at a time.
"""

import asyncio
import signal
from collections.abc import Sequence

import sqlalchemy as sa
import structlog

import backend.registrations.listeners  # noqa: F401  (listeners to changes)
from backend import models
from backend.chain.rpc import json_rpc, node_urls
from backend.chains import chain_settings
from backend.configuration import variables
from backend.core import data_folder, logins
from backend.core.connections import database
from backend.core.connections.embedded import outside_url
from backend.core.errors import CannotStart
from backend.core.readiness import readiness
from backend.core.runtime import runtime
from backend.core.settings import Settings
from backend.engine import engine, executors, queue_wakeup, queues
from backend.limits import rate_limits
from backend.metrics import exposition
from backend.migrations import migrate
from backend.registrations import event_streams
from backend.secret_keys import data_keys
from backend.server import health_port, observers
from backend.server.runtime import load_workflows

log = structlog.get_logger()
assert models, "every table is registered, as in the server"
assert event_streams, "every stream is registered, for workflows that wait for the tables"


async def work(settings: Settings, eids: Sequence[int]) -> None:
    """Work until a signal; then let running work drain for a limited time, and return the rest to its queue."""
    observers.start(settings, "worker")
    variables.warn()
    chain_settings.check(settings)
    check(settings, eids)
    if not settings.home.exists():  # a worker on a machine of its own
        data_folder.prepare(settings.home)
    url = settings.outside_database or outside_url(settings.home)
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopping.set)
    await asyncio.to_thread(logins.check, url)
    await asyncio.to_thread(migrate.check, url)
    runtime.part(rate_limits.Counts)  # a REDIS_URL that cannot be used ends the start, not a workflow
    database.start(url)
    await asyncio.to_thread(data_keys.prepare, settings)
    readiness().waiting.clear()  # the server prepares migrations and chains
    try:
        async with health_port.serving(settings), exposition.serving(settings):
            await _work(settings, url, eids, stopping)
    except sa.exc.OperationalError as error:
        raise CannotStart("The database does not respond. Start `signum serve` first, or set DATABASE_URL.") from error
    finally:
        await json_rpc.close()
        await database.stop()
        log.info("worker.stopped")
        observers.stop()


def check(settings: Settings, eids: Sequence[int]) -> None:
    """Raise CannotStart where a chain has no node, or the server does the chain's work itself."""
    if not eids:
        raise CannotStart("Name the chains of this worker: --chain EID, or SIGNUM_WORKER_CHAINS='[EID]'.")
    for eid in eids:
        if not node_urls.urls_of(eid):
            raise CannotStart(f"The chain {eid} has no node. Set SIGNUM_RPC_URLS as for the server.")
        if eid not in settings.worker_chains:
            chains = sorted({*settings.worker_chains, *eids})
            raise CannotStart(
                f"The server does the work of the chain {eid} itself. Start both with SIGNUM_WORKER_CHAINS='{chains}'."
            )


async def _work(own: Settings, url: str, eids: Sequence[int], stopping: asyncio.Event) -> None:
    name = executors.name_of("worker")
    names = [queues.queue_of(eid) for eid in eids]
    async with executors.present(url, name):
        load_workflows()
        await asyncio.to_thread(engine.start, url, name, names)
        listening = asyncio.create_task(queue_wakeup.listen(stopping))
        try:
            await queues.register_queues(names)
            log.info("worker.started", executor=name, chains=list(eids), health_port=own.worker_health_port)
            await executors.watch(stopping)
            log.info("worker.stopping", executor=name, drain_seconds=own.drain_seconds)
        finally:
            listening.cancel()
            await asyncio.to_thread(engine.stop, own.drain_seconds)
