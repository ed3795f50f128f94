"""What nobody needs any more, deleted every night: answers of idempotency keys, secrets that worked once, sessions that
have ended with their tokens, and the engine's notes of finished workflows.

Each goes by its age alone and in batches that commit by themselves: one that was interrupted, or a night without a
process, is made up for by the next night, and several processes at it do no harm.
"""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime, timedelta

import sqlalchemy as sa
import structlog
from dbos import DBOS

from backend import db
from backend.auth.idempotency import LIFETIME
from backend.nights import every_night

log = structlog.get_logger()
HOUR = 4
"""Of the night, UTC: when the chains have been reconciled."""
BATCH = 1_000
"""Rows that one transaction deletes."""
FINISHED = ["SUCCESS", "ERROR", "CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED"]
WORKFLOWS_KEPT = timedelta(days=7)
"""After its end. What a request did, and what of a delivery, is in our own tables, which keep it."""


@dataclass(frozen=True)
class Kind:
    """Rows of a table (`t`) that some condition has as older than `kept`."""

    table: str
    kept: timedelta
    old: str

    @property
    def statement(self) -> sa.TextClause:
        """Delete a batch of them; what another process deletes at this moment is left to it."""
        chosen = f"select t.id from {self.table} t where {self.old} limit :most for update of t skip locked"  # noqa: S608
        return sa.text(f"delete from {self.table} where id in ({chosen})")  # noqa: S608


KINDS = (
    Kind("idempotency_keys", LIFETIME, "t.created_at < :before"),
    Kind("one_time_secrets", timedelta(days=1), "t.expires_at < :before"),
    Kind("oauth_codes", timedelta(days=1), "t.expires_at < :before"),
    # A token that was used stays for as long as its session can be ended by using it again.
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
)
"""In this order: what refers to something goes before it."""


async def nightly(stopping: asyncio.Event) -> None:
    """Delete once a night."""
    await every_night(stopping, once, "what is too old could not be deleted; it is tried again tomorrow", HOUR)


async def once() -> dict[str, int]:
    """Delete everything that is too old; how many rows of each kind."""
    deleted = {kind.table: await _sum(_rows(kind)) for kind in KINDS}
    deleted["workflows"] = await _sum(_workflows(db.now() - WORKFLOWS_KEPT))
    log.info("retention", **deleted)
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


async def _workflows(before: datetime) -> AsyncIterator[int]:
    """The engine's rows of what has ended, by its own means: it has several tables of each."""
    while True:
        found = await DBOS.list_workflows_async(
            status=FINISHED, completed_before=before.isoformat(), limit=BATCH, load_input=False, load_output=False
        )
        if found:
            await DBOS.delete_workflows_async([workflow.workflow_id for workflow in found])
        yield len(found)
        if len(found) < BATCH:
            return
