"""Executors of workflows: each process holds a lock under its name while it is alive.

It is a PostgreSQL lock on a dedicated connection, so it is released however the process ends: killed, drained or
disconnected. Work of a name without a lock is put back into its queue by the first process that notices.
"""

import asyncio
import os
import secrets
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import sqlalchemy as sa
import structlog
from dbos import DBOS
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine
from sqlalchemy.pool import NullPool

from backend.core import db, locks, logins, pools
from backend.core.locks import Purpose
from backend.engine import dbos_internals

log = structlog.get_logger()
BEAT = 3.0
"""Seconds between checks of the own lock, and of other executors' work."""


def name_of(role: str) -> str:
    """Return a unique name for this process."""
    return f"{role}-{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(3)}"


@asynccontextmanager
async def present(url: str, name: str) -> AsyncIterator[None]:
    """Hold the lock of a name inside. `url` is the owner's."""
    address = logins.role_url(url, logins.WORKER)
    engine = create_async_engine(address, poolclass=NullPool, isolation_level="AUTOCOMMIT", hide_parameters=True)
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
    return connection


async def _keep(engine: AsyncEngine, connection: AsyncConnection, name: str) -> None:
    """Take the lock again when its connection is lost.

    Work that other executors took over in the meantime still has one effect, because every step of a workflow may be
    repeated.
    """
    try:
        while True:
            await asyncio.sleep(BEAT)
            try:
                await connection.execute(sa.text("select 1"))
            except (sa.exc.SQLAlchemyError, OSError) as error:
                log.warning("executor.lost", name=name, error=type(error).__name__)
                with suppress(sa.exc.SQLAlchemyError, OSError):
                    await connection.invalidate()
                    connection = await _take(engine, name)
    finally:
        with suppress(sa.exc.SQLAlchemyError, OSError):
            await connection.close()


async def watch(stopping: asyncio.Event) -> None:
    """Take over work of dead executors, until the process stops."""
    while not stopping.is_set():
        try:
            await resume()
        except Exception:
            log.exception("executor.check_failed")
        with suppress(TimeoutError):
            await asyncio.wait_for(stopping.wait(), BEAT)


async def resume() -> list[str]:
    """Put the running workflows of dead executors back into their queues; return the executors' names."""
    gone = [name for name in await _at_work() if not await is_alive(name)]
    if gone:
        await asyncio.to_thread(dbos_internals.requeue, gone)
        log.warning("executor.resumed", names=gone)
    return gone


async def _at_work() -> list[str]:
    running = await DBOS.list_workflows_async(status="PENDING", load_input=False, load_output=False)
    return sorted({workflow.executor_id for workflow in running if workflow.executor_id})


async def is_alive(name: str) -> bool:
    """Return whether a process holds the name."""
    async with db.worker() as session:
        return not await locks.attempt(session, Purpose.EXECUTOR, name)
