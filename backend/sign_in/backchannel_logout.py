"""Notification of applications when a session ends (OpenID Connect Back-Channel Logout 1.0)."""

from datetime import timedelta
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncSession

from backend.engine import engine, fair_partitions, queues

LOGOUT = "oauth.backchannel_logout"
WAITS = tuple(timedelta(seconds=seconds) for seconds in (10, 60, 300, 1_800, 7_200))
"""Delays between attempts."""


async def notify(session: AsyncSession, session_id: UUID) -> None:
    """Notify the application of an ended session, or the applications connected in an ended browser session.

    Queued in the caller's transaction and sent after its commit.
    """
    if not engine.is_running():
        return
    found = await session.execute(sa.text("select * from signum_logout_targets(:ended)"), {"ended": session_id})
    for target in found.all():
        name = fair_partitions.name_of(target.client_id, target.root_id, target.created_by)
        await queue(session, target.organization_id, target.client_id, target.session_id, session_id, 1, name)


async def queue(
    session: AsyncSession, organization_id: UUID, client_id: UUID, sid: UUID, ended: UUID, attempt: int, partition: str
) -> None:
    """Queue an attempt in a partition of the queue, the first without a delay.

    `sid` is the application's session, `ended` the one that has ended.
    """
    delay = WAITS[attempt - 2] if attempt > 1 else timedelta(0)
    arguments = (str(organization_id), str(client_id), str(sid), str(ended), str(attempt))
    run_id = f"{LOGOUT}:{sid}:{ended}:{attempt}"
    await engine.submit(session, LOGOUT, run_id, *arguments, queue=queues.LOGOUTS, of=partition, delay=delay)
