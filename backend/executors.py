"""Who runs workflows: each process holds a lock under its name for as long as it lives.

The lock is PostgreSQL's, on a connection of its own, so it is gone with the process however that ends: killed, drained
or cut off. Work of a name that nobody holds is put back into its queue by whoever sees it first.
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

from backend import db, logins

log = structlog.get_logger()
BEAT = 3.0
"""Seconds between two looks at our own lock, and at the work of others."""


def name_of(role: str) -> str:
    """A name for this process, never used again."""
    return f"{role}-{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(3)}"


@asynccontextmanager
async def present(url: str, name: str) -> AsyncIterator[None]:
    """Inside, the name counts as alive. `url` is the owner's."""
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
    await connection.execute(sa.text(db.KEEPALIVE))
    await connection.execute(sa.select(sa.func.pg_advisory_lock(_key(name))))
    return connection


async def _keep(engine: AsyncEngine, connection: AsyncConnection, name: str) -> None:
    """A lock that was lost with its connection is taken again; what others took up meanwhile is done once all the
    same, for every step of a workflow may be repeated."""
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


def _key(name: str) -> sa.ColumnElement[int]:
    return sa.func.hashtextextended(f"executor:{name}", 0)


async def watch(stopping: asyncio.Event) -> None:
    """Take up what others leave behind, until the process stops."""
    while not stopping.is_set():
        try:
            await resume()
        except Exception:
            log.exception("what was left behind could not be looked for; it is tried again")
        with suppress(TimeoutError):
            await asyncio.wait_for(stopping.wait(), BEAT)


async def resume() -> list[str]:
    """Put the running workflows of executors that are gone back into their queues; the names that were."""
    gone = [name for name in await _at_work() if not await is_alive(name)]
    if gone:
        await asyncio.to_thread(DBOS._recover_pending_workflows, gone)
        log.warning("executor.resumed", names=gone)
    return gone


async def _at_work() -> list[str]:
    running = await DBOS.list_workflows_async(status="PENDING", load_input=False, load_output=False)
    return sorted({workflow.executor_id for workflow in running if workflow.executor_id})


async def is_alive(name: str) -> bool:
    """Whether a process holds the name."""
    async with db.worker() as session:
        is_free = await session.scalar(sa.select(sa.func.pg_try_advisory_xact_lock(_key(name))))
    return not is_free
