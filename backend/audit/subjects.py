"""What people call the things that entries are about."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import sqlalchemy as sa

from backend.db import Read, Write

TOLD = ("display_name", "name", "label", "title", "email", "url")
"""Where an entry itself may say the name of what is no more."""
Names = dict[tuple[str, str], str]
"""By the type and the id of a subject."""


async def names(session: Read | Write, rows: Sequence[Any]) -> Names:
    """What the subjects of these rows of the log, newest first, are called now; of what is gone, what the newest of its
    rows says."""
    told = {(r.subject_type, r.subject_id): name for r in reversed(rows) if (name := _told(r.after) or _told(r.before))}
    ids = {r.subject_id for r in rows if _is_uuid(r.subject_id)}
    query = sa.text("select * from signum_subject_names(cast(:kinds as text[]), cast(:ids as uuid[]))")
    values = {"kinds": sorted({r.subject_type for r in rows}), "ids": [UUID(text) for text in sorted(ids)]}
    known = (await session.execute(query, values)).all()
    return told | {(row.kind, str(row.id)): row.name for row in known if row.name}


def _told(fields: dict[str, Any] | None) -> str | None:
    values = ((fields or {}).get(name) for name in TOLD)
    return next((value for value in values if isinstance(value, str) and value), None)


def _is_uuid(text: str) -> bool:
    try:
        return str(UUID(text)) == text
    except ValueError:
        return False
