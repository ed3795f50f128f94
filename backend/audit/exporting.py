"""The log as CSV, streamed in parts: a slow reader holds neither a connection nor more than a part in memory."""

import csv
import io
from collections.abc import AsyncIterator, Iterable
from uuid import UUID

from backend import db
from backend.audit import subjects
from backend.audit.rules import canonical, moment
from backend.audit.schemas import AuditEntry
from backend.audit.service import Filter, entry, query
from backend.auth.scopes import Scope

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
"""Lines read at once."""
FORMULAS = ("=", "+", "-", "@", "\t", "\r")
"""What a spreadsheet would take for a formula at the beginning of a cell."""


async def lines(organization_id: UUID, wanted: Filter, scopes: frozenset[Scope]) -> AsyncIterator[str]:
    """The head line, then every entry that fits, newest first. Entries made meanwhile do not come in."""
    yield _written([COLUMNS])
    before: int | None = None
    while True:
        async with db.reading(organization_id) as session:
            rows = (await session.execute(query(organization_id, wanted, before, PART))).all()
            names = await subjects.names(session, rows)
        if rows:
            yield _written(_cells(entry(r, scopes, names)) for r in rows)
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
    return [_cell(values[name]) for name in COLUMNS]


def _json(fields: dict[str, object] | None) -> str | None:
    return None if fields is None else canonical(fields).decode()


def _cell(value: object) -> str:
    text = "" if value is None else str(value)
    return f"'{text}" if text.startswith(FORMULAS) else text


def _written(rows: Iterable[Iterable[str]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\r\n").writerows(rows)
    return text.getvalue()
