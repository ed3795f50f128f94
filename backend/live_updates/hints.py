"""Hints: which log or request has changed, from the database to everyone in this process who waits for it.

Triggers notify PostgreSQL's channel in each transaction that changes a log or a request, in any process. One connection
of this process listens, and wakes those who wait. A hint carries no data: those who are woken read with their own
rights. After a lost connection everyone is woken, so that no change is missed.
"""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from uuid import UUID

import psycopg
import structlog

from backend.core.connections import database, notices
from backend.core.runtime import runtime

log = structlog.get_logger()
CHANNEL = "signum_live"
NAME = "signum live updates"
"""Name of the connection that listens, in PostgreSQL's `pg_stat_activity`."""
BEAT = 3.0
"""Seconds between checks of the connection that listens, and until a lost one is opened again."""
SILENT = 10.0
"""Seconds after which a connection that does not answer is closed."""
Topic = tuple[str, str]
"""A kind of hint, and the ID that it is about: `log` and `requests` of an organization, `request` of a request (its
status, steps, and the finality of its transactions), `deliveries` of a webhook endpoint."""


@dataclass
class Waiting:
    """Those who wait on one event loop, by topic."""

    signals: dict[Topic, set[asyncio.Event]] = field(default_factory=lambda: defaultdict(set))


def of_log(organization_id: UUID | str) -> Topic:
    """Return the topic of an organization's log."""
    return ("log", str(organization_id))


def of_request(request_id: UUID | str) -> Topic:
    """Return the topic of a request: its status, steps, and the finality of its transactions."""
    return ("request", str(request_id))


@asynccontextmanager
async def subscribed(*topics: Topic) -> AsyncIterator[asyncio.Event]:
    """Yield an event that each hint on these topics sets. Clear it before you read.

    The console subscribes like this, and reads what has changed with its user's rights.
    """
    signals, signal = runtime.loop_part(Waiting).signals, asyncio.Event()
    for topic in topics:
        signals[topic].add(signal)
    try:
        yield signal
    finally:
        for topic in topics:
            signals[topic].discard(signal)
            if not signals[topic]:
                del signals[topic]


async def listen(stopping: asyncio.Event) -> None:
    """Wake those who wait on this loop, until stopped."""
    while not stopping.is_set():
        try:
            await _listen(stopping)
        except (psycopg.Error, OSError, TimeoutError) as error:
            log.warning("live_updates.listener_lost", error=type(error).__name__)
        with suppress(TimeoutError):
            await asyncio.wait_for(stopping.wait(), BEAT)


async def _listen(stopping: asyncio.Event) -> None:
    connection = await asyncio.wait_for(database.own_connection(), SILENT)
    try:
        await connection.execute(f"set application_name = '{NAME}'")
        await connection.execute(f"listen {CHANNEL}")
        _wake_all()
        while not stopping.is_set():
            async for notice in notices.received(connection, BEAT):
                _wake(notice.payload)
            async with asyncio.timeout(SILENT):
                await connection.execute("select 1")
    finally:
        with suppress(psycopg.Error, OSError):
            await connection.close()


def _wake(payload: str) -> None:
    """Wake those who wait: for `log ORGANIZATION`, `request ORGANIZATION ID` or `deliveries ORGANIZATION ENDPOINT`."""
    kind, organization_id, *rest = payload.split(" ")
    topics = [(kind, about) for about in rest or [organization_id]]
    if kind == "request":
        topics.append(("requests", organization_id))
    signals = runtime.loop_part(Waiting).signals
    for topic in topics:
        for signal in signals.get(topic, ()):
            signal.set()


def _wake_all() -> None:
    for signals in runtime.loop_part(Waiting).signals.values():
        for signal in signals:
            signal.set()
