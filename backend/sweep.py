"""The periodic look for what nobody works on, and for what time alone has changed."""

import asyncio
from contextlib import suppress
from datetime import timedelta

import sqlalchemy as sa
import structlog
from dbos import DBOS
from sqlmodel import col

from backend import db
from backend.attestations.service import expire_due
from backend.db import now
from backend.requests import service as requests
from backend.requests.models import RequestRow
from backend.requests.schemas import RequestStatus

log = structlog.get_logger()
INTERVAL = 60.0
SETTLED = timedelta(minutes=1)
"""A request younger than this is left to its own worker."""
LOST = {"ERROR", "CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED", "SUCCESS"}


async def run(stopping: asyncio.Event) -> None:
    """Sweep every minute until the process stops."""
    while not stopping.is_set():
        try:
            await once()
        except Exception:
            log.exception("the sweep failed; it is tried again in a minute")
        with suppress(TimeoutError):
            await asyncio.wait_for(stopping.wait(), INTERVAL)


async def once() -> None:
    """Expire attestations, and end requests whose workflow has ended without saying so."""
    async with db.worker() as session:
        await expire_due(session)
        rows = (await session.execute(_unfinished())).all()
    for row in rows:
        state = await DBOS.get_workflow_status_async(f"{row.id}:{row.attempt}")
        if state is None or state.status in LOST:
            await _give_up(row.id, row.organization_id)


def _unfinished() -> sa.Select[tuple[object, ...]]:
    query = sa.select(col(RequestRow.id), col(RequestRow.organization_id), col(RequestRow.attempt)).where(
        col(RequestRow.status).in_([RequestStatus.ACCEPTED, RequestStatus.RUNNING]),
        col(RequestRow.updated_at) < now() - SETTLED,
    )
    return query  # type: ignore[return-value]


async def _give_up(request_id: object, organization_id: object) -> None:
    problem = {
        "type": "about:blank",
        "title": "Internal Server Error",
        "status": 500,
        "detail": "The operation was interrupted. What it had done is kept; try it again.",
    }
    async with db.worker() as session:
        await requests.fail(session, request_id, problem, can_retry=True)  # type: ignore[arg-type]
    log.warning("ended a request that nobody worked on", request=str(request_id), organization=str(organization_id))
