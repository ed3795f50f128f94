"""Copies of names outside the records of an organization: emails, drafts, and stored responses."""

from collections import Counter
from collections.abc import Sequence
from urllib.parse import unquote_plus
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.auth.models import IdempotencyRow
from backend.core.db import Write
from backend.drafts.models import DraftRow
from backend.erasures.columns import mentions
from backend.erasures.texts import Eraser
from backend.mail.models import OutboxRow
from backend.saved_views.models import SavedViewRow


async def erase(session: Write, eraser: Eraser, organizations: Sequence[UUID] | None) -> Counter[str]:
    """Delete emails, drafts and stored responses of organizations, or of all, that have one of the names."""
    return +Counter({
        "outbox": await _emails(session, eraser, organizations),
        "form_drafts": await _drafts(session, eraser, organizations),
        "saved_views": await _views(session, eraser, organizations),
        "idempotency_keys": await _responses(session, eraser, organizations),
    })  # fmt: skip


async def _emails(session: Write, eraser: Eraser, organizations: Sequence[UUID] | None) -> int:
    """Delete emails. Their texts are encrypted, so each is read."""
    columns = (OutboxRow.id, OutboxRow.recipient, OutboxRow.subject, OutboxRow.body)
    query = sa.select(*map(col, columns))
    if organizations is not None:
        query = query.where(col(OutboxRow.organization_id).in_(organizations))
    found = []
    async for row in await session.stream(query.execution_options(yield_per=500)):
        if any(eraser.matches(text or "") for text in (row.recipient, row.subject, row.body)):
            found.append(row.id)
    for id_ in found:
        await session.execute(sa.delete(OutboxRow).where(col(OutboxRow.id) == id_))
    return len(found)


async def _drafts(session: Write, eraser: Eraser, organizations: Sequence[UUID] | None) -> int:
    gone = sa.delete(DraftRow).where(mentions(col(DraftRow.content), eraser))
    if organizations is not None:
        gone = gone.where(col(DraftRow.organization_id).in_(organizations))
    return len((await session.scalars(gone.returning(col(DraftRow.id)))).all())


async def _views(session: Write, eraser: Eraser, organizations: Sequence[UUID] | None) -> int:
    """Delete saved views. Their searches are encoded as in a URL."""
    query = sa.select(*map(col, (SavedViewRow.id, SavedViewRow.name, SavedViewRow.query)))
    if organizations is not None:
        query = query.where(col(SavedViewRow.organization_id).in_(organizations))
    rows = (await session.execute(query)).all()
    found = [row.id for row in rows if eraser.matches(row.name) or eraser.matches(unquote_plus(row.query))]
    await session.execute(sa.delete(SavedViewRow).where(col(SavedViewRow.id).in_(found)))
    return len(found)


async def _responses(session: Write, eraser: Eraser, organizations: Sequence[UUID] | None) -> int:
    """Delete responses that name one of the organizations and one of the names: a repeated request is made again."""
    gone = sa.delete(IdempotencyRow).where(mentions(col(IdempotencyRow.body), eraser))
    if organizations is not None:
        places = (col(IdempotencyRow.path) + sa.func.coalesce(col(IdempotencyRow.body), "")).op("~")
        gone = gone.where(places("|".join(map(str, organizations))))
    return len((await session.scalars(gone.returning(col(IdempotencyRow.id)))).all())
