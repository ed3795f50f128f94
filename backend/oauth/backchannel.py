"""Telling applications that a person's session has ended (OpenID Connect Back-Channel Logout 1.0)."""

from datetime import timedelta
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncSession

from backend import queues, workflows

LOGOUT = "oauth.backchannel_logout"
WAITS = tuple(timedelta(seconds=seconds) for seconds in (10, 60, 300, 1_800, 7_200))
"""Between two attempts."""


async def notify(session: AsyncSession, session_id: UUID) -> None:
    """Tell the application whose session has ended, or those that were connected in a browser's session.

    In the caller's transaction; it is sent once that has committed.
    """
    if not workflows.is_running():
        return
    found = await session.execute(sa.text("select * from signum_logout_targets(:ended)"), {"ended": session_id})
    for target in found.all():
        await queue(session, target.organization_id, target.client_id, target.session_id, session_id, 1)


async def queue(
    session: AsyncSession, organization_id: UUID, client_id: UUID, sid: UUID, ended: UUID, attempt: int
) -> None:
    """Let an attempt be made, the first at once. `sid` is the application's session, `ended` the one that has ended."""
    delay = WAITS[attempt - 2] if attempt > 1 else timedelta(0)
    arguments = (str(organization_id), str(client_id), str(sid), str(ended), str(attempt))
    run_id = f"{LOGOUT}:{sid}:{ended}:{attempt}"
    await workflows.submit(session, LOGOUT, run_id, *arguments, queue=queues.WEBHOOKS, of=str(client_id), delay=delay)
