"""From a change to the deliveries of its event, in the transaction that makes the change.

Rolled back, nothing was said; committed, nothing is lost: rows and queued runs are one with what they tell of. An event
goes to the endpoints of its own organization, and to those of the organizations above that ask for what happens below
them (`include_descendants`): roles reach down a hierarchy, and so does the wish to know, but a receiver should not be
sent what nobody meant it to see.
"""

import re
from datetime import timedelta
from typing import Any
from uuid import UUID

import orjson
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncSession

from backend import workflows
from backend.changes import Change
from backend.db import new_id, now
from backend.fields import timestamp
from backend.webhooks.schemas import EventType

DELIVER = "webhook.deliver"
KNOWN = frozenset(map(str, EventType)) - {EventType.WEBHOOK_TEST}
_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_HASH = re.compile(r"0x[0-9a-f]{64}")


async def on_change(session: AsyncSession, change: Change) -> None:
    """Write the deliveries of a change that is an event type."""
    if change.action not in KNOWN:
        return
    at = now()
    before = (change.before or {}).get("parent_id") if change.action == EventType.ORGANIZATION_MOVED else None
    place = {"org": change.organization_id, "before": before}
    targets = await session.execute(
        sa.text("select * from signum_webhook_targets(:org, cast(:before as uuid), :event)"),
        place | {"event": change.action},
    )
    if found := targets.all():
        await _write(session, place, change, found, at)


async def _write(session: AsyncSession, place: dict[str, Any], change: Change, targets: Any, at: Any) -> None:
    rows = [{"id": str(new_id()), "endpoint_id": str(t.id)} for t in targets]
    body = payload(change.action, timestamp(at), data_of(change))
    text = (
        "select signum_webhook_deliver(:org, cast(:before as uuid), :event, :type, :payload, :at, cast(:rows as jsonb))"
    )
    written = {"event": new_id(), "type": change.action, "payload": body, "at": at, "rows": orjson.dumps(rows).decode()}
    await session.execute(sa.text(text), place | written)
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
            queue=workflows.WEBHOOKS,
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
    said = {"object": kind, "id": str(subject), "organization_id": str(change.organization_id)}
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
