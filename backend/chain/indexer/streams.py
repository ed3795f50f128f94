"""Streams: the writers of each package's contract logs.

The indexer reads logs without knowing what they mean. A stream names the contracts it follows and writes their events.
The streams are in their packages (`backend/assets/indexed_events.py`, `backend/markets/indexed_events.py`,
`backend/distributions/indexed_events.py`) and are registered in `backend/registrations/event_streams.py`, so that
`backend.chain` depends on none of them.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Protocol

import sqlalchemy as sa
import structlog

from backend.chain import alarms
from backend.chain.abi.outcome import Log
from backend.chain.indexer.block_spans import Span
from backend.chain.models import AlarmKind
from backend.core import db

log = structlog.get_logger()


class Unreadable(Exception):
    """The logs of a piece cannot be written together: one of the contracts is not ours."""


UNREADABLE = (sa.exc.DataError, sa.exc.IntegrityError, ArithmeticError, LookupError, TypeError, ValueError)
"""Errors from logs that none of our contracts emits."""


class Stream(Protocol):
    """Follows some contracts and writes their events. Every method with a session runs inside a short transaction that
    locks the chain's cursor, and queries no node."""

    name: str

    def contracts(self, eid: int) -> sa.Select[Any, Any]:
        """Return the query of the addresses to follow, and of the block each was created in if known."""

    async def apply(self, session: db.Write, eid: int, logs: Sequence[Log]) -> int:
        """Write logs and return how many were new. The same log may come twice, and an older one after a newer one: the
        result depends only on the set of logs."""

    async def rewind(self, session: db.Write, eid: int, block: int) -> None:
        """Undo every log above a block, as if it had never been applied."""

    async def correct(self, session: db.Write, eid: int, address: str, span: Span, logs: Sequence[Log]) -> int:
        """Replace the rows of one contract in a span of blocks with those of its logs, which are all that the chain has
        there. Return how many rows were wrong, missing or surplus."""


FollowUp = Callable[[db.Write, int], Awaitable[None]]
"""Consequences of everything that was read of a chain, and of time; called at the end of every pass."""

# Declared at import.
_streams: dict[str, Stream] = {}
# Declared at import.
_follow_ups: list[FollowUp] = []


def register(*streams: Stream) -> None:
    """Register streams, once per process; the same name again replaces it."""
    _streams.update({stream.name: stream for stream in streams})


def then(*follow_ups: FollowUp) -> None:
    """Call these at the end of every pass, in its transaction. Each is added once."""
    _follow_ups.extend(follow for follow in follow_ups if follow not in _follow_ups)


def registered() -> list[Stream]:
    """Return the streams. Raises RuntimeError if none was registered."""
    if not _streams:
        raise RuntimeError("no streams are registered; import backend.registrations.event_streams")
    return list(_streams.values())


def wanted(eid: int) -> sa.Subquery:
    """Return the query of every contract to follow on a chain, for one statement: its `address`, the block in which it
    was `created` if known, and the number of its `stream` among the registered ones."""
    theirs = [stream.contracts(eid).add_columns(sa.literal(n)) for n, stream in enumerate(registered())]
    found = sa.union_all(*theirs).subquery()
    address, created, stream = found.c
    return sa.select(address.label("address"), created.label("created"), stream.label("stream")).subquery("wanted")


async def contracts(session: db.Write, eid: int) -> dict[str, tuple[Stream, int | None]]:
    """Return every contract to follow on a chain: its stream, and the block it was created in if known."""
    found, known = wanted(eid), registered()
    rows = await session.execute(sa.select(found).order_by(found.c.stream))
    return {row.address: (known[row.stream], row.created) for row in rows}


async def apply(
    session: db.Write, eid: int, logs: Sequence[Log], owners: dict[str, Stream], *, apart: bool = False
) -> int:
    """Give each log to the stream that follows its contract; return how many were new.

    `apart`: each contract separately. One whose logs cannot be written, because it is not ours, is skipped with an
    alarm, and does not block the others.
    """
    new = 0
    for stream in registered():
        theirs = [log for log in logs if owners.get(log.address) is stream]
        if theirs:
            new += await (_apply_apart(session, eid, stream, theirs) if apart else stream.apply(session, eid, theirs))
    return new


async def _apply_apart(session: db.Write, eid: int, stream: Stream, logs: Sequence[Log]) -> int:
    """Write each contract separately."""
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
        f"Events of the contract {address} from block {logs[0].block_number} on cannot be written and are skipped. "
        "If Signum has deployed it, report this and then run: signum reconcile --repair."
    )
    await alarms.sound_once(session, eid, AlarmKind.UNREADABLE, detail, address)


async def rewind(session: db.Write, eid: int, block: int) -> None:
    """Undo every log above a block."""
    for stream in registered():
        await stream.rewind(session, eid, block)


async def follow_up(session: db.Write, eid: int) -> None:
    """Apply the consequences of everything that was read."""
    for follow in _follow_ups:
        await follow(session, eid)
