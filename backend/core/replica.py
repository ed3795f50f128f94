"""Large reads from a streaming replica, where the settings name one.

A read goes there only once the replica has everything that was committed when the read began. So no reader misses a
change that they or others made before, through any process. Where the replica is behind, does not respond or was
promoted, the primary is read instead, also by the reads of the next seconds.
"""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import sqlalchemy as sa
import structlog
from sqlalchemy.exc import OperationalError
from sqlalchemy.ext.asyncio import AsyncSession

from backend.core import db
from backend.core.connections import engines
from backend.core.connections.database import engine
from backend.core.connections.pools import REPLICA
from backend.core.readiness import readiness
from backend.core.runtime import runtime
from backend.core.settings import settings

log = structlog.get_logger()
PATIENCE = 0.5
"""Seconds that a read waits until the replica answers and has caught up."""
POLL = 0.01
PAUSE = 10.0
"""Seconds of reads from the primary after a replica was behind or did not respond."""
NOTE = "Large reads use the primary: the replica is behind, does not respond, or is the primary now."
_TOO_LONG = "57014"
"""The SQL state of a statement that was canceled because it took too long."""
_POSITION = sa.text("select cast(pg_current_wal_flush_lsn() as text)")
_CAUGHT_UP = sa.text("select pg_is_in_recovery() and pg_last_wal_replay_lsn() >= cast(:position as pg_lsn)")


class Behind(Exception):
    """The replica has not replayed what was committed, or is no replica."""


@dataclass
class Reads:
    """Reads of this process by server, and since when the replica is not used."""

    replica: int = 0
    primary: int = 0
    paused_at: float | None = None


@dataclass
class Left:
    """Sessions of the replica that no read waits for, while they are closed."""

    openings: set[asyncio.Future[Any]] = field(default_factory=set)


FAULTS = (Behind, *db.FAULTS)
"""Errors after which a read uses the primary."""


def is_used() -> bool:
    """Return whether reads try the replica."""
    if settings().database_url_replica is None:
        return False
    reads = runtime.part(Reads)
    is_paused = reads.paused_at is not None and time.monotonic() < reads.paused_at + PAUSE
    reads.primary += is_paused
    return not is_paused


async def position(session: AsyncSession) -> str:
    """Return up to where the primary has written what it has committed."""
    return str(await session.scalar(_POSITION))


@asynccontextmanager
async def reading(written: str, seen: dict[str, str]) -> AsyncIterator[db.Write]:
    """Open a transaction of the app's role on the replica, once that has everything up to a position. `seen` are the
    settings of `db.seen`.

    Raises one of `FAULTS`. The session is a Write because an operation's session is one; the server refuses writes.
    """
    async with await _patiently(asyncio.create_task(_opened(written, seen))) as session:
        with db.held_by(session):
            yield session
    _note_success()


async def _opened(written: str, seen: dict[str, str]) -> db.Write:
    session = db.Write(engine(REPLICA), expire_on_commit=False)
    try:
        await engines.begin(session, engines.READ_ONLY, **seen)
        while not await session.scalar(_CAUGHT_UP, {"position": written}):  # noqa: ASYNC110 - the replica's work
            await asyncio.sleep(POLL)
    except BaseException:
        await session.close()
        raise
    return session


async def _patiently(opening: asyncio.Task[db.Write]) -> db.Write:
    """Wait for a session. One that comes too late is closed without this read: a connection to a server that hangs
    takes seconds to cancel."""
    try:
        done, _ = await asyncio.wait({opening}, timeout=PATIENCE)
    except BaseException:
        _leave(opening)
        raise
    if not done:
        _leave(opening)
        raise Behind
    return opening.result()


def _leave(opening: asyncio.Task[db.Write]) -> None:
    left = runtime.loop_part(Left).openings
    left.add(opening)
    opening.add_done_callback(_close)
    opening.cancel()


def _close(opened: asyncio.Task[db.Write]) -> None:
    """Close a session that was opened before it could be canceled, and forget the task."""
    left = runtime.loop_part(Left).openings
    left.discard(opened)
    if not opened.cancelled() and opened.exception() is None:
        closing = asyncio.ensure_future(opened.result().close())
        left.add(closing)
        closing.add_done_callback(left.discard)


@asynccontextmanager
async def current(*organization_ids: UUID) -> AsyncIterator[db.Write | None]:
    """Open a transaction on the replica, scoped to organizations, that has everything committed until now; None where
    the primary has to be read."""
    async with AsyncExitStack() as stack:
        session = None
        if is_used():
            async with db.Read(engine("app")) as primary:  # its faults are not the replica's
                await engines.begin(primary, engines.NOTHING)
                written = await position(primary)
            try:
                session = await stack.enter_async_context(reading(written, db.scoped(organization_ids)))
            except FAULTS as error:
                note(error)
        yield session


def note(error: BaseException) -> None:
    """Let the next reads use the primary, after an error of the replica. Raises it where the primary would have the
    same: a statement took too long."""
    if isinstance(error, OperationalError) and getattr(error.orig, "sqlstate", None) == _TOO_LONG:
        raise error
    reads = runtime.part(Reads)
    reads.primary += 1
    reads.paused_at = time.monotonic()
    if NOTE not in readiness().notes:
        readiness().notes.append(NOTE)
        log.warning("replica.lost", fault=type(error).__name__)


def _note_success() -> None:
    reads = runtime.part(Reads)
    reads.replica += 1
    reads.paused_at = None
    if NOTE in readiness().notes:
        readiness().notes.remove(NOTE)
        log.info("replica.restored")
