"""Where a person is signed in, and ending it there."""

from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.auth import service
from backend.auth.models import SessionRow
from backend.auth.principal import Context
from backend.auth.schemas import Session, SessionList
from backend.db import now
from backend.errors import NotFound
from backend.keyset import Page
from backend.oauth.connected import forget


async def page(context: Context, page: Page) -> SessionList:
    """A page of the caller's sessions that are alive, newest first."""
    person = context.require_person()
    table = sa.inspect(SessionRow).local_table
    query = sa.select(*(c for c in table.c if c.name != "token_hash")).where(
        table.c.user_id == person.user_id, table.c.revoked_at.is_(None), table.c.expires_at > now()
    )
    query = query.where(sa.text("not signum_is_idle(sessions)"))
    rows = (await context.session.execute(page.apply(query, table.c.created_at, table.c.id))).all()
    shown, cursor = page.cut(rows)
    sessions = [Session.model_validate({**r._mapping, "current": r.id == person.session_id}) for r in shown]
    return SessionList(sessions=sessions, nextCursor=cursor)


async def end(context: Context, session_id: UUID) -> None:
    """End one of the caller's sessions; 404 where the id is none of them, or it is over.

    An application whose session the person ends has to ask for their consent again.
    """
    person = context.require_person()
    mine = (col(SessionRow.id) == session_id, col(SessionRow.user_id) == person.user_id)
    if not await service.end(context.session, *mine, col(SessionRow.expires_at) > now()):
        raise NotFound("You have no such session.")
    client_id = await context.session.scalar(sa.select(col(SessionRow.client_id)).where(*mine))
    if client_id is not None:
        await forget(context.session, person.user_id, client_id)
