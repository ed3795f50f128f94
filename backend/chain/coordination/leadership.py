"""Leadership: exactly one process indexes a chain, the one that holds the chain's lock.

The PostgreSQL lock belongs to a dedicated connection, so it ends with the process in any case, and another process
takes over within `BEAT`. Leadership only saves work: two processes that both believe they lead would write nothing
twice (see `cursor.lock`).
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import psycopg
import structlog
from psycopg import AsyncConnection

from backend.chain.coordination.cursor import CHANNEL
from backend.core import db, locks
from backend.core.connections import database, notices
from backend.core.locks import Purpose
from backend.core.runtime import runtime

log = structlog.get_logger()
BEAT = 1.0
"""Seconds between two attempts to lead a chain without a leader."""
CHECKED = 5.0
"""Seconds between two checks of the own connection."""
SILENT = 10.0
"""Seconds after which a connection that does not answer is closed."""

Heard = Callable[[int], None]


@dataclass
class Candidate:
    """This process as a candidate: the chains it wants to lead, and those it leads with their event loops."""

    wanted: set[int] = field(default_factory=set)
    led: dict[int, asyncio.AbstractEventLoop] = field(default_factory=dict)


def leads(eid: int) -> bool:
    """Return whether this process indexes a chain."""
    return eid in runtime.part(Candidate).led


def loop_of(eid: int) -> asyncio.AbstractEventLoop | None:
    """Return the event loop in which this process indexes a chain; None if it does not."""
    return runtime.part(Candidate).led.get(eid)


async def stand(eids: Iterable[int], stop: asyncio.Event, heard: Heard) -> None:
    """Be a candidate for some chains until stopped. `heard` is called with a chain that this process starts to lead, or
    that another process requests a pass for."""
    here = runtime.part(Candidate)
    here.wanted = set(eids)
    try:
        while not stop.is_set():
            try:
                await _hold(stop, heard)
            except (psycopg.Error, OSError, TimeoutError) as error:
                log.warning("leadership.lost", eids=sorted(here.led), error=type(error).__name__)
            here.led.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), BEAT)
    finally:
        here.led.clear()


def stand_for(eids: Iterable[int]) -> None:
    """Change the chains that this process is a candidate for, from the next beat."""
    runtime.part(Candidate).wanted = set(eids)


async def _hold(stop: asyncio.Event, heard: Heard) -> None:
    connection = await asyncio.wait_for(database.own_connection(), SILENT)
    try:
        await connection.execute(f"listen {CHANNEL}")
        checked = time.monotonic()
        while not stop.is_set():
            async with asyncio.timeout(SILENT):
                if time.monotonic() - checked > CHECKED:
                    await connection.execute("select 1")
                    checked = time.monotonic()
                taken = await _compete(connection)
            for eid in taken:
                heard(eid)
            async for notice in notices.received(connection, BEAT):
                if leads(int(notice.payload)):
                    heard(int(notice.payload))
    finally:
        with suppress(psycopg.Error, OSError):
            await connection.close()


async def _compete(connection: AsyncConnection[Any]) -> list[int]:
    """Take the wanted locks that are free, release those no longer wanted, and return the chains taken."""
    here = runtime.part(Candidate)
    taken = [eid for eid in here.wanted - set(here.led) if await _take(connection, eid)]
    for eid in taken:
        here.led[eid] = asyncio.get_running_loop()
        log.info("leadership.taken", eid=eid)
    for eid in set(here.led) - here.wanted:
        del here.led[eid]
        await locks.release_on_connection(connection, Purpose.CHAIN_INDEXER, eid)
        log.info("leadership.given_back", eid=eid)
    return taken


async def _take(connection: AsyncConnection[Any], eid: int) -> bool:
    return await locks.attempt_on_connection(connection, Purpose.CHAIN_INDEXER, eid)


async def is_led(eid: int) -> bool:
    """Return whether any process indexes a chain, or borrows its lock."""
    async with db.worker() as session:
        return not await locks.attempt(session, Purpose.CHAIN_INDEXER, eid)


@asynccontextmanager
async def borrowed(eid: int) -> AsyncIterator[bool]:
    """Hold a chain's lock inside if it is free; yields whether it is held."""
    connection = await database.own_connection()
    try:
        yield await _take(connection, eid)
    finally:
        with suppress(psycopg.Error, OSError):
            await connection.close()
