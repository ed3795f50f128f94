"""From a change to the deliveries of its event, in the transaction that makes the change.

After a rollback nothing is sent; after a commit nothing is lost: rows and queued runs are in the transaction of the
change. An event goes to the endpoints of its own organization, and to those of organizations above with
`include_descendants`: roles also reach down the hierarchy, but a receiver must not get what it was not meant to see.
The creation or move of an organization is its parents' own event as well.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import orjson
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncSession

from backend.core.changes import Change
from backend.core.db import new_id, now
from backend.core.fields import timestamp
from backend.engine import engine, fair_partitions, queues
from backend.webhooks import delivery_limits
from backend.webhooks.schemas import EventType

DELIVER = "webhook.deliver"
ORGANIZATION = "organization"
KNOWN = frozenset(map(str, EventType)) - {EventType.WEBHOOK_TEST}
_SHARES = sa.text(
    "select signum_root(e.organization_id) as root_id, e.made_by from webhook_endpoints e where e.id = :id"
)
_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_HASH = re.compile(r"0x[0-9a-f]{64}")


@dataclass
class _Event:
    """An event of the current transaction, and its endpoints so far."""

    id: UUID
    at: datetime
    payload: str
    endpoints: set[UUID]


async def on_change(session: AsyncSession, change: Change) -> None:
    """Write the deliveries of a change that is an event type."""
    if change.action not in KNOWN:
        return
    text = sa.text("select * from signum_webhook_targets(:org, :event)")
    asked = {"org": change.organization_id, "event": change.action}
    if found := (await session.execute(text, asked)).all():
        event = _event(session, change)
        fresh = [target for target in found if target.id not in event.endpoints]
        event.endpoints.update(target.id for target in fresh)
        if kept := await delivery_limits.within(session, fresh):
            await _write(session, change, event, kept)


def _event(session: AsyncSession, change: Change) -> _Event:
    """Return a new event; an organization's own event also goes to its parents, as one event."""
    at = now()
    event = _Event(new_id(), at, payload(change.action, timestamp(at), data_of(change)), set())
    if change.subject[0] != ORGANIZATION:
        return event
    known: _Event = session.info.setdefault((DELIVER, change.action, change.subject), event)
    return known


async def _write(session: AsyncSession, change: Change, event: _Event, targets: Sequence[Any]) -> None:
    rows = [{"id": str(new_id()), "endpoint_id": str(t.id)} for t in targets]
    written = {
        "org": change.organization_id,
        "event": event.id,
        "type": change.action,
        "payload": event.payload,
        "at": event.at,
        "rows": orjson.dumps(rows).decode(),
    }
    await session.execute(
        sa.text("select signum_webhook_deliver(:org, :event, :type, :payload, :at, cast(:rows as jsonb))"), written
    )
    for row, target in zip(rows, targets, strict=True):
        if target.is_enabled:
            name = fair_partitions.name_of(target.id, target.root_id, target.made_by)
            await queue(session, target.organization_id, target.id, UUID(row["id"]), 1, timedelta(0), name)


async def queue(
    session: AsyncSession,
    organization_id: UUID,
    endpoint_id: UUID,
    delivery_id: UUID,
    run: int,
    delay: timedelta = timedelta(0),
    partition: str | None = None,
) -> None:
    """Enqueue an attempt after a delay, by default in the partition of its endpoint.

    Without a running engine, the sweep of the next one finds it.
    """
    if engine.is_running():
        await engine.submit(
            session,
            DELIVER,
            run_id(delivery_id, run),
            str(organization_id),
            str(delivery_id),
            str(run),
            queue=queues.WEBHOOKS,
            of=partition or await _partition(session, endpoint_id),
            delay=delay,
        )


async def _partition(session: AsyncSession, endpoint_id: UUID) -> str:
    row = (await session.execute(_SHARES, {"id": endpoint_id})).one()
    return fair_partitions.name_of(endpoint_id, row.root_id, row.made_by)


def run_id(delivery_id: UUID, run: int) -> str:
    """Return the workflow ID of one attempt."""
    return f"{DELIVER}:{delivery_id}:{run}"


def payload(event_type: str, at: str, data: dict[str, Any]) -> str:
    """Return the text that is signed and sent."""
    return orjson.dumps({"type": event_type, "timestamp": at, "data": data}).decode()


def data_of(change: Change) -> dict[str, Any]:
    """Return an event's data: organization, subject, status, referenced IDs, and changed fields. Values that may be a
    person's name, address or text are read from the API, where scopes apply."""
    kind, subject = change.subject
    before, after = change.before or {}, change.after or {}
    organization = subject if kind == ORGANIZATION else change.organization_id
    said = {"object": kind, "id": str(subject), "organization_id": str(organization)}
    if isinstance(after.get("status"), str):
        said["status"] = after["status"]
    if isinstance(before.get("status"), str):
        said["previous_status"] = before["status"]
    refers = {name: value for name, value in after.items() if name not in said and _is_reference(name, value)}
    changed = {"changed": sorted(after)} if change.before is not None and change.after is not None else {}
    return said | refers | changed


def _is_reference(name: str, value: Any) -> bool:
    if name.endswith("_eid"):
        return type(value) is int
    if not isinstance(value, str):
        return False
    return bool(
        (name.endswith("_id") and _ID.fullmatch(value)) or (name.endswith("tx_hash") and _HASH.fullmatch(value))
    )
