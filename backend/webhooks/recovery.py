"""Recovery of an endpoint: every failed delivery since a time is sent again."""

from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.auth.principal import Context
from backend.auth.scopes import Scope
from backend.core.db import Write, now
from backend.core.errors import BadRequest
from backend.requests.accept import accept
from backend.requests.models import RequestRow
from backend.requests.service import Step
from backend.webhooks import attempts
from backend.webhooks.models import DeliveryRow, EndpointRow
from backend.webhooks.replays import enabled, note
from backend.webhooks.schemas import (
    DeliveryStatus,
    EndpointStatus,
    RecoveryAccepted,
)

RECOVER = "webhook.recover"
BATCH = 25
"""Deliveries that one transaction of a recovery sends again, a statement or two each."""


async def recover(context: Context, webhook_id: UUID, since: Any) -> tuple[RecoveryAccepted, RequestRow]:
    """Accept a request to send again every delivery that has failed since a time."""
    if since > now():
        raise BadRequest("since is in the future. Give an earlier time.", pointer="/since")
    endpoint = await enabled(context, webhook_id)
    request = await accept(
        context,
        RECOVER,
        "Send failed deliveries again",
        subject=("webhook", endpoint.id),
        scope=Scope.ORGS_WRITE,
        steps=[Step("send", "Send failed deliveries again")],
        order=endpoint.id,
        arguments={"since": since.isoformat(), "until": now().isoformat()},
    )
    await note(context, endpoint.id, "webhook.recovering", {"since": since.isoformat(), "request_id": str(request.id)})
    accepted = RecoveryAccepted(
        status=request.status,
        request_id=str(request.id),
        message="The failed deliveries are being sent again.",
        webhookId=endpoint.id,
    )
    return accepted, request


async def recover_batch(session: Write, endpoint_id: UUID, since: Any, until: Any) -> int:
    """Send the next failed deliveries again; 0 if none is left, or the endpoint accepts none. `until` is the time of
    the request: later failures are not sent again by a repeated run."""
    endpoint = await session.get(EndpointRow, endpoint_id, with_for_update={"key_share": True})
    if endpoint is None or endpoint.status == EndpointStatus.DISABLED:
        return 0
    query = (
        sa.select(DeliveryRow)
        .where(col(DeliveryRow.endpoint_id) == endpoint_id, col(DeliveryRow.status) == DeliveryStatus.FAILED)
        .where(col(DeliveryRow.created_at) >= since, col(DeliveryRow.updated_at) <= until)
        .order_by(col(DeliveryRow.created_at), col(DeliveryRow.id))
        .limit(BATCH)
        .with_for_update()
    )
    rows = list(await session.scalars(query))
    for row in rows:
        await attempts.send_again(session, row)
    return len(rows)
