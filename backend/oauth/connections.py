"""The applications that a person has connected: list and disconnect."""

from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.api_keys import service as api_keys
from backend.api_keys.models import ApiKeyRow
from backend.auth.models import SessionRow
from backend.auth.principal import Context
from backend.core.changes import publish
from backend.core.db import widen
from backend.core.errors import NotFound
from backend.lists.pages import Listing, Page
from backend.oauth import rules
from backend.oauth.schemas import ConnectedApplication, ConnectedApplicationList, ConsentScope
from backend.sign_in import service as auth
from backend.sign_in.sessions import forget

LIST = Listing(
    {"created_at": sa.column("created_at", sa.DateTime(timezone=True))},
    tie=sa.column("id", sa.Uuid()),
    names=(sa.column("name"), sa.column("organization_name")),
    codes=(sa.column("id"), sa.column("organization_id")),
    is_fixed=True,
)


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
    """Return a page of the caller's applications, the newest first."""
    connected = _connected(context.require_person().user_id)
    shown, paging = await page.read(context.session, sa.select(connected))
    return ConnectedApplicationList(applications=[_record(row) for row in shown], **paging)


def _record(row: Any) -> ConnectedApplication:
    scopes = [ConsentScope(scope=scope, description=rules.describe(scope)) for scope in row.scopes]
    return ConnectedApplication.model_validate({**row._mapping, "connected_at": row.created_at, "scopes": scopes})


async def disconnect(context: Context, client_id: UUID) -> None:
    """End all access of an application for the caller: consent, codes, sessions and keys. 404 where it has none."""
    person, session = context.require_person().user_id, context.session
    connected = _connected(person)
    found = (await session.execute(sa.select(connected).where(connected.c.id == client_id))).first()
    if found is None:
        raise NotFound("You have not connected this application.")
    await forget(session, person, client_id)
    await auth.end(session, col(SessionRow.user_id) == person, col(SessionRow.client_id) == client_id)
    await widen(session, found.organization_id)
    await publish(
        session,
        found.organization_id,
        "oauth_client.disconnected",
        ("oauth_client", client_id),
        {"user_id": str(person), "scopes": found.scopes},
    )
    mine = col(ApiKeyRow.created_by) == person, col(ApiKeyRow.client_id) == client_id
    await api_keys.revoke_made_by(session, found.organization_id, *mine)
