"""Nightly deletion of expired data: responses of idempotency keys, used one-time secrets, ended sessions with their
tokens, old emails, drafts of forms, announcements of markets, and the engine's rows of finished workflows.

Rows are deleted by age only, in batches that commit separately: the next night makes up for an interruption or a night
without a process, and it can run several times concurrently.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime, timedelta

import sqlalchemy as sa
import structlog
from dbos import DBOS

from backend.auth.idempotency import LIFETIME
from backend.core import db
from backend.engine.queues import WEBHOOKS
from backend.engine.schedules import nightly

log = structlog.get_logger()
LATER = 1
"""Hours after the reconciliation of the chains."""
BATCH = 1_000
"""Rows per transaction."""
FINISHED = ["SUCCESS", "ERROR", "CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED"]
WORKFLOWS_KEPT = timedelta(days=7)
"""Time after its end. Signum's own tables keep the results of requests and deliveries."""
ATTEMPTS_KEPT = timedelta(days=1)
"""The same for attempts of webhook deliveries: up to ten of each delivery, whose log has their results."""


@dataclass(frozen=True)
class Kind:
    """Rows of a table (`t`) that a condition selects as older than `kept`."""

    table: str
    kept: timedelta
    old: str

    @property
    def statement(self) -> sa.TextClause:
        """Return the deletion of a batch, which skips rows that another process is deleting."""
        chosen = f"select t.id from {self.table} t where {self.old} limit :most for update of t skip locked"  # noqa: S608
        return sa.text(f"delete from {self.table} where id in ({chosen})")  # noqa: S608


KINDS = (
    Kind("idempotency_keys", LIFETIME, "t.created_at < :before"),
    Kind("one_time_secrets", timedelta(days=1), "t.expires_at < :before"),
    Kind("oauth_codes", timedelta(days=1), "t.expires_at < :before"),
    # A used token is kept for as long as its reuse can end its session.
    Kind(
        "refresh_tokens",
        timedelta(days=30),
        "exists (select 1 from sessions s"
        " where s.id = t.session_id and coalesce(s.revoked_at, s.expires_at) < :before)",
    ),
    Kind(
        "sessions",
        timedelta(days=30),
        "coalesce(t.revoked_at, t.expires_at) < :before"
        " and not exists (select 1 from refresh_tokens r where r.session_id = t.id)"
        " and not exists (select 1 from oauth_codes c where t.id in (c.session_id, c.grant_id))",
    ),
    Kind("form_drafts", timedelta(days=30), "t.updated_at < :before"),
    Kind("outbox", timedelta(days=90), "t.created_at < :before"),
    # Older events of markets are not announced (`backend.markets.announcements.OLDEST`).
    Kind("market_announcements", timedelta(days=14), "t.created_at < :before"),
)
"""In this order: referring rows are deleted first."""


async def once() -> dict[str, int]:
    """Delete all expired rows; return the number per kind."""
    deleted = {kind.table: await _sum(_rows(kind)) for kind in KINDS}
    deleted["workflows"] = await _sum(_workflows(db.now() - WORKFLOWS_KEPT))
    deleted["attempts"] = await _sum(_workflows(db.now() - ATTEMPTS_KEPT, WEBHOOKS))
    log.info("retention.finished", **deleted)
    return deleted


async def _sum(batches: AsyncIterator[int]) -> int:
    return sum([count async for count in batches])


async def _rows(kind: Kind) -> AsyncIterator[int]:
    before, count = db.now() - kind.kept, BATCH
    while count == BATCH:
        async with db.worker() as session:
            found = await session.execute(kind.statement, {"before": before, "most": BATCH})
        count = int(found.rowcount)  # type: ignore[attr-defined]
        yield count


async def _workflows(before: datetime, queue: str | None = None) -> AsyncIterator[int]:
    """Delete the engine's rows of finished workflows, of one queue or all, through its API: it has several tables per
    workflow."""
    while True:
        found = await DBOS.list_workflows_async(
            status=FINISHED,
            completed_before=before.isoformat(),
            queue_name=queue,
            limit=BATCH,
            load_input=False,
            load_output=False,
        )
        if found:
            await DBOS.delete_workflows_async([workflow.workflow_id for workflow in found])
        yield len(found)
        if len(found) < BATCH:
            return


NIGHTLY = nightly("retention", once, "expired rows could not be deleted; will retry tomorrow", LATER)
