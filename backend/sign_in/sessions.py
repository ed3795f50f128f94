"""The sessions of a person: list and end."""

from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.auth.models import SessionRow
from backend.auth.oauth_models import OAuthCodeRow, OAuthConsentRow
from backend.auth.principal import Context
from backend.core.db import Write, now
from backend.core.errors import NotFound
from backend.lists.pages import Listing, Page
from backend.sign_in import service
from backend.sign_in.schemas import Session, SessionList

SESSIONS = sa.inspect(SessionRow).local_table
LIST = Listing.of(
    SESSIONS.c,
    "created_at",
    names=(SESSIONS.c.kind, SESSIONS.c.client_name, SESSIONS.c.user_agent, SESSIONS.c.address),
)


async def page(context: Context, page: Page) -> SessionList:
    """Return a page of the caller's active sessions, newest first."""
    person = context.require_person()
    query = sa.select(*(c for c in SESSIONS.c if c.name != "token_hash")).where(
        SESSIONS.c.user_id == person.user_id, SESSIONS.c.revoked_at.is_(None), SESSIONS.c.expires_at > now()
    )
    query = query.where(sa.text("not signum_is_idle(sessions)"))
    shown, paging = await page.read(context.session, query)
    sessions = [Session.model_validate({**r._mapping, "current": r.id == person.session_id}) for r in shown]
    return SessionList(sessions=sessions, **paging)


async def end(context: Context, session_id: UUID) -> None:
    """End one of the caller's sessions; 404 where it is another person's, or has ended.

    An application whose session the person ends has to request consent again.
    """
    person = context.require_person()
    mine = (col(SessionRow.id) == session_id, col(SessionRow.user_id) == person.user_id)
    if not await service.end(context.session, *mine, col(SessionRow.expires_at) > now()):
        raise NotFound("You have no active session with this ID.")
    client_id = await context.session.scalar(sa.select(col(SessionRow.client_id)).where(*mine))
    if client_id is not None:
        await forget(context.session, person.user_id, client_id)


async def forget(session: Write, person: UUID, client_id: UUID) -> None:
    """Delete a person's consent to an application, so that it has to request it again."""
    await session.execute(
        sa.delete(OAuthConsentRow).where(
            col(OAuthConsentRow.user_id) == person, col(OAuthConsentRow.client_id) == client_id
        )
    )
    await session.execute(
        sa.delete(OAuthCodeRow).where(
            col(OAuthCodeRow.user_id) == person,
            col(OAuthCodeRow.client_id) == client_id,
            col(OAuthCodeRow.grant_id).is_(None),
        )
    )
