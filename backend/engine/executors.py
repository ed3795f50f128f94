"""Executors of workflows: each process holds a lock and a lease under its name.

The lock is a PostgreSQL lock on a dedicated connection, so it is released however the process ends: killed, drained or
disconnected. The lease is renewed while the process makes progress (see `leases`), so it also expires if the process
hangs. Work of a name without a lock, or with an expired lease, is put back into its queue by the first process that
notices.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import sqlalchemy as sa
import structlog
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine
from sqlalchemy.pool import NullPool

from backend.core import db, locks, logins
from backend.core.connections import pools, process_label
from backend.core.locks import Purpose
from backend.core.runtime import runtime
from backend.engine import abandoned_runs, dbos_internals, leases, progress

log = structlog.get_logger()
BEAT = 3.0
"""Seconds between checks of the own lock, and of other executors' work."""


SILENT = 10.0
"""Seconds after which a database that does not answer counts as lost."""
LOST = (sa.exc.SQLAlchemyError, OSError, TimeoutError)


def name_of(role: str) -> str:
    """Return this process's name, which no other process has."""
    return process_label.executor_name(role)


@asynccontextmanager
async def present(url: str, name: str) -> AsyncIterator[None]:
    """Hold the lock of a name inside. `url` is the owner's."""
    address = logins.role_url(url, logins.WORKER)
    engine = create_async_engine(
        address,
        poolclass=NullPool,
        isolation_level="AUTOCOMMIT",
        hide_parameters=True,
        connect_args={"application_name": process_label.application_name()},
    )
    runtime.reset(progress.Progress)
    connection = await _take(engine, name)
    keeping = asyncio.create_task(_keep(engine, connection, name))
    try:
        yield
    finally:
        keeping.cancel()
        with suppress(asyncio.CancelledError):
            await keeping
        await engine.dispose()


async def _take(engine: AsyncEngine, name: str) -> AsyncConnection:
    connection = await engine.connect()
    await connection.execute(sa.text(pools.KEEPALIVE))
    await locks.wait_on_connection(connection, Purpose.EXECUTOR, name)
    epoch = await leases.join(connection, name)
    if epoch > 1:
        log.warning("executor.rejoined", name=name, epoch=epoch)
    return connection


async def _keep(engine: AsyncEngine, connection: AsyncConnection, name: str) -> None:
    """Renew the lease while there is progress, and take lock and lease again when their connection is lost.

    Work that other executors took over in the meantime stays with them: its executions here end before they write (see
    `ownership`).
    """
    seen = runtime.part(progress.Progress)
    try:
        while True:
            await asyncio.sleep(BEAT)
            obstacle = await progress.obstacle()
            if obstacle is not None:
                log.warning("executor.stuck", name=name, reason=obstacle)
                seen.note(obstacle)
                continue
            try:
                async with asyncio.timeout(SILENT):
                    await leases.renew(connection, name)
                seen.note(None)
            except LOST as error:
                log.warning("executor.lost", name=name, error=type(error).__name__)
                seen.note("the database does not respond")
                with suppress(*LOST):
                    await connection.invalidate()
                    connection = await _take(engine, name)
    finally:
        with suppress(*LOST):
            async with asyncio.timeout(SILENT):
                await leases.leave(connection, name)
                await connection.close()


async def watch(stopping: asyncio.Event) -> None:
    """Take over work of dead executors, and the own work that nothing executes, until the process stops."""
    while not stopping.is_set():
        try:
            await resume()
            await abandoned_runs.requeue()
        except Exception:
            log.exception("executor.check_failed")
        with suppress(TimeoutError):
            await asyncio.wait_for(stopping.wait(), BEAT)


async def resume() -> list[str]:
    """Put the running workflows of executors that are dead or hang back into their queues; return the names of those
    that had some."""
    own = dbos_internals.executor()
    hanging = await leases.expired(own)
    if hanging:
        await leases.disconnect(hanging)
    gone = [name for name in await _at_work() if name in hanging or not await is_alive(name)]
    if gone:
        await asyncio.to_thread(dbos_internals.requeue, gone)
        log.warning("executor.resumed", names=gone)
    return gone


async def _at_work() -> list[str]:
    return sorted({executor for _, _, executor in await asyncio.to_thread(dbos_internals.pending)})


async def is_alive(name: str) -> bool:
    """Return whether a process holds the name."""
    async with db.worker() as session:
        return not await locks.attempt(session, Purpose.EXECUTOR, name)
