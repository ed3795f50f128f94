"""Keys of the entered organization."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend import ip_ranges, quotas
from backend.api_keys import rules
from backend.api_keys.models import ApiKeyRow
from backend.api_keys.schemas import ApiKey, ApiKeyCreate, ApiKeyCreated, ApiKeyList
from backend.auth.principal import Context
from backend.auth.secrets import api_key, digest
from backend.changes import THE_SYSTEM, acting, shown, tell, tell_change
from backend.db import Write, now
from backend.errors import NotFound
from backend.fields import Network
from backend.keyset import Page

SHOWN = 8
"""Characters of a key that lists show from its beginning."""


async def page(context: Context, page: Page) -> ApiKeyList:
    """A page of keys, revoked and expired ones too; those that ended with what made them are written down first."""
    await revoke_orphans(context.session, col(ApiKeyRow.organization_id) == context.organization_id)
    table = sa.inspect(ApiKeyRow).local_table
    query = sa.select(*(c for c in table.c if c.name not in ("key_hash", "grant_id"))).where(
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
    await tell(context.session, row.organization_id, "api_key.created", ("api_key", row.id), None, shown(ApiKey, row))
    return ApiKeyCreated.model_validate({**row.model_dump(), "key": key})


async def _check_count(context: Context) -> None:
    expires_at = col(ApiKeyRow.expires_at)
    working = sa.select(sa.func.count()).where(
        col(ApiKeyRow.organization_id) == context.organization_id,
        col(ApiKeyRow.revoked_at).is_(None),
        sa.or_(expires_at.is_(None), expires_at > sa.func.now()),
    )
    await quotas.check(
        context.session, context.organization_id, working, quotas.API_KEYS, "API keys that work; revoke one"
    )


async def _network(context: Context) -> Network:
    text = sa.text("select network from organizations where id = :id")
    return Network(await context.session.scalar(text, {"id": context.organization_id}))


@dataclass(frozen=True)
class _Maker:
    """The credential that makes a key, where it is not a person's own: the key ends with it."""

    key_id: UUID | None = None
    grant_id: UUID | None = None
    client_id: UUID | None = None
    network: Network | None = None
    """What the key that makes it is bound to; the new key is then bound to the same."""
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


async def revoke(context: Context, key_id: UUID) -> None:
    """End a key at once, and every key made with it; one that is revoked already stays as it is."""
    query = sa.select(ApiKeyRow).where(
        col(ApiKeyRow.id) == key_id, col(ApiKeyRow.organization_id) == context.organization_id
    )
    row: ApiKeyRow | None = await context.session.scalar(query.with_for_update())
    if row is None:
        raise NotFound("There is no such key in this organization.")
    await _end(context.session, row)
    await context.session.flush()
    await _revoke_ended(context.session, col(ApiKeyRow.organization_id) == context.organization_id)


async def revoke_made_by(session: Write, organization_id: UUID, *which: sa.ColumnElement[bool]) -> None:
    """End some keys of an organization, and every key made with them."""
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
    await tell_change(session, row.organization_id, "api_key.revoked", subject, before, shown(ApiKey, row))


async def revoke_orphans(session: Write, *which: sa.ColumnElement[bool]) -> None:
    """Write down which of some keys ended with what made them: for the sweep, and before a list."""
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
        await _end(session, row)
