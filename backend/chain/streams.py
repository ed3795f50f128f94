"""Streams: what the verticals make of the logs of their contracts.

The indexer reads logs and knows nothing of what they mean. A stream names the contracts it follows and writes what
their events say. The streams live with their nouns (`backend/assets/indexing.py`, `backend/markets/indexing.py`,
`backend/distributions/indexing.py`) and are put together in `backend/indexing.py`, so that `backend.chain` depends on
none of them.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

import sqlalchemy as sa
import structlog

from backend import db
from backend.chain import alarms
from backend.chain.models import AlarmKind
from backend.chain.outcome import Log
from backend.chain.spans import Span

log = structlog.get_logger()


class Unreadable(Exception):
    """The logs of a piece cannot be written together: one of the contracts is none of ours."""


UNREADABLE = (sa.exc.DataError, sa.exc.IntegrityError, ArithmeticError, LookupError, TypeError, ValueError)
"""What writing logs raises that no contract of ours emits."""


class Stream(Protocol):
    """Follows some contracts and writes what their events say. Every method runs inside a short transaction that locks
    the chain's cursor and asks no node."""

    name: str

    async def contracts(self, session: db.Write, eid: int) -> dict[str, int | None]:
        """Return the addresses to follow, and the block each was created in where it is known."""

    async def apply(self, session: db.Write, eid: int, logs: Sequence[Log]) -> int:
        """Write logs and return how many were new. The same log may come twice, and an older one after a newer one:
        the result depends only on which logs have come."""

    async def rewind(self, session: db.Write, eid: int, block: int) -> None:
        """Undo every log above a block, as if it had never been applied."""

    async def correct(self, session: db.Write, eid: int, address: str, span: Span, logs: Sequence[Log]) -> int:
        """Make the rows of one contract in a span of blocks those of its logs, which are all that the chain has there.
        Return how many rows were wrong, missing or too many."""


FollowUp = Callable[[db.Write, int], Awaitable[None]]
"""What follows from all that was read of a chain, and from the time; called at the end of every pass."""

_streams: dict[str, Stream] = {}
_follow_ups: list[FollowUp] = []


def register(*streams: Stream) -> None:
    """Add streams, once a process; the same name again replaces it."""
    _streams.update({stream.name: stream for stream in streams})


def then(*follow_ups: FollowUp) -> None:
    """Call these at the end of every pass, in its transaction. Each is added once."""
    _follow_ups.extend(follow for follow in follow_ups if follow not in _follow_ups)


def registered() -> list[Stream]:
    """Return the streams. Raises RuntimeError where none was registered."""
    if not _streams:
        raise RuntimeError("no streams are registered; import backend.indexing")
    return list(_streams.values())


async def contracts(session: db.Write, eid: int) -> dict[str, tuple[Stream, int | None]]:
    """Return every contract to follow on a chain: its stream, and the block it was created in where it is known."""
    found: dict[str, tuple[Stream, int | None]] = {}
    for stream in registered():
        theirs = await stream.contracts(session, eid)
        found |= {address: (stream, created) for address, created in theirs.items()}
    return found


async def apply(
    session: db.Write, eid: int, logs: Sequence[Log], owners: dict[str, Stream], *, apart: bool = False
) -> int:
    """Give each log to the stream that follows its contract; return how many were new.

    `apart`: each contract by itself. One whose logs cannot be written, because it is none of ours, is left out with an
    alarm, and keeps none of the others from being read.
    """
    new = 0
    for stream in registered():
        theirs = [log for log in logs if owners.get(log.address) is stream]
        if theirs:
            new += await (_apply_apart(session, eid, stream, theirs) if apart else stream.apply(session, eid, theirs))
    return new


async def _apply_apart(session: db.Write, eid: int, stream: Stream, logs: Sequence[Log]) -> int:
    """Write each contract by itself."""
    by_contract: dict[str, list[Log]] = {}
    for entry in logs:
        by_contract.setdefault(entry.address, []).append(entry)
    new = 0
    for address, theirs in by_contract.items():
        try:
            async with session.begin_nested():
                new += await stream.apply(session, eid, theirs)
        except UNREADABLE as error:
            await _leave_out(session, eid, address, theirs, error)
    return new


async def _leave_out(session: db.Write, eid: int, address: str, logs: Sequence[Log], error: Exception) -> None:
    log.info("contract.left_out", eid=eid, address=address, error=type(error).__name__)
    detail = (
        f"Events of the contract {address} from block {logs[0].block_number} on cannot be written and are left out. "
        "If Signum has deployed it, report this and then run: signum reconcile --repair."
    )
    await alarms.sound_once(session, eid, AlarmKind.UNREADABLE, detail, address)


async def rewind(session: db.Write, eid: int, block: int) -> None:
    """Undo every log above a block."""
    for stream in registered():
        await stream.rewind(session, eid, block)


async def follow_up(session: db.Write, eid: int) -> None:
    """Do what follows from all that was read."""
    for follow in _follow_ups:
        await follow(session, eid)
