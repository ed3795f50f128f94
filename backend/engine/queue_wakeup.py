"""Wake-up of the engine's queues when there is work for them, instead of frequent polling.

A queue is woken by an enqueue in this process, by a notification from another process, by the end of one of its runs,
and for work that waits without a wake-up, which one statement finds for all queues. The engine has no API for this: its
queue threads wait for their stop event with a timeout. Here they get an event whose wait also ends on a wake-up. If a
later version starts its threads differently, they wait for the timeout, and a test reports it.
"""

import asyncio
import threading
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import psycopg
import sqlalchemy as sa
import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from backend.core.connections import database, notices
from backend.core.runtime import runtime
from backend.engine import dbos_internals

log = structlog.get_logger()
CHANNEL = "signum_queue"
"""Notifications with the name of a queue, for the processes that serve it."""
BEAT = 2.0
"""Seconds between two looks for waiting work that no wake-up announced: its delay is over, or its process was killed.
Also the seconds until a lost connection is opened again."""
SILENT = 10.0
"""Seconds after which a connection that does not answer is closed."""
LONGEST = 30.0
"""Seconds between two polls of a queue at most. The engine's own pauses do not apply: it doubles them at each conflict
of two processes, and polls each queue with several statements."""
WAITING = "select distinct queue_name from dbos.workflow_status where status = 'ENQUEUED' and queue_name = any(%s)"
WOKEN = "woken_queues"
"""The queues that a session wakes when it commits."""


@dataclass
class Wakeups:
    """The wake-ups of this process's queues; the condition guards their numbers."""

    condition: threading.Condition = field(default_factory=threading.Condition)
    counts: Counter[str] = field(default_factory=Counter)
    served: frozenset[str] = frozenset()
    """The queues of this process."""
    polls: dict[str, float] = field(default_factory=dict)
    """When the current poll of each queue began, by `time.monotonic`; without those that wait for their next poll."""
    is_ending: bool = False
    """Whether the queues' threads end, which would otherwise wait for their next poll."""


def wake(queue: str) -> None:
    """Wake a queue of this process, from any thread; does nothing for the others."""
    wakeups = runtime.part(Wakeups)
    with wakeups.condition:
        wakeups.counts[queue] += 1
        wakeups.condition.notify_all()


async def wake_after_commit(session: AsyncSession, queue: str) -> None:
    """Wake a queue when the session has committed, here or in the processes that serve it."""
    if queue not in runtime.part(Wakeups).served:
        await session.execute(sa.select(sa.func.pg_notify(CHANNEL, queue)))
    elif queue not in (woken := session.info.setdefault(WOKEN, set())):
        woken.add(queue)
        sa.event.listen(session.sync_session, "after_commit", lambda _: wake(queue))


async def listen(stopping: asyncio.Event) -> None:
    """Wake this process's queues when other processes enqueue work for them, until stopped."""
    while not stopping.is_set():
        try:
            await _listen(stopping)
        except (psycopg.Error, OSError, TimeoutError) as error:
            log.warning("queue_wakeup.lost", error=type(error).__name__)
        with suppress(TimeoutError):
            await asyncio.wait_for(stopping.wait(), BEAT)


async def _listen(stopping: asyncio.Event) -> None:
    connection = await asyncio.wait_for(database.own_connection(), SILENT)
    try:
        await connection.execute(f"listen {CHANNEL}")
        while not stopping.is_set():
            async for notice in notices.received(connection, BEAT):
                wake(notice.payload)
            async with asyncio.timeout(SILENT):
                await _wake_waiting(connection)
    finally:
        with suppress(psycopg.Error, OSError):
            await connection.close()


async def _wake_waiting(connection: psycopg.AsyncConnection[Any]) -> None:
    """Wake the queues that have waiting work: one statement for all queues, instead of several for each."""
    found = await connection.execute(WAITING, [list(runtime.part(Wakeups).served)])
    for (queue,) in await found.fetchall():
        wake(queue)


class _Stop:
    """A queue's stop event, whose wait also ends on a wake-up, including one during the last poll."""

    def __init__(self, stop: threading.Event, queue: str) -> None:
        self._stop, self._queue = stop, queue
        self._seen = runtime.part(Wakeups).counts[queue]

    def is_set(self) -> bool:
        return self._stop.is_set()

    def wait(self, timeout: float | None = None) -> bool:
        wakeups = runtime.part(Wakeups)
        with wakeups.condition:
            wakeups.polls.pop(self._queue, None)
            wakeups.condition.wait_for(self._is_woken, LONGEST)
            self._seen = wakeups.counts[self._queue]
            is_ending = self._stop.is_set() or wakeups.is_ending
            if not is_ending:
                wakeups.polls[self._queue] = time.monotonic()
        return is_ending

    def _is_woken(self) -> bool:
        wakeups = runtime.part(Wakeups)
        return wakeups.is_ending or wakeups.counts[self._queue] != self._seen


def hanging(seconds: float) -> list[str]:
    """Return the queues whose current poll has taken longer than some seconds."""
    wakeups = runtime.part(Wakeups)
    with wakeups.condition:
        return sorted(queue for queue, began in wakeups.polls.items() if time.monotonic() - began > seconds)


def install(names: frozenset[str]) -> None:
    """Install the wake-up for the queues of these names, which this process serves.

    Call before the engine is launched; repeated calls have no effect.
    """
    wakeups = runtime.part(Wakeups)
    wakeups.served, wakeups.is_ending = names, False
    wakeups.polls.clear()
    dbos_internals.replace_stops(lambda stop, name: _Stop(stop, name) if name in names else stop)
    dbos_internals.note_ends(wake)


def end() -> None:
    """End the waits of this process's queues, which start nothing more. Call before the engine is stopped."""
    wakeups = runtime.part(Wakeups)
    with wakeups.condition:
        wakeups.is_ending = True
        wakeups.condition.notify_all()
