"""Retry delays of emails, their number, their order, and neutralized names in their texts. Pure functions."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from backend.mail.schemas import MailKind

Turn = tuple[MailKind, UUID]
Sending = MailKind | UUID
URGENCY = {kind: rank for rank, kind in enumerate(MailKind)}
SENDERS = 4
"""Emails that a process sends concurrently, each in its own connection: 8 a second if each takes 0.5 s. Postfix accepts
50 connections of one client by default."""
SENDERS_OF_ONE = SENDERS // 2
"""Senders of a process that one root organization or one person uses at most: half of them, so that slow responses to
one tenant's emails leave the others free. The first email of a kind is sent in addition."""
MOST_OF_TOPIC = 20
"""Emails on one topic, such as new API keys, that one recipient gets in a day."""
MOST_BELOW = 500
"""Emails of a root organization and everything below it in a day, invitations and password links not included."""
FIRST = 5
"""Emails on one topic that a recipient still gets in a day if the root organization has used up its own."""
PAUSES = tuple(timedelta(minutes=minutes) for minutes in (0.5, 2, 10, 30, 60, 2 * 60, 4 * 60, 8 * 60, 12 * 60, 24 * 60))
"""Delays between attempts: two days in total, which outlasts a weekend's maintenance but no invitation."""


def pause(attempts: int) -> timedelta | None:
    """Return the delay after this many attempts; None after the last one."""
    return PAUSES[attempts - 1] if attempts <= len(PAUSES) else None


@dataclass(frozen=True)
class Day:
    """The emails of the last 24 hours: `number` to a recipient on a topic, and `below` a root organization.

    `is_told` says whether one of them told the recipient that it is the last.
    """

    number: int
    is_told: bool
    below: int

    @property
    def left(self) -> int:
        """Return how many more the recipient gets; the last one says so."""
        left = (FIRST if self.below >= MOST_BELOW else MOST_OF_TOPIC) - self.number
        return max(left, 0 if self.is_told else 1)


@dataclass(frozen=True)
class Queue:
    """The due emails of one kind, share and person; see `OutboxRow`. `due` is when its first email became due."""

    kind: MailKind
    share_id: UUID
    person_id: UUID
    due: datetime

    @property
    def turns(self) -> set[Turn]:
        """Return the root organization and the person whose turns it takes. Each kind has turns of its own."""
        return {(self.kind, self.share_id), (self.kind, self.person_id)}


def in_turn(queues: Iterable[Queue], served: Mapping[Turn, datetime], sending: Mapping[Sending, int]) -> list[Queue]:
    """Return the queues that may send now, the next one first.

    A kind of which no email is being sent goes first, so each kind that is due has a sender; then the most urgent kind.
    Within a kind, the queue goes first that has waited longest since an email became due and since its root and its
    person last had a turn: neither a person with many roots nor a root with many people gets more turns, and new ones
    do not overtake those that wait. `sending` counts current emails by kind, root and person.
    """

    def turn(queue: Queue) -> tuple[bool, int, datetime, datetime]:
        root, person = ((queue.kind, name) for name in (queue.share_id, queue.person_id))
        last = max(queue.due, served.get(person, queue.due))
        return sending.get(queue.kind, 0) > 0, URGENCY[queue.kind], max(last, served.get(root, last)), last

    def is_free(queue: Queue) -> bool:
        names = queue.share_id, queue.person_id
        return not sending.get(queue.kind) or all(sending.get(name, 0) < SENDERS_OF_ONE for name in names)

    return sorted(filter(is_free, queues), key=turn)


def unlinked(name: str) -> str:
    """Return a name in which mail programs detect no links, for an email to a stranger.

    An invisible word joiner follows each character by which links are recognized. The name looks unchanged.
    """
    return re.sub(r"(?<=\S)([.:/@])(?=\S)", "\\1\u2060", name)
