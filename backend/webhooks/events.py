"""From a change to the deliveries of its event, in the transaction that makes the change.

Rolled back, nothing was said; committed, nothing is lost: rows and queued runs are one with what they tell of. An event
goes to the endpoints of its own organization, and to those of the organizations above that ask for what happens below
them (`include_descendants`): roles reach down a hierarchy, and so does the wish to know, but a receiver should not be
sent what nobody meant it to see. That an organization was made or moved is its parents' own event as well.
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

from backend import queues, workflows
from backend.changes import Change
from backend.db import new_id, now
from backend.fields import timestamp
from backend.webhooks.schemas import EventType

DELIVER = "webhook.deliver"
ORGANIZATION = "organization"
KNOWN = frozenset(map(str, EventType)) - {EventType.WEBHOOK_TEST}
_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_HASH = re.compile(r"0x[0-9a-f]{64}")


@dataclass
class _Event:
    """An event of the transaction that goes on, and the endpoints that it goes to already."""

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
        await _write(session, change, event, fresh)


def _event(session: AsyncSession, change: Change) -> _Event:
    """A new event; but what happens to an organization is told to its parents too, and is one event to all of them."""
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
            await queue(session, target.organization_id, target.id, UUID(row["id"]), 1)


async def queue(
    session: AsyncSession,
    organization_id: UUID,
    endpoint_id: UUID,
    delivery_id: UUID,
    run: int,
    delay: timedelta = timedelta(0),
) -> None:
    """Let an attempt be made after a delay. Where no engine runs, the sweep of the next one finds it."""
    if workflows.is_running():
        await workflows.submit(
            session,
            DELIVER,
            run_id(delivery_id, run),
            str(organization_id),
            str(delivery_id),
            str(run),
            queue=queues.WEBHOOKS,
            of=str(endpoint_id),
            delay=delay,
        )


def run_id(delivery_id: UUID, run: int) -> str:
    """The workflow's id of one attempt."""
    return f"{DELIVER}:{delivery_id}:{run}"


def payload(event_type: str, at: str, data: dict[str, Any]) -> str:
    """The text that is signed and sent."""
    return orjson.dumps({"type": event_type, "timestamp": at, "data": data}).decode()


def data_of(change: Change) -> dict[str, Any]:
    """What an event says: whose, what, its status, what it refers to by id, and which fields changed. Values that might
    be somebody's name, address or text are asked for by the API, where scopes decide."""
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
