"""Writing of the log: the changes of a transaction are collected, and appended as its last step before the commit.

Appending locks the head of the organization's chain. Nothing is locked afterwards, and the heads of several
organizations are locked in one order, so transactions wait for each other without deadlocks.
"""

from collections import defaultdict
from typing import Any, cast
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncSession

from backend.audit.models import AuditRow
from backend.audit.rules import hash_of
from backend.core import db
from backend.core.changes import Change
from backend.core.recorded_time import recorded_now

_WAITING = "audit"
_HEAD = sa.text("select seq, hash from signum_audit_head(:organization)")


async def collect(session: AsyncSession, change: Change) -> None:
    """Collect a change for the end of its transaction."""
    if _WAITING not in session.info:
        session.info[_WAITING] = []
        db.before_commit(session, _append)
    session.info[_WAITING].append(change)


async def _append(session: AsyncSession) -> None:
    found: dict[UUID, list[Change]] = defaultdict(list)
    for change in session.info.pop(_WAITING):
        found[change.organization_id].append(change)
    for organization_id in sorted(found):
        await append(session, organization_id, found[organization_id])


async def append(session: AsyncSession, organization_id: UUID, changes: list[Change]) -> list[int]:
    """Append changes, and return their numbers."""
    seq, last = (await session.execute(_HEAD, {"organization": organization_id})).one()
    rows = []
    for change in changes:
        row = _row(change, seq := seq + 1, last)
        row["hash"] = last = hash_of(row)
        rows.append(row)
    await session.execute(sa.insert(cast("sa.Table", sa.inspect(AuditRow).local_table)), rows)
    return [row["seq"] for row in rows]


def _row(change: Change, seq: int, previous_hash: str) -> dict[str, Any]:
    kind, subject = change.subject
    return {
        "organization_id": change.organization_id,
        "seq": seq,
        "at": recorded_now(),
        "actor": change.who.actor,
        "credential": change.who.credential,
        "action": change.action,
        "subject_type": kind,
        "subject_id": str(subject),
        "before": change.before,
        "after": change.after,
        "request_id": change.who.request_id,
        "address": change.who.address,
        "previous_hash": previous_hash,
    }
