"""Display names of the subjects of entries."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import sqlalchemy as sa

from backend.core.db import Read, Write

TOLD = ("display_name", "name", "label", "title", "email", "url")
"""Fields in which an entry may contain the name of a deleted subject."""
OF_REQUESTS = frozenset({"approval", "request"})
_KINDS = sa.text(
    "select r.id, r.kind from requests r where r.id = any(:ids) union all "
    "select p.id, r.kind from approvals p join requests r on r.id = p.request_id where p.id = any(:ids)"
)
Names = dict[tuple[str, str], str]
"""Names by type and id of a subject."""


async def names(session: Read | Write, rows: Sequence[Any]) -> Names:
    """Return the current names of the subjects of these rows (newest first); for deleted subjects, the name in the
    newest row.
    """
    last_known = {
        (r.subject_type, r.subject_id): name
        for r in reversed(rows)
        if (name := _name_in(r.after) or _name_in(r.before))
    }
    ids = {r.subject_id for r in rows if _is_uuid(r.subject_id)}
    query = sa.text("select * from signum_subject_names(cast(:kinds as text[]), cast(:ids as uuid[]))")
    values = {"kinds": sorted({r.subject_type for r in rows}), "ids": [UUID(text) for text in sorted(ids)]}
    known = (await session.execute(query, values)).all()
    return last_known | {(row.kind, str(row.id)): row.name for row in known if row.name}


async def request_kinds(session: Read | Write, rows: Sequence[Any]) -> dict[str, str]:
    """Return the kinds of the requests in these rows, by the ID of the request or of its approval."""
    ids = {UUID(r.subject_id) for r in rows if r.subject_type in OF_REQUESTS and _is_uuid(r.subject_id)}
    if not ids:
        return {}
    known = await session.execute(_KINDS, {"ids": sorted(ids)})
    return {str(row.id): row.kind for row in known}


def _name_in(fields: dict[str, Any] | None) -> str | None:
    """Return the name in a record; a member has it in their `user`."""
    told = fields or {}
    values = (part.get(name) for part in (told, told.get("user") or {}) for name in TOLD)
    return next((value for value in values if isinstance(value, str) and value), None)


def _is_uuid(text: str) -> bool:
    try:
        return str(UUID(text)) == text
    except ValueError:
        return False
