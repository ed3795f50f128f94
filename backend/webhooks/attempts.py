"""One attempt of one delivery: read it, send it without a database connection, write the result.

Every attempt is a separate short workflow, enqueued with a delay in the transaction that ends the previous one, instead
of one workflow that sleeps for three days: waiting costs a row and no task, a restart recovers only what was being
sent, and replaying, disabling or deleting changes only rows. The delivery's `run` identifies the one attempt that is
due; a workflow with an older one ends immediately. An attempt killed between sending and writing is made again with the
same `webhook-id`: at least once, never lost.
"""

import random
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.core import db
from backend.core.changes import publish
from backend.core.db import Write, now
from backend.core.encryption import SECRETS, CannotUnseal
from backend.core.runtime import runtime
from backend.engine.fair_partitions import SlowReceivers
from backend.metrics.registry import metrics
from backend.webhooks import disabled_email, egress, events, rules, signatures
from backend.webhooks.egress import Answer
from backend.webhooks.models import DeliveryRow, EndpointRow
from backend.webhooks.schemas import DeliveryStatus, DisabledReason, EndpointStatus

TRIES_KEPT = 30
DISABLED = "The endpoint was disabled"
AGENT = "Signum-Webhooks/1"


@dataclass(frozen=True)
class Parcel:
    """The input of an attempt."""

    organization_id: UUID
    endpoint_id: UUID
    delivery_id: UUID
    run: int
    url: str
    event_id: UUID
    payload: str
    secrets: tuple[tuple[str, datetime | None], ...]
    """Encrypted, each with its end."""


async def attempt(organization_id: UUID, delivery_id: UUID, run: int) -> None:
    """Make the attempt that `run` identifies; do nothing if it is no longer due."""
    async with db.step(organization_id) as session:
        parcel = await _fetch(session, delivery_id, run)
    if parcel is None:
        return
    at = now()
    answer = await _send(parcel, at)
    metrics().deliveries.labels(_result(answer)).inc()
    runtime.part(SlowReceivers).note(parcel.endpoint_id, answer.is_slow)
    async with db.step(organization_id) as session:
        await record(session, parcel, answer, at)


def _result(answer: Answer) -> str:
    """Return the result of an attempt for the metrics."""
    if answer.status is None:
        return "failed"
    return "succeeded" if rules.is_success(answer.status) else "refused"


async def _fetch(session: Write, delivery_id: UUID, run: int) -> Parcel | None:
    ended = sa.func.signum_maker_ended(col(EndpointRow.parent_id), col(EndpointRow.grant_id), type_=sa.Boolean())
    query = (
        sa.select(DeliveryRow, EndpointRow, ended)
        .join(EndpointRow, col(EndpointRow.id) == col(DeliveryRow.endpoint_id))
        .where(col(DeliveryRow.id) == delivery_id, col(DeliveryRow.run) == run)
        .where(col(DeliveryRow.status) == DeliveryStatus.PENDING)
    )
    found = (await session.execute(query)).first()
    if found is None:
        return None
    delivery, endpoint, has_ended = found
    if has_ended or endpoint.status == EndpointStatus.DISABLED:  # while the event was being written
        delivery.status, delivery.failure, delivery.next_attempt_at = DeliveryStatus.FAILED, DISABLED, None
        return None
    old = ((s["secret"], datetime.fromisoformat(s["until"])) for s in endpoint.old_secrets)
    return Parcel(
        organization_id=endpoint.organization_id,
        endpoint_id=endpoint.id,
        delivery_id=delivery.id,
        run=run,
        url=endpoint.url,
        event_id=delivery.event_id,
        payload=delivery.payload,
        secrets=((endpoint.secret, None), *old),
    )


async def _send(parcel: Parcel, at: datetime) -> Answer:
    sealed = [secret for secret, until in parcel.secrets if until is None or until > at]
    try:
        keys = [SECRETS.unseal_text(secret, str(parcel.endpoint_id)) for secret in sealed]
    except CannotUnseal:
        return Answer(None, None, "The endpoint's secret cannot be decrypted. Rotate it", 0)
    body = parcel.payload.encode()
    signed = signatures.headers(keys, str(parcel.event_id), int(at.timestamp()), body)
    return await egress.post(
        parcel.url, body, {"Content-Type": "application/json", "User-Agent": AGENT, "Accept": "*/*", **signed}
    )


async def record(session: Write, parcel: Parcel, answer: Answer, at: datetime) -> None:
    """Write the result of an attempt and enqueue the next one; do nothing if the delivery was replayed in the
    meantime."""
    # Lock the endpoint first, the common order when both change; this does not block rows that only refer to it.
    endpoint = await session.get(EndpointRow, parcel.endpoint_id, with_for_update={"key_share": True})
    row = await session.get(DeliveryRow, parcel.delivery_id, with_for_update=True)
    if endpoint is None or row is None or row.run != parcel.run or row.status != DeliveryStatus.PENDING:
        return
    row.attempt, row.run, row.attempted_at, row.next_attempt_at = row.attempt + 1, row.run + 1, at, None
    row.response_status, row.response_body, row.failure = answer.status, answer.body, answer.failure
    row.attempts = [*row.attempts, _noted(answer, at)][-TRIES_KEPT:]
    if rules.is_success(answer.status):
        row.status, endpoint.last_success_at = DeliveryStatus.SUCCEEDED, at
        return
    endpoint.last_failure_at = at
    if answer.status == rules.GONE:
        await _fail(session, row, endpoint, DisabledReason.GONE)
        return
    wait = rules.next_wait(row.attempt, random.random())  # noqa: S311  (spreads load, hides nothing)
    if wait is None:
        is_dead = endpoint.last_success_at is None or endpoint.last_success_at < row.round_began_at
        await _fail(session, row, endpoint, DisabledReason.FAILING if is_dead else None)
        return
    row.next_attempt_at = at + wait
    await session.flush()
    await events.queue(session, row.organization_id, row.endpoint_id, row.id, row.run, row.next_attempt_at - now())


def _noted(answer: Answer, at: datetime) -> dict[str, Any]:
    return {
        "at": at.isoformat(),
        "response_status": answer.status,
        "failure": answer.failure,
        "duration_ms": answer.milliseconds,
    }


async def _fail(session: Write, row: DeliveryRow, endpoint: EndpointRow, reason: DisabledReason | None) -> None:
    """Mark a delivery as failed, and with a reason, disable the endpoint: it answered 410, or ten attempts of this
    delivery failed over three days in which no other delivery reached it."""
    row.status = DeliveryStatus.FAILED
    await session.flush()
    if reason is not None and endpoint.status == EndpointStatus.ENABLED:
        await disable(session, endpoint, reason)
        await disabled_email.send(session, endpoint, reason, row.failure)


async def disable(session: Write, endpoint: EndpointRow, reason: DisabledReason, by: UUID | None = None) -> None:
    """Disable an endpoint, or give a disabled one a new reason; waiting deliveries are marked failed and can be
    recovered after it is enabled again. `by` is the person who does it."""
    before = {"status": str(endpoint.status)}
    endpoint.status, endpoint.disabled_reason, endpoint.disabled_at = EndpointStatus.DISABLED, reason, now()
    endpoint.disabled_by = by
    await session.execute(
        sa.update(DeliveryRow)
        .where(col(DeliveryRow.endpoint_id) == endpoint.id, col(DeliveryRow.status) == DeliveryStatus.PENDING)
        .values(
            status=DeliveryStatus.FAILED,
            failure=DISABLED,
            next_attempt_at=None,
            run=col(DeliveryRow.run) + 1,
            updated_at=now(),
        )
    )
    await publish(
        session,
        endpoint.organization_id,
        "webhook.disabled",
        ("webhook", endpoint.id),
        before,
        {"status": EndpointStatus.DISABLED, "disabled_reason": str(reason)},
    )


async def send_again(session: Write, row: DeliveryRow) -> None:
    """Restart a delivery immediately: ten attempts, the same event, regardless of earlier results."""
    at = now()
    row.status, row.run, row.attempt, row.round_began_at = DeliveryStatus.PENDING, row.run + 1, 0, at
    row.next_attempt_at, row.updated_at = at, at
    await session.flush()
    await events.queue(session, row.organization_id, row.endpoint_id, row.id, row.run)


async def resume(session: Write, row: DeliveryRow) -> None:
    """Give a stalled attempt another run."""
    row.run += 1
    await session.flush()
    await events.queue(session, row.organization_id, row.endpoint_id, row.id, row.run)


async def forget(session: Write) -> int:
    """Delete deliveries older than the log's retention; return their number."""
    old = sa.delete(DeliveryRow).where(
        col(DeliveryRow.created_at) < now() - rules.KEPT, col(DeliveryRow.status) != DeliveryStatus.PENDING
    )
    return int((await session.execute(old)).rowcount)  # type: ignore[attr-defined]
