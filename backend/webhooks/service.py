"""Webhook endpoints of the entered organization."""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB
from sqlmodel import col

from backend.auth.principal import Context
from backend.core.changes import publish
from backend.core.db import now
from backend.core.encryption import SECRETS
from backend.core.errors import Forbidden, Invalid, NotFound, SecondFactorRequired
from backend.core.fields import timestamp
from backend.lists.pages import Listing, Page
from backend.organizations import hierarchy, quotas
from backend.users.models import UserRow
from backend.webhooks import attempts, egress, makers, rules, signatures
from backend.webhooks.models import DeliveryRow, EndpointRow
from backend.webhooks.schemas import (
    DeliveryStatus,
    DisabledReason,
    EndpointStatus,
    SecretRotation,
    Webhook,
    WebhookCreate,
    WebhookList,
    WebhookUpdate,
    WebhookWithSecret,
)

ENDPOINTS = sa.inspect(EndpointRow).local_table
LIST = Listing.of(ENDPOINTS.c, "created_at", "updated_at", names=(ENDPOINTS.c.url, ENDPOINTS.c.description))
PERSON = sa.func.coalesce(col(UserRow.display_name), col(UserRow.email))
REACH = (
    "A key acts only for its own organization. A person can let an endpoint receive events of the organizations below."
)
SENDING = {"url", "event_types"}
"""Fields that decide what is sent where."""
TURNED_ON = (EndpointStatus.ENABLED, EndpointStatus.DISABLED)
"""The requested status, and the previous one."""
CHANGEABLE = (
    "url",
    "event_types",
    "description",
    "include_descendants",
    "status",
    "disabled_reason",
    "parent_id",
    "client_id",
)


async def page(context: Context, page: Page, status: EndpointStatus | None) -> WebhookList:
    """Return a page of endpoints, without their secrets; those whose maker has ended are disabled first."""
    await makers.disable_ended(context.session, col(EndpointRow.organization_id) == context.organization_id)
    columns = [c for c in ENDPOINTS.c if c.name != "secret"]
    query = (
        sa.select(*columns, PERSON.label("disabled_by_name"))
        .outerjoin(UserRow, col(UserRow.id) == ENDPOINTS.c.disabled_by)
        .where(ENDPOINTS.c.organization_id == context.organization_id)
    )
    if status is not None:
        query = query.where(ENDPOINTS.c.status == status)
    shown, paging = await page.read(context.session, query)
    return WebhookList(webhooks=[_read(r._mapping) for r in shown], **paging)


async def one(context: Context, webhook_id: UUID) -> Webhook:
    """Return one endpoint."""
    return await _named(context, await find(context, webhook_id))


async def _named(context: Context, row: EndpointRow) -> Webhook:
    """Return an endpoint with the name of the person who disabled it."""
    query = sa.select(PERSON).where(col(UserRow.id) == row.disabled_by)
    name = await context.session.scalar(query) if row.disabled_by else None
    return _read(row.model_dump() | {"disabled_by_name": name})


async def find(context: Context, webhook_id: UUID, locked: bool = False) -> EndpointRow:
    """Return the row of an endpoint, disabled first if its maker has ended; `locked` locks it for a change, but does
    not block rows that only refer to it."""
    mine = (col(EndpointRow.id) == webhook_id, col(EndpointRow.organization_id) == context.organization_id)
    await makers.disable_ended(context.session, *mine, waits=True)  # its status is what is asked for
    query = sa.select(EndpointRow).where(*mine)
    query = query.with_for_update(key_share=True) if locked else query
    row: EndpointRow | None = await context.session.scalar(query)
    if row is None:
        raise NotFound("There is no webhook endpoint with this ID in this organization.")
    return row


async def create(context: Context, body: WebhookCreate) -> WebhookWithSecret:
    """Create an endpoint; only this answer contains its secret."""
    await _check_reach(context, body.include_descendants)
    await egress.check(body.url)
    await _lock_reach(context, body.include_descendants)
    await _check_count(context)
    secret = signatures.new_secret()
    row = EndpointRow(
        organization_id=context.organization_id,
        url=body.url,
        event_types=[str(t) for t in body.event_types],
        description=body.description,
        include_descendants=body.include_descendants,
        secret="",
    )
    row.secret = SECRETS.seal_text(secret, str(row.id))
    await makers.take(context, row)
    context.session.add(row)
    await _flush(context, row, body.include_descendants)
    record = _read(row.model_dump())
    await publish(
        context.session,
        row.organization_id,
        "webhook.created",
        ("webhook", row.id),
        None,
        record.model_dump(mode="json"),
    )
    return _with_secret(record, secret)


async def _lock_reach(context: Context, wanted: bool | None) -> None:
    """Lock the hierarchy before an endpoint with `include_descendants` is added, and before any row is locked."""
    if wanted:
        await hierarchy.lock(context.session, context.organization_id)


async def _flush(context: Context, row: EndpointRow, reaches_below: bool | None) -> None:
    await context.session.flush()
    if reaches_below:
        await quotas.check_receivers(context.session, row.organization_id)


async def _check_reach(context: Context, wanted: bool | None) -> None:
    if wanted and context.key is not None:
        raise Forbidden(REACH)
    if wanted:
        await _check_factor(context)


async def _check_factor(context: Context) -> None:
    """Raise 403 for a person without a second factor if an organization below requires one: they may not see its
    events."""
    if context.person is None or context.person.has_factor:
        return
    text = sa.text("select signum_requires_factor_below(:org)")
    if await context.session.scalar(text, {"org": context.organization_id}):
        raise SecondFactorRequired


async def _check_count(context: Context) -> None:
    count = sa.select(sa.func.count()).where(col(EndpointRow.organization_id) == context.organization_id)
    await quotas.check(
        context.session, context.organization_id, count, rules.MAX_ENDPOINTS, "webhook endpoints; delete one"
    )


async def update(context: Context, webhook_id: UUID, body: WebhookUpdate) -> Webhook:
    """Change the given fields; null clears only the description."""
    changes = body.model_dump(exclude_unset=True)
    _check_nulls(changes)
    if "url" in changes:
        await _check_url(context, webhook_id, changes["url"])
    await _lock_reach(context, body.include_descendants)
    row = await find(context, webhook_id, locked=True)
    if changes.get("include_descendants") != row.include_descendants:
        await _check_reach(context, body.include_descendants)
    if changes.get("include_descendants", row.include_descendants):
        await _check_sending(context, row, changes)
    if row.include_descendants and not changes.get("include_descendants", True):
        await _forget_descendants(context, row)
    before = _record(row)
    status = changes.pop("status", row.status)
    if changes.get("url", row.url) != row.url or (status, row.status) == TURNED_ON:
        await makers.take(context, row)
    for name, value in changes.items():
        setattr(row, name, value)
    await _set_status(context, row, status)
    await _flush(context, row, body.include_descendants)
    await _publish_update(context, row, before)
    return await _named(context, row)


async def _check_url(context: Context, webhook_id: UUID, url: str) -> None:
    """Check a new URL before anything is locked: its name server may be slow, and deliveries wait for the endpoint."""
    mine = (col(EndpointRow.id) == webhook_id, col(EndpointRow.organization_id) == context.organization_id)
    known = await context.session.scalar(sa.select(col(EndpointRow.url)).where(*mine))
    if known is not None and known != url:
        await egress.check(url)


async def _check_sending(context: Context, row: EndpointRow, changes: dict[str, Any]) -> None:
    """Raise 403 if a caller who may not receive events of organizations below changes which of them an endpoint gets,
    where it sends them, or enables it. A key may repeat unchanged values."""
    named = SENDING & changes.keys()
    is_changed = any(changes[name] != getattr(row, name) for name in named)
    is_enabled = (changes.get("status"), row.status) == TURNED_ON
    if is_changed or is_enabled or (named and context.key is None):
        await _check_reach(context, True)


async def _forget_descendants(context: Context, row: EndpointRow) -> None:
    """Delete undelivered events of organizations below: an endpoint that no longer receives them, perhaps under another
    URL, gets none of them later."""
    place = sa.cast(col(DeliveryRow.payload), JSONB)["data"]["organization_id"].astext
    undelivered = sa.delete(DeliveryRow).where(
        col(DeliveryRow.endpoint_id) == row.id,
        col(DeliveryRow.status) != DeliveryStatus.SUCCEEDED,
        place.is_distinct_from(str(row.organization_id)),
    )
    await context.session.execute(undelivered)


def _check_nulls(changes: dict[str, Any]) -> None:
    wrong = [name for name, value in changes.items() if value is None and name != "description"]
    if wrong:
        raise Invalid([{"pointer": f"/{name}", "detail": "cannot be null"} for name in wrong])


async def _set_status(context: Context, row: EndpointRow, status: EndpointStatus) -> None:
    if status == row.status:
        return
    if status == EndpointStatus.DISABLED:
        await attempts.disable(context.session, row, DisabledReason.MANUAL, context.user_id)
    else:
        row.status, row.disabled_reason, row.disabled_at, row.disabled_by = status, None, None, None


def _record(row: EndpointRow) -> dict[str, Any]:
    return {
        name: value for name, value in _read(row.model_dump()).model_dump(mode="json").items() if name in CHANGEABLE
    }


async def _publish_update(context: Context, row: EndpointRow, before: dict[str, Any]) -> None:
    """Record what has changed; disabling is already recorded."""
    after = _record(row)
    left = {"status", "disabled_reason"} if after["status"] == EndpointStatus.DISABLED else set()
    changed = [name for name in after if after[name] != before[name] and name not in left]
    if changed:
        old, new = ({name: side[name] for name in changed} for side in (before, after))
        await publish(context.session, row.organization_id, "webhook.updated", ("webhook", row.id), old, new)


async def delete(context: Context, webhook_id: UUID) -> None:
    """Delete an endpoint and its log; waiting deliveries are not sent."""
    row = await find(context, webhook_id, locked=True)
    before = _read(row.model_dump()).model_dump(mode="json")
    await context.session.delete(row)
    await context.session.flush()
    await publish(context.session, row.organization_id, "webhook.removed", ("webhook", webhook_id), before, None)


async def rotate(context: Context, webhook_id: UUID, body: SecretRotation) -> WebhookWithSecret:
    """Rotate the secret: the new one signs immediately; the previous one also signs until the overlap ends."""
    row = await find(context, webhook_id, locked=True)
    at, end = now(), now() + timedelta(seconds=body.overlap_seconds)
    secret = signatures.new_secret()
    # An announced end stays unless this rotation is shorter: a leaked secret must not keep signing.
    ends = [(s["secret"], min(datetime.fromisoformat(s["until"]), end)) for s in row.old_secrets]
    kept = [(row.secret, end), *ends][: rules.MAX_OLD_SECRETS]
    row.old_secrets = [{"secret": old, "until": until.isoformat()} for old, until in kept if until > at]
    row.secret = SECRETS.seal_text(secret, str(row.id))
    await context.session.flush()
    record = _read(row.model_dump())
    after = {"old_secrets_until": record.old_secrets_until and timestamp(record.old_secrets_until)}
    await publish(context.session, row.organization_id, "webhook.secret_rotated", ("webhook", row.id), {}, after)
    return _with_secret(record, secret)


def _read(row: Any) -> Webhook:
    ends = [datetime.fromisoformat(s["until"]) for s in row["old_secrets"]]
    until = max((end for end in ends if end > now()), default=None)
    return Webhook.model_validate({**row, "old_secrets_until": until, "api_version": "v1"})


def _with_secret(record: Webhook, secret: str) -> WebhookWithSecret:
    return WebhookWithSecret.model_validate({**record.model_dump(), "secret": secret})
