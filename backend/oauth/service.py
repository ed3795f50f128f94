"""The applications of the entered organization."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from fastapi import Response
from sqlmodel import col

from backend.api_keys.rules import check_scopes
from backend.auth.makers import maker_of
from backend.auth.models import SessionRow
from backend.auth.oauth_models import OAuthClientRow
from backend.auth.principal import Context
from backend.auth.scopes import Scope
from backend.auth.secrets import digest, token
from backend.core.changes import publish, publish_change, shown
from backend.core.db import now
from backend.core.errors import BadRequest, NotFound
from backend.core.fields import ClientKind
from backend.lists import json_records
from backend.lists.pages import Listing, Page
from backend.oauth import rules
from backend.oauth.schemas import OAuthClient, OAuthClientCreate, OAuthClientCreated, OAuthClientList
from backend.organizations import quotas
from backend.webhooks import egress

SECRET_PREFIX = "sgo_"  # noqa: S105  (lets secret scanners recognize it)
CLIENTS = sa.inspect(OAuthClientRow).local_table
_RECORD = json_records.column(OAuthClient, CLIENTS)
LIST = Listing.of(CLIENTS.c, "created_at", "updated_at", names=(CLIENTS.c.name,))
GRANT_LIFETIME = timedelta(days=90)


async def page(context: Context, page: Page) -> Response:
    """Return a page of applications, including removed ones."""
    query = _query(context).with_only_columns(_RECORD, CLIENTS.c.id)
    return await page.respond(context.session, query, OAuthClientList)


async def one(context: Context, client_id: UUID) -> OAuthClient:
    """Return an application; 404 if the organization has none with this ID."""
    row = (await context.session.execute(_query(context).where(CLIENTS.c.id == client_id))).first()
    if row is None:
        raise NotFound("There is no application with this ID in this organization.")
    return OAuthClient.model_validate(row)


def _query(context: Context) -> sa.Select[Any]:
    columns = (c for c in CLIENTS.c if c.name != "secret_hash")
    return sa.select(*columns).where(CLIENTS.c.organization_id == context.organization_id)


async def create(context: Context, body: OAuthClientCreate) -> OAuthClientCreated:
    """Create an application; only this response has its secret."""
    check_scopes([s for s in body.scopes if isinstance(s, Scope)], context.scopes)
    for number, uri in enumerate(body.redirect_uris):
        if fault := rules.redirect_fault(uri):
            raise BadRequest(f"The redirect URI {fault}.", pointer=f"/redirect_uris/{number}")
    if body.backchannel_logout_uri is not None:
        await _check_logout_uri(body.backchannel_logout_uri)
    await _check_count(context)
    secret = SECRET_PREFIX + token() if body.kind is ClientKind.CONFIDENTIAL else None
    maker = await maker_of(context)
    row = OAuthClientRow(
        organization_id=context.organization_id,
        name=body.name,
        kind=body.kind,
        redirect_uris=rules.unique(body.redirect_uris),
        backchannel_logout_uri=body.backchannel_logout_uri,
        scopes=rules.unique([str(s) for s in body.scopes]),
        secret_hash=digest(secret) if secret else None,
        created_by=context.user_id,
        maker_key_id=maker.key_id,
        maker_grant_id=maker.grant_id,
    )
    context.session.add(row)
    await context.session.flush()
    subject, made = ("oauth_client", row.id), shown(OAuthClient, row)
    await publish(context.session, row.organization_id, "oauth_client.created", subject, None, made)
    return OAuthClientCreated.model_validate({**row.model_dump(), "secret": secret})


async def _check_count(context: Context) -> None:
    clients = sa.select(sa.func.count()).where(
        col(OAuthClientRow.organization_id) == context.organization_id, col(OAuthClientRow.revoked_at).is_(None)
    )
    await quotas.check(
        context.session, context.organization_id, clients, quotas.OAUTH_CLIENTS, "applications; remove one"
    )


async def _check_logout_uri(uri: str) -> None:
    try:
        await egress.check(uri)
    except BadRequest as error:
        raise BadRequest(error.detail, pointer="/backchannel_logout_uri") from error


async def remove(context: Context, client_id: UUID) -> None:
    """End an application, and all access that it was granted, immediately."""
    query = sa.select(OAuthClientRow).where(
        col(OAuthClientRow.id) == client_id, col(OAuthClientRow.organization_id) == context.organization_id
    )
    row: OAuthClientRow | None = await context.session.scalar(query.with_for_update())
    if row is None:
        raise NotFound("There is no application with this ID in this organization.")
    before = shown(OAuthClient, row)
    row.revoked_at = row.revoked_at or now()
    subject, after = ("oauth_client", row.id), shown(OAuthClient, row)
    await publish_change(context.session, row.organization_id, "oauth_client.removed", subject, before, after)
    await context.session.execute(
        sa.update(SessionRow)
        .where(col(SessionRow.client_id) == row.id, col(SessionRow.revoked_at).is_(None))
        .values(revoked_at=now())
    )
