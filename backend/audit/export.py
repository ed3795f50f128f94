"""Export of the log as CSV, streamed in parts: a slow reader holds no connection, and only one part in memory."""

from collections.abc import AsyncIterator
from uuid import UUID

from backend.audit import subjects
from backend.audit.rules import canonical, moment
from backend.audit.schemas import AuditEntry
from backend.audit.service import Filter, entry, query
from backend.auth.scopes import Scope
from backend.core import db
from backend.exports.csv_lists import cell, written

COLUMNS = (
    "seq",
    "at",
    "actor",
    "actor_name",
    "credential",
    "action",
    "subject_type",
    "subject_id",
    "subject_name",
    "before",
    "after",
    "request_id",
    "address",
    "previous_hash",
    "hash",
)
PART = 500
"""Rows read at a time."""


async def lines(organization_id: UUID, wanted: Filter, scopes: frozenset[Scope]) -> AsyncIterator[str]:
    """Yield the header line, then every matching entry, newest first.

    Entries written during the export are excluded.
    """
    yield written([COLUMNS])
    before: int | None = None
    while True:
        async with db.reading(organization_id) as session:
            rows = (await session.execute(query(organization_id, wanted, before, PART))).all()
            names = await subjects.names(session, rows)
        if rows:
            yield written(_cells(entry(r, scopes, names)) for r in rows)
            before = rows[-1].seq
        if len(rows) < PART:
            return


def _cells(shown: AuditEntry) -> list[str]:
    values = shown.model_dump() | {
        "at": moment(shown.at),
        "subject_type": shown.subject.type,
        "subject_id": shown.subject.id,
        "before": _json(shown.before),
        "after": _json(shown.after),
    }
    return [cell(values[name]) for name in COLUMNS]


def _json(fields: dict[str, object] | None) -> str | None:
    return None if fields is None else canonical(fields).decode()
