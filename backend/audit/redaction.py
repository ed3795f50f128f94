"""Erasure of personal data from entries of the log, in the operator's transaction as the owner of the tables.

An erased entry keeps the hash of its original content, which the next entry refers to. The rest of it is hashed
too, and the erasure, an entry of the same log, lists these hashes: verification compares them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncSession

from backend.audit import entries, rules
from backend.audit.models import AuditRow
from backend.core.changes import THE_OPERATOR, Change

LOG = cast("sa.Table", sa.inspect(AuditRow).local_table)
PART = 500
"""Entries that one erasure lists."""
Row = dict[str, Any]


@dataclass(frozen=True)
class Erasure:
    """An erasure in one organization's log: its action, such as `party.erased`, its subject and the reason."""

    organization_id: UUID
    action: str
    subject: tuple[str, UUID]
    reason: str
    changed: Callable[[Row], Row]
    """Returns the rest of an entry: new `before`, `after` and `address`."""


async def redact(session: AsyncSession, erasure: Erasure, where: sa.ColumnElement[bool]) -> int:
    """Erase from the log's entries that a condition selects; return their number. Erasures stay as they are."""
    mine = (LOG.c.organization_id == erasure.organization_id, LOG.c.action.not_in(rules.ERASURES))
    found: Sequence[int] = (await session.scalars(sa.select(LOG.c.seq).where(*mine, where).order_by(LOG.c.seq))).all()
    count = 0
    for first in range(0, max(len(found), 1), PART):
        part = LOG.c.seq.in_(found[first : first + PART])
        rows = (await session.execute(sa.select(LOG).where(*mine, part).order_by(LOG.c.seq))).mappings().all()
        left = [new for row in rows if (new := dict(row) | erasure.changed(dict(row))) != dict(row)]
        await _erase(session, erasure, left)
        count += len(left)
    return count


async def _erase(session: AsyncSession, erasure: Erasure, left: list[Row]) -> None:
    """Append the erasure with the hashes of the rest of each entry, then erase."""
    listed = [{"seq": row["seq"], "sha256": rules.hash_of(row)} for row in left]
    facts = {"reason": erasure.reason, "entries": listed}
    change = Change(erasure.organization_id, erasure.action, erasure.subject, None, facts, THE_OPERATOR)
    [seq] = await entries.append(session, erasure.organization_id, [change])
    for row in left:
        values = {name: row[name] for name in ("before", "after", "address")} | {"erased_by": seq}
        this = (LOG.c.organization_id == erasure.organization_id, LOG.c.seq == row["seq"])
        await session.execute(sa.update(LOG).where(*this).values(values))
