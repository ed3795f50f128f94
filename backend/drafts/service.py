"""Drafts of the signed-in person in the entered organization."""

from datetime import timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from backend.auth.principal import Context
from backend.core.db import new_id, now
from backend.core.errors import NotFound
from backend.drafts.models import DraftRow
from backend.drafts.schemas import Draft, DraftKind, DraftWrite

KEPT = timedelta(days=30)
"""How long a draft is kept after it was last saved; `backend.engine.retention` deletes it then."""
DRAFTS = sa.inspect(DraftRow).local_table


async def read(context: Context, kind: DraftKind) -> Draft:
    """Return the person's draft; 404 without one."""
    found = await context.session.execute(
        sa.select(DRAFTS).where(*_own(context, kind), DRAFTS.c.updated_at > _oldest())
    )
    row = found.mappings().first()
    if row is None:
        raise NotFound("You have no draft of this kind in this organization.")
    return _draft(row)


async def save(context: Context, kind: DraftKind, body: DraftWrite) -> Draft:
    """Save the person's draft in place of the previous one."""
    key = {"organization_id": context.organization_id, "user_id": context.require_person().user_id, "kind": kind}
    changed = {"content": body.content, "updated_at": now()}
    fresh = insert(DraftRow).values(id=new_id(), created_at=changed["updated_at"], **key, **changed)
    saved = fresh.on_conflict_do_update(index_elements=list(key), set_=changed).returning(DRAFTS)
    return _draft((await context.session.execute(saved)).mappings().one())


async def delete(context: Context, kind: DraftKind) -> None:
    """Delete the person's draft, if there is one."""
    await context.session.execute(sa.delete(DraftRow).where(*_own(context, kind)))


def _own(context: Context, kind: DraftKind) -> tuple[sa.ColumnElement[bool], ...]:
    person = context.require_person().user_id
    return DRAFTS.c.organization_id == context.organization_id, DRAFTS.c.user_id == person, DRAFTS.c.kind == kind


def _oldest() -> Any:
    return now() - KEPT


def _draft(row: Any) -> Draft:
    return Draft.model_validate({**row, "expires_at": row["updated_at"] + KEPT})
