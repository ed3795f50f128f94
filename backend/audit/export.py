"""Export of the log as CSV, streamed in parts: a slow reader holds no connection, and only one part in memory."""

from collections.abc import AsyncIterator
from dataclasses import replace

from backend.audit import service
from backend.audit.rules import canonical, moment
from backend.audit.schemas import AuditEntry
from backend.audit.service import Filter
from backend.auth.principal import Context
from backend.exports.csv_lists import cell, written
from backend.lists.pages import Page

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
    "erased_by",
)
PART = 500
"""Rows read at a time."""


async def lines(context: Context, page: Page, wanted: Filter) -> AsyncIterator[str]:
    """Yield the header line, then every matching entry, in the order of the list."""
    yield written([COLUMNS])
    cursor: str | None = ""
    while cursor is not None:
        async with context.in_later_read() as later:
            found = await service.page(later, replace(page, cursor=cursor or None, limit=PART), wanted)
        yield written(_cells(entry) for entry in found.audit)
        cursor = found.nextCursor


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
