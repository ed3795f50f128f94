"""Keys of the entered organization."""

from datetime import datetime
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.api_keys import rules
from backend.api_keys.models import ApiKeyRow
from backend.api_keys.schemas import ApiKey, ApiKeyCreate, ApiKeyCreated, ApiKeyList
from backend.auth.principal import Context
from backend.auth.secrets import api_key, digest
from backend.changes import shown, tell, tell_change
from backend.db import now
from backend.errors import NotFound
from backend.fields import Network
from backend.keyset import Page

SHOWN = 8
"""Characters of a key that lists show from its beginning."""


async def page(context: Context, page: Page) -> ApiKeyList:
    """A page of keys, revoked and expired ones too."""
    table = sa.inspect(ApiKeyRow).local_table
    query = sa.select(*(c for c in table.c if c.name != "key_hash")).where(
        table.c.organization_id == context.organization_id
    )
    rows = (await context.session.execute(page.apply(query, table.c.created_at, table.c.id))).all()
    shown, cursor = page.cut(rows)
    return ApiKeyList(api_keys=[ApiKey.model_validate(r) for r in shown], nextCursor=cursor)


async def create(context: Context, body: ApiKeyCreate) -> ApiKeyCreated:
    """A new key; only this answer has its text."""
    rules.check_scopes(body.scopes, context.scopes)
    creator = context.key.network if context.key else None
    rules.check_network(body.network, await _network(context), creator)
    rules.check_expiry(body.expires_at, now(), await _end_of(context))
    key = api_key()
    row = ApiKeyRow(
        organization_id=context.organization_id,
        name=body.name,
        scopes=sorted({str(s) for s in body.scopes}),
        network=body.network,
        key_hash=digest(key),
        prefix=key[:SHOWN],
        last_four=key[-4:],
        created_by=context.user_id,
        expires_at=body.expires_at,
    )
    context.session.add(row)
    await context.session.flush()
    await tell(context.session, row.organization_id, "api_key.created", ("api_key", row.id), None, shown(ApiKey, row))
    return ApiKeyCreated.model_validate({**row.model_dump(), "key": key})


async def _network(context: Context) -> Network:
    text = sa.text("select network from organizations where id = :id")
    return Network(await context.session.scalar(text, {"id": context.organization_id}))


async def _end_of(context: Context) -> datetime | None:
    """When the key that calls ends; None for a person, and for a key that does not."""
    if context.key is None:
        return None
    found: datetime | None = await context.session.scalar(
        sa.select(col(ApiKeyRow.expires_at)).where(col(ApiKeyRow.id) == context.key.key_id)
    )
    return found


async def revoke(context: Context, key_id: UUID) -> None:
    """End a key at once; one that is revoked already stays as it is."""
    query = sa.select(ApiKeyRow).where(
        col(ApiKeyRow.id) == key_id, col(ApiKeyRow.organization_id) == context.organization_id
    )
    row: ApiKeyRow | None = await context.session.scalar(query.with_for_update())
    if row is None:
        raise NotFound("There is no such key in this organization.")
    before = shown(ApiKey, row)
    row.revoked_at = row.revoked_at or now()
    subject = ("api_key", row.id)
    await tell_change(context.session, row.organization_id, "api_key.revoked", subject, before, shown(ApiKey, row))
