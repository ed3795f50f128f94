"""API keys of the entered organization."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from fastapi import Response
from sqlmodel import col

from backend.api_keys import rules
from backend.api_keys.models import ApiKeyRow
from backend.api_keys.schemas import ApiKey, ApiKeyCreate, ApiKeyCreated, ApiKeyList, PendingRequests
from backend.auth.principal import Context
from backend.auth.secrets import api_key, digest
from backend.core import ip_ranges
from backend.core.changes import THE_SYSTEM, acting, publish, publish_change, shown
from backend.core.db import Write, now
from backend.core.errors import NotFound
from backend.core.fields import Network
from backend.lists import json_records
from backend.lists.pages import Listing, Page
from backend.organizations import quotas

KEYS = sa.inspect(ApiKeyRow).local_table
_RECORD = json_records.column(ApiKey, KEYS)
LIST = Listing.of(KEYS.c, "created_at", "updated_at", names=(KEYS.c.name,), codes=(KEYS.c.prefix,))
SHOWN = 8
"""Number of leading characters of a key that lists show."""


async def page(context: Context, page: Page) -> Response:
    """Return a page of keys, including revoked and expired ones; keys that ended with their maker are marked first."""
    query = (await _query(context)).with_only_columns(_RECORD, KEYS.c.id)
    return await page.respond(context.session, query, ApiKeyList)


async def one(context: Context, key_id: UUID) -> ApiKey:
    """Return a key; 404 if the organization has none with this ID."""
    row = (await context.session.execute((await _query(context)).where(KEYS.c.id == key_id))).first()
    if row is None:
        raise NotFound("There is no API key with this ID in this organization.")
    return ApiKey.model_validate(row)


async def _query(context: Context) -> sa.Select[Any]:
    await revoke_orphans(context.session, col(ApiKeyRow.organization_id) == context.organization_id)
    columns = (c for c in KEYS.c if c.name not in ("key_hash", "grant_id"))
    return sa.select(*columns).where(KEYS.c.organization_id == context.organization_id)


async def create(context: Context, body: ApiKeyCreate) -> ApiKeyCreated:
    """Create a key; only this answer contains its secret."""
    rules.check_scopes(body.scopes, context.scopes)
    creator = context.key.network if context.key else None
    rules.check_network(body.network, await _network(context), creator)
    maker = await _maker(context)
    rules.check_expiry(body.expires_at, now(), maker.ends_at)
    ranges = body.allowed_ip_ranges or []
    ip_ranges.check_distinct(ranges)
    ranges = ip_ranges.narrowed(ranges, context.key.allowed_ip_ranges if context.key else ())
    await _check_count(context)
    key = api_key()
    row = ApiKeyRow(
        organization_id=context.organization_id,
        name=body.name,
        scopes=sorted({str(s) for s in body.scopes}),
        network=body.network or maker.network,
        allowed_ip_ranges=ranges,
        key_hash=digest(key),
        prefix=key[:SHOWN],
        last_four=key[-4:],
        created_by=context.user_id,
        parent_id=maker.key_id,
        grant_id=maker.grant_id,
        client_id=maker.client_id,
        expires_at=body.expires_at,
    )
    context.session.add(row)
    await context.session.flush()
    after = shown(ApiKey, row)
    await publish(context.session, row.organization_id, "api_key.created", ("api_key", row.id), None, after)
    return ApiKeyCreated.model_validate({**row.model_dump(), "key": key})


async def _check_count(context: Context) -> None:
    expires_at = col(ApiKeyRow.expires_at)
    working = sa.select(sa.func.count()).where(
        col(ApiKeyRow.organization_id) == context.organization_id,
        col(ApiKeyRow.revoked_at).is_(None),
        sa.or_(expires_at.is_(None), expires_at > sa.func.now()),
    )
    await quotas.check(
        context.session, context.organization_id, working, quotas.API_KEYS, "active API keys; revoke one"
    )


async def _network(context: Context) -> Network:
    text = sa.text("select network from organizations where id = :id")
    return Network(await context.session.scalar(text, {"id": context.organization_id}))


@dataclass(frozen=True)
class _Maker:
    """The credential that makes a key, unless it is a person's own: the key ends with it."""

    key_id: UUID | None = None
    grant_id: UUID | None = None
    client_id: UUID | None = None
    network: Network | None = None
    """The network of the maker; the new key is bound to the same one."""
    ends_at: datetime | None = None


async def _maker(context: Context) -> _Maker:
    person, grant, network, ends = context.person, None, None, []
    if context.key is not None:
        query = sa.select(col(ApiKeyRow.expires_at), col(ApiKeyRow.network)).where(
            col(ApiKeyRow.id) == context.key.key_id
        )
        expires_at, bound = (await context.session.execute(query)).one()
        network = Network(bound) if bound else None
        ends.append(expires_at)
    if person is not None and person.granted is not None:
        text = sa.text("select client_id, expires_at from signum_grant(:session)")
        grant = (await context.session.execute(text, {"session": person.session_id})).one()
        ends.append(grant.expires_at)
    return _Maker(
        key_id=context.key.key_id if context.key else None,
        grant_id=person.session_id if person and grant else None,
        client_id=grant.client_id if grant else None,
        network=network,
        ends_at=min((end for end in ends if end is not None), default=None),
    )


async def revoke(context: Context, key_id: UUID, requests: PendingRequests) -> None:
    """Revoke a key and every key made with it, immediately. For a key that is already revoked, a person changes only
    what happens to its requests."""
    if requests is PendingRequests.CONTINUE:
        context.require_person(because="Revoke the key without `requests=continue`, or sign in.")
    query = sa.select(ApiKeyRow).where(
        col(ApiKeyRow.id) == key_id, col(ApiKeyRow.organization_id) == context.organization_id
    )
    row: ApiKeyRow | None = await context.session.scalar(query.with_for_update())
    if row is None:
        raise NotFound("There is no key with this ID in this organization.")
    if row.revoked_at is None or context.is_person:
        row.keeps_requests = requests is PendingRequests.CONTINUE
    await _end(context.session, row)
    await context.session.flush()
    await _revoke_ended(context.session, col(ApiKeyRow.organization_id) == context.organization_id)


async def revoke_made_by(session: Write, organization_id: UUID, *which: sa.ColumnElement[bool]) -> None:
    """Revoke some keys of an organization, and every key made with them."""
    here = col(ApiKeyRow.organization_id) == organization_id
    query = sa.select(ApiKeyRow).where(here, col(ApiKeyRow.revoked_at).is_(None), *which).with_for_update()
    for row in (await session.scalars(query)).all():
        await _end(session, row)
    await session.flush()
    await _revoke_ended(session, here)


async def _end(session: Write, row: ApiKeyRow) -> None:
    before = shown(ApiKey, row)
    row.revoked_at = row.revoked_at or now()
    subject = ("api_key", row.id)
    await publish_change(session, row.organization_id, "api_key.revoked", subject, before, shown(ApiKey, row))


async def revoke_orphans(session: Write, *which: sa.ColumnElement[bool]) -> None:
    """Mark the keys that ended with their maker: for the sweep, and before a list."""
    with acting(THE_SYSTEM):
        await _revoke_ended(session, *which)


async def _revoke_ended(session: Write, *which: sa.ColumnElement[bool]) -> None:
    is_made = sa.or_(col(ApiKeyRow.parent_id).is_not(None), col(ApiKeyRow.grant_id).is_not(None))
    has_expired = sa.and_(col(ApiKeyRow.expires_at).is_not(None), col(ApiKeyRow.expires_at) <= now())
    ended = sa.func.signum_key_ended(col(ApiKeyRow.id), type_=sa.DateTime(timezone=True))
    query = sa.select(ApiKeyRow).where(
        *which, is_made, col(ApiKeyRow.revoked_at).is_(None), sa.not_(has_expired), ended.is_not(None)
    )
    for row in (await session.scalars(query.with_for_update(skip_locked=True))).all():
        row.keeps_requests = True  # its maker's end decides about its requests
        await _end(session, row)
