"""The order in which a process takes emails from the outbox, and those that it is sending."""

import asyncio
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlmodel import col

from backend.core import db
from backend.core.db import Write, now
from backend.mail import rules
from backend.mail.models import OutboxRow
from backend.mail.rules import Queue, Sending, Turn
from backend.mail.schemas import MailKind

LEASE = timedelta(minutes=5)
"""Longer than one attempt can take, with every timeout of its session."""
QUEUES = sa.text(
    """
    with recursive firsts as (
      (select kind, share_id, person_id, next_attempt_at from outbox where status = 'queued'
       order by kind, share_id, person_id, next_attempt_at limit 1)
      union all
      select n.* from firsts f cross join lateral (
        select o.kind, o.share_id, o.person_id, o.next_attempt_at from outbox o
        where o.status = 'queued' and (o.kind, o.share_id, o.person_id) > (f.kind, f.share_id, f.person_id)
        order by o.kind, o.share_id, o.person_id, o.next_attempt_at limit 1) n
    )
    select kind, share_id, person_id, next_attempt_at from firsts where next_attempt_at <= :now
    """
)
"""The first email of each queue: one step in the index for each, independent of the number of emails."""
# As text, not as a parameter: the index is partial.
QUEUED = sa.text("status = 'queued'")


@dataclass
class Senders:
    """The senders of this process."""

    threads: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(rules.SENDERS, "mail"))
    served: dict[Turn, datetime] = field(default_factory=dict)
    """When roots and people last had a turn, while they have due emails: later ones become due after that turn."""
    sending: Counter[Sending] = field(default_factory=Counter)
    """Emails that are being sent, by kind, root and person."""
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def take(self) -> OutboxRow | None:
        """Lease the next email; None where none is due, or every queue uses its share of the senders.

        Call `done` when its attempt has ended.
        """
        async with self.lock:
            async with db.worker() as session:
                row = await self._next(session)
            if row is not None:
                self.served |= dict.fromkeys(_queue(row).turns, now())
                self.sending.update(_counted(row))
        return row

    def done(self, row: OutboxRow) -> None:
        """Give back the sender of an email."""
        self.sending.subtract(_counted(row))
        self.sending = +self.sending

    async def _next(self, session: Write) -> OutboxRow | None:
        queues = await _queues(session)
        waiting = {turn for queue in queues for turn in queue.turns}
        self.served = {turn: at for turn, at in self.served.items() if turn in waiting}
        for queue in rules.in_turn(queues, self.served, self.sending):
            if row := await _lease(session, queue):
                return row
        return None


def _queue(row: OutboxRow) -> Queue:
    return Queue(row.kind, row.share_id, row.person_id, row.created_at)


def _counted(row: OutboxRow) -> set[Sending]:
    return {row.kind, row.share_id, row.person_id}


async def _queues(session: Write) -> list[Queue]:
    rows = await session.execute(QUEUES, {"now": now()})
    return [Queue(MailKind(kind), share, person, due) for kind, share, person, due in rows]


async def _lease(session: Write, queue: Queue) -> OutboxRow | None:
    """Lease the first email of a queue; None where other processes have taken all."""
    row: OutboxRow | None = await session.scalar(first_of(queue).with_for_update(skip_locked=True))
    if row is not None:
        row.attempts += 1
        row.next_attempt_at = now() + LEASE
    return row


def first_of(queue: Queue) -> sa.Select[Any]:
    """Return the query of the email of a queue that has been due longest."""
    mine = (
        col(OutboxRow.kind) == queue.kind,
        col(OutboxRow.share_id) == queue.share_id,
        col(OutboxRow.person_id) == queue.person_id,
    )
    query = sa.select(OutboxRow).where(QUEUED, *mine, col(OutboxRow.next_attempt_at) <= now())
    return query.order_by(col(OutboxRow.next_attempt_at)).limit(1)
