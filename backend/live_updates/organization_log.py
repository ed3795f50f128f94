"""The events of an organization, from its audit log.

The log is the store of the events. Its numbers are given under a lock that lasts until the commit, so entries become
visible in the order of their numbers, without gaps: a reader that has seen a number has seen every lower one, however
long a transaction was open before. A caller gets only events that it has the scope for.
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncSession

from backend.audit.models import AuditRow
from backend.audit.service import READ_WITH
from backend.auth.scopes import Scope
from backend.core.changes import THE_SYSTEM, Change
from backend.core.db import Read
from backend.core.errors import BadRequest, EventsExpired
from backend.live_updates import frames
from backend.live_updates.schemas import OrganizationEvent
from backend.webhooks import events

LOG = sa.inspect(AuditRow).local_table
PART = 500
"""Entries that are read at a time."""
KEPT = 1_000
"""Newest events that are kept in memory for all streams of an organization; older ones are read from the log."""
RESUMED = 100_000
"""Entries after which a stream no longer resumes: the client reads the resources again, which is faster."""
EXPIRED = (
    "The stream cannot resume after this Last-Event-ID: too many changes were made since, or it is from another "
    "database. Open the stream without it, then read the resources again."
)
ACCESS = frozenset({"api_key", "member", "organization", "oauth_client", "user"})
"""Subjects of changes that may end someone's access."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An event as every stream sends it, and the scope that a stream needs for it."""

    seq: int
    scope: Scope
    frame: bytes


@dataclass
class Tail:
    """The end of a log: `entries` are the events with numbers above `floor`, up to `position`."""

    organization_id: UUID
    on_access: Callable[[], None]
    """Called for changes that may end someone's access."""
    position: int = -1
    floor: int = -1
    entries: deque[Entry] = field(default_factory=deque)

    async def read(self, session: Read) -> bool:
        """Read what was appended."""
        if self.position < 0:
            self.position = self.floor = await head(session, self.organization_id)
            return True
        before = self.position
        while rows := await _rows(session, self.organization_id, self.position):
            self.position = rows[-1].seq
            self.entries.extend(_entries(rows))
            if any(row.subject_type in ACCESS for row in rows):
                self.on_access()
        while len(self.entries) > KEPT:
            self.floor = self.entries.popleft().seq
        return self.position > before

    def after(self, position: int) -> list[Entry] | None:
        """Return the events after a number; None where they are no longer kept."""
        if position < self.floor:
            return None
        return [entry for entry in self.entries if entry.seq > position]


async def head(session: AsyncSession, organization_id: UUID) -> int:
    """Return the newest number of a log; 0 where it is empty."""
    query = sa.select(sa.func.max(LOG.c.seq)).where(LOG.c.organization_id == organization_id)
    return int(await session.scalar(query) or 0)


async def resumed(session: AsyncSession, organization_id: UUID, last: str | None) -> int:
    """Return the number after which a stream begins: the newest one, or that of the last event that a client has seen.

    400 where the latter is not a number, 410 where it is not in the log (another database) or too far behind.
    """
    newest = await head(session, organization_id)
    if last is None:
        return newest
    if not (last.isascii() and last.isdigit() and len(last) <= 18):
        raise BadRequest("Last-Event-ID is not the ID of an event of this organization.")
    if not newest - RESUMED <= int(last) <= newest:
        raise EventsExpired(EXPIRED)
    return int(last)


async def part(session: AsyncSession, organization_id: UUID, position: int) -> tuple[list[Entry], int]:
    """Return the events of the next part of the log after a number, and the last number of that part."""
    rows = await _rows(session, organization_id, position)
    return list(_entries(rows)), rows[-1].seq if rows else position


async def _rows(session: AsyncSession, organization_id: UUID, position: int) -> Sequence[Any]:
    query = (
        sa.select(LOG)
        .where(LOG.c.organization_id == organization_id, LOG.c.seq > position)
        .order_by(LOG.c.seq)
        .limit(PART)
    )
    return (await session.execute(query)).all()


def _entries(rows: Sequence[Any]) -> Iterator[Entry]:
    for row in rows:
        if row.action in events.KNOWN:
            yield Entry(row.seq, READ_WITH.get(row.subject_type, Scope.ORGS_READ), _frame(row))


def _frame(row: Any) -> bytes:
    subject = (row.subject_type, row.subject_id)
    change = Change(row.organization_id, row.action, subject, row.before, row.after, THE_SYSTEM)
    made = OrganizationEvent(id=str(row.seq), type=row.action, timestamp=row.at, data=events.data_of(change))
    return frames.event(made.id, made.model_dump_json().encode())
