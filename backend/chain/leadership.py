"""Leadership: exactly one process indexes a chain, the one that holds the chain's lock.

The lock is PostgreSQL's and belongs to a connection of its own, so it ends with the process however that ends, and
another one takes over within `BEAT`. Nothing depends on it but the work that is done: two processes that both believed
they lead would write nothing twice (see `cursor.lock`).
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from typing import Any, LiteralString

import psycopg
import sqlalchemy as sa
import structlog
from psycopg import AsyncConnection

from backend import db
from backend.chain.cursor import CHANNEL

log = structlog.get_logger()
BEAT = 1.0
"""Seconds between two attempts to lead a chain without a leader, and between two looks at the own connection."""
SILENT = 10.0
"""Seconds after which a connection that does not answer is given up."""
_TRY: LiteralString = "select pg_try_advisory_lock(hashtextextended('indexer:' || %s, 0))"
_UNLOCK: LiteralString = "select pg_advisory_unlock(hashtextextended('indexer:' || %s, 0))"

Heard = Callable[[int], None]


class _Candidate:
    """This process as a candidate: the chains it wants to lead and those it leads."""

    def __init__(self) -> None:
        self.wanted: set[int] = set()
        self.led: dict[int, asyncio.AbstractEventLoop] = {}


_here = _Candidate()


def leads(eid: int) -> bool:
    """Whether this process indexes a chain."""
    return eid in _here.led


def loop_of(eid: int) -> asyncio.AbstractEventLoop | None:
    """Return the event loop in which this process indexes a chain; None where it does not."""
    return _here.led.get(eid)


async def stand(eids: Iterable[int], stop: asyncio.Event, heard: Heard) -> None:
    """Be a candidate for some chains until told to stop. `heard` is called with a chain that this process leads from
    now on, or that another process wants to be looked at."""
    _here.wanted = set(eids)
    try:
        while not stop.is_set():
            try:
                await _hold(stop, heard)
            except (psycopg.Error, OSError, TimeoutError) as error:
                log.warning("leadership.lost", eids=sorted(_here.led), error=type(error).__name__)
            _here.led.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), BEAT)
    finally:
        _here.led.clear()


def stand_for(eids: Iterable[int]) -> None:
    """Change the chains that this process is a candidate for, from the next beat on."""
    _here.wanted = set(eids)


async def _hold(stop: asyncio.Event, heard: Heard) -> None:
    connection = await asyncio.wait_for(db.own_connection(), SILENT)
    try:
        await connection.execute(f"listen {CHANNEL}")
        while not stop.is_set():
            async with asyncio.timeout(SILENT):
                taken = await _compete(connection)
            for eid in taken:
                heard(eid)
            async for notice in connection.notifies(timeout=BEAT):
                if leads(int(notice.payload)):
                    heard(int(notice.payload))
    finally:
        with suppress(psycopg.Error, OSError):
            await connection.close()


async def _compete(connection: AsyncConnection[Any]) -> list[int]:
    """Take the wanted locks that are free, give back those no longer wanted, and return the chains taken."""
    await connection.execute("select 1")
    taken = [eid for eid in _here.wanted - set(_here.led) if await _value(connection, _TRY, eid)]
    for eid in taken:
        _here.led[eid] = asyncio.get_running_loop()
        log.info("leadership.taken", eid=eid)
    for eid in set(_here.led) - _here.wanted:
        del _here.led[eid]
        await _value(connection, _UNLOCK, eid)
        log.info("leadership.given_back", eid=eid)
    return taken


async def _value(connection: AsyncConnection[Any], query: LiteralString, eid: int) -> bool:
    row = await (await connection.execute(query, [str(eid)])).fetchone()
    return row is not None and bool(row[0])


async def is_led(eid: int) -> bool:
    """Whether any process indexes a chain, or borrows its lock."""
    async with db.worker() as session:
        key = sa.func.hashtextextended(f"indexer:{eid}", 0)
        return not await session.scalar(sa.select(sa.func.pg_try_advisory_xact_lock(key)))


@asynccontextmanager
async def borrowed(eid: int) -> AsyncIterator[bool]:
    """Hold a chain's lock inside if it is free; yields whether it is held."""
    connection = await db.own_connection()
    try:
        yield await _value(connection, _TRY, eid)
    finally:
        with suppress(psycopg.Error, OSError):
            await connection.close()
