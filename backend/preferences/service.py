"""Preferences of the signed-in person."""

from datetime import datetime
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert
from sqlmodel import col

from backend.auth.principal import Context
from backend.core.db import new_id, now
from backend.core.fields import timestamp
from backend.preferences import rules
from backend.preferences.models import PreferencesRow
from backend.preferences.schemas import Digest, Preferences, PreferencesUpdate, Seen
from backend.preferences.time_zones import UTC


async def read(context: Context) -> Preferences:
    """Return the person's preferences."""
    row = await context.session.scalar(_of(context.require_person().user_id))
    return _shown(row) if row is not None else Preferences()


async def update(context: Context, body: PreferencesUpdate) -> Preferences:
    """Change the given preferences; concurrent changes to other preferences are kept."""
    user_id, session = context.require_person().user_id, context.session
    new = insert(PreferencesRow).values(
        id=new_id(), created_at=now(), updated_at=now(), user_id=user_id, time_zone=UTC, hidden=[],
        digest=Digest.OFF, seen={},
    )  # fmt: skip
    await session.execute(new.on_conflict_do_nothing(index_elements=["user_id"]))
    row: PreferencesRow = (await session.scalars(_of(user_id).with_for_update())).one()
    row.time_zone = body.time_zone or row.time_zone
    row.digest = body.digest or row.digest
    row.hidden = rules.hidden(row.hidden, body.hide or (), body.show or ())
    if body.seen is not None:
        at = timestamp(min(body.seen.at, now()))
        row.seen = rules.seen(row.seen, str(body.seen.organization_id), at)
    await session.flush()
    return _shown(row)


async def seen_until(context: Context) -> datetime | None:
    """Return until when the person has seen the notifications of the entered organization; None if never, and for a
    key."""
    if context.person is None:
        return None
    row = await context.session.scalar(_of(context.person.user_id))
    at = row.seen.get(str(context.organization_id)) if row is not None else None
    return datetime.fromisoformat(at) if at else None


def _of(user_id: UUID) -> sa.Select[PreferencesRow]:
    return sa.select(PreferencesRow).where(col(PreferencesRow.user_id) == user_id)


def _shown(row: PreferencesRow) -> Preferences:
    seen = [Seen(organization_id=UUID(one), at=datetime.fromisoformat(at)) for one, at in row.seen.items()]
    return Preferences(time_zone=row.time_zone, digest=row.digest, hidden=row.hidden, seen=seen)
