"""The periodic sweep for abandoned work, and for changes that depend on time only."""

import asyncio
from collections.abc import Awaitable
from contextlib import suppress
from datetime import timedelta
from typing import Any
from uuid import UUID

import sqlalchemy as sa
import structlog
from dbos import DBOS
from sqlmodel import col

from backend.api_keys import service as api_keys
from backend.approvals import service as approvals
from backend.attestations import states as attestations
from backend.auth import tokens
from backend.bridges.late_deliveries import late_deliveries
from backend.core import db
from backend.core.errors import SignumError
from backend.core.recorded_time import recorded_now
from backend.invitations import service as invitations
from backend.mail import service as mail
from backend.requests import service as requests
from backend.requests import workflows
from backend.requests.models import RequestRow
from backend.requests.schemas import RequestStatus
from backend.webhooks import makers as endpoints
from backend.webhooks import stalled_deliveries as deliveries

log = structlog.get_logger()
INTERVAL = 60.0
SETTLED = timedelta(minutes=1)
"""Age below which a request is left to its own worker."""
LOST = {"ERROR", "CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED", "SUCCESS"}
INTERRUPTED = "The operation was interrupted. Completed steps are kept; retry it."


async def run(stopping: asyncio.Event) -> None:
    """Sweep every minute until the process stops."""
    while not stopping.is_set():
        try:
            await once()
        except Exception:
            log.exception("sweep.failed")
        with suppress(TimeoutError):
            await asyncio.wait_for(stopping.wait(), INTERVAL)


async def once() -> None:
    """Run one sweep.

    It expires what is due, loads rotated signing keys, deletes emailed links that no longer work, ends requests whose
    workflow ended without recording it, detects packets that arrived after they were given up, disables webhook
    endpoints whose creating key or grant has ended, and queues abandoned webhook deliveries.
    """
    async with db.worker() as session:
        await attestations.expire_due(session)
        await invitations.expire_due(session)
        await api_keys.revoke_orphans(session)
        await tokens.load_keys(session)
        await mail.forget(session)
        rows = (await session.execute(_unfinished())).all()
        due = await approvals.due(session)
    for row in rows:
        await _try(_look(row), row.id)
    for row in due:
        await _try(approvals.expire(row.organization_id, row.id), row.id)
    await late_deliveries()
    await endpoints.look()
    await deliveries.look()


async def _try(work: Awaitable[None], about: UUID) -> None:
    """Log a failure, so that it does not prevent other work."""
    try:
        await work
    except Exception:
        log.exception("sweep.item_failed", about=str(about))


async def _look(row: Any) -> None:
    name = workflows.workflow_id(row.id, row.attempt, requests.hop_of(row.arguments))
    group = row.arguments.get(requests.GROUP) if row.attempt == 1 else None
    if await _is_known(name) or (group and await _is_known(group)):
        return
    if await workflows.abandon(row.organization_id, row.id, row.attempt, SignumError(INTERRUPTED)):
        log.warning("request.abandoned", request=str(row.id))


async def _is_known(name: str) -> bool:
    """Return whether the engine has a run, and has not lost it."""
    state = await DBOS.get_workflow_status_async(name)
    return state is not None and state.status not in LOST


def _unfinished() -> "sa.Select[UUID, UUID, int, dict[str, Any]]":
    found = sa.select(
        col(RequestRow.id), col(RequestRow.organization_id), col(RequestRow.attempt), col(RequestRow.arguments)
    )
    return found.where(
        col(RequestRow.status).in_([RequestStatus.ACCEPTED, RequestStatus.RUNNING]),
        sa.not_(col(RequestRow.awaits_finality)),
        col(RequestRow.updated_at) < recorded_now() - SETTLED,
    )
