"""The applications that a person has connected, and disconnecting one."""

from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.api_keys import service as api_keys
from backend.api_keys.models import ApiKeyRow
from backend.auth import service as auth
from backend.auth.models import SessionRow
from backend.auth.principal import Context
from backend.changes import tell
from backend.db import Write, widen
from backend.errors import NotFound
from backend.keyset import Page
from backend.oauth import rules
from backend.oauth.models import OAuthCodeRow, OAuthConsentRow
from backend.oauth.schemas import ConnectedApplication, ConnectedApplicationList, ConsentScope


def _connected(person: UUID) -> Any:
    columns = (
        sa.column("id", sa.Uuid()),
        sa.column("name", sa.Text()),
        sa.column("organization_id", sa.Uuid()),
        sa.column("organization_name", sa.Text()),
        sa.column("scopes", sa.ARRAY(sa.Text())),
        sa.column("created_at", sa.DateTime(timezone=True)),
        sa.column("last_used_at", sa.DateTime(timezone=True)),
        sa.column("sessions", sa.Integer()),
        sa.column("api_keys", sa.Integer()),
    )
    found = sa.func.signum_connected_applications(sa.literal(person, sa.Uuid()))
    return found.table_valued(*columns).alias("connected")


async def page(context: Context, page: Page) -> ConnectedApplicationList:
    """A page of the caller's applications, the newest first."""
    connected = _connected(context.require_person().user_id)
    query = page.apply(sa.select(connected), connected.c.created_at, connected.c.id)
    shown, cursor = page.cut((await context.session.execute(query)).all())
    return ConnectedApplicationList(applications=[_record(row) for row in shown], nextCursor=cursor)


def _record(row: Any) -> ConnectedApplication:
    scopes = [ConsentScope(scope=scope, description=rules.describe(scope)) for scope in row.scopes]
    return ConnectedApplication.model_validate({**row._mapping, "connected_at": row.created_at, "scopes": scopes})


async def disconnect(context: Context, client_id: UUID) -> None:
    """End everything an application has of the caller: consent, codes, sessions and keys. 404 where it has nothing."""
    person, session = context.require_person().user_id, context.session
    connected = _connected(person)
    found = (await session.execute(sa.select(connected).where(connected.c.id == client_id))).first()
    if found is None:
        raise NotFound("You have not connected this application.")
    await forget(session, person, client_id)
    await auth.end(session, col(SessionRow.user_id) == person, col(SessionRow.client_id) == client_id)
    await widen(session, found.organization_id)
    await tell(
        session,
        found.organization_id,
        "oauth_client.disconnected",
        ("oauth_client", client_id),
        {"user_id": str(person), "scopes": found.scopes},
    )
    mine = col(ApiKeyRow.created_by) == person, col(ApiKeyRow.client_id) == client_id
    await api_keys.revoke_made_by(session, found.organization_id, *mine)


async def forget(session: Write, person: UUID, client_id: UUID) -> None:
    """End a person's consent to an application, so that it has to ask again."""
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
