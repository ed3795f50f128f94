"""`signum worker --chain EID`: what is to be done on some chains, done by a process of its own.

It runs the workflows of its chains' queues and nothing else; the server keeps the indexer, the relayer's sweeps and the
API. Several may run for one chain: the queues let each order be worked on by one at a time.
"""

import asyncio
import signal
from collections.abc import Sequence

import sqlalchemy as sa

import backend.listeners  # noqa: F401  (whoever must hear of changes)
from backend import db, executors, indexing, logins, models, queues, workflows
from backend.chain import endpoints, rpc
from backend.chains import given
from backend.errors import CannotStart
from backend.postgres import outside_url
from backend.runtime import load_workflows
from backend.settings import Settings

assert models, "every table is known, as in the server"
assert indexing, "and every stream, for workflows that wait for the tables"


async def work(settings: Settings, eids: Sequence[int]) -> None:
    """Until a signal to end; then what runs is given some time, and what is left goes back into its queue."""
    given.check(settings)
    check(settings, eids)
    url = settings.outside_database or outside_url(settings.home)
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopping.set)
    await asyncio.to_thread(logins.check, url)
    db.start(url)
    try:
        await _work(settings, url, eids, stopping)
    except sa.exc.OperationalError as error:
        raise CannotStart("The database does not answer. Start `signum serve` first, or set DATABASE_URL.") from error
    finally:
        await rpc.close()
        await db.stop()


def check(settings: Settings, eids: Sequence[int]) -> None:
    """CannotStart where a chain has no node, or the server would keep the chain's work for itself."""
    for eid in eids:
        if not endpoints.urls_of(eid):
            raise CannotStart(f"There is no node for the chain {eid}; set SIGNUM_RPC_URLS as for the server.")
        if eid not in settings.worker_chains:
            chains = sorted({*settings.worker_chains, *eids})
            raise CannotStart(
                f"The server does the work of the chain {eid} itself. Start both with SIGNUM_WORKER_CHAINS='{chains}'."
            )


async def _work(settings: Settings, url: str, eids: Sequence[int], stopping: asyncio.Event) -> None:
    name = executors.name_of("worker")
    names = [queues.queue_of(eid) for eid in eids]
    async with executors.present(url, name):
        load_workflows()
        await asyncio.to_thread(workflows.start, url, name, names)
        try:
            await queues.register_queues(names)
            await executors.watch(stopping)
        finally:
            await asyncio.to_thread(workflows.stop, settings.drain_seconds)
