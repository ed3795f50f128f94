"""The operator's way out where nobody is left who could agree: whoever may open the database, and nobody by the API."""

from collections import defaultdict
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.auth.bootstrap import outside
from backend.changes import THE_OPERATOR, acting, tell
from backend.daily_limits.models import DailyLimitRow
from backend.db import Write, now
from backend.errors import CannotStart
from backend.organizations.models import OrganizationRow
from backend.requests.models import ApprovalRow
from backend.requests.schemas import ApprovalStatus
from backend.settings import Settings


async def lift(settings: Settings, organization_id: UUID, reason: str) -> list[str]:
    """Let nothing in an organization need a second person any more: no action, and no amount above a daily limit.
    Return lines that say what was done; the audit log records it with the reason. Refuses where nothing needs one."""
    async with outside(settings) as session:
        return await lift_within(session, organization_id, reason)


async def lift_within(session: Write, organization_id: UUID, reason: str) -> list[str]:
    """The same, in the caller's transaction."""
    row = await session.get(OrganizationRow, organization_id, with_for_update=True)
    if row is None:
        raise CannotStart(f"There is no organization {organization_id}.")
    limits = await _remove_limits(session, organization_id)
    if not row.approvals and not limits:
        raise CannotStart(f"Nothing in {row.name} needs a second person; there is nothing to lift.")
    before, row.approvals = row.approvals, []
    with acting(THE_OPERATOR):
        for asset_id, held in limits.items():
            after: dict[str, Any] = dict.fromkeys(held) | {"reason": reason}
            await tell(session, row.id, "asset.limits_changed", ("asset", asset_id), held, after)
        if before:
            after = {"approvals": [], "reason": reason}
            await tell(session, row.id, "organization.updated", ("organization", row.id), {"approvals": before}, after)
    lifted = [*before, *([f"daily limits of {len(limits)} asset(s)"] if limits else [])]
    lines = [f"Nothing in {row.name} needs a second person any more; it was {', '.join(lifted)}."]
    if waiting := await _waiting(session, organization_id):
        lines.append(f"{waiting} that waited for one before still {'waits' if waiting == 1 else 'wait'}.")
    return lines


async def _remove_limits(session: Write, organization_id: UUID) -> dict[UUID, dict[str, str]]:
    """Remove the daily limits of an organization's assets; what they were, by asset and action."""
    here = col(DailyLimitRow.organization_id) == organization_id
    removed = sa.delete(DailyLimitRow).where(here).returning(DailyLimitRow)
    held: dict[UUID, dict[str, str]] = defaultdict(dict)
    for limit in (await session.scalars(removed)).all():
        held[limit.asset_id][limit.action] = str(limit.amount)
    return held


async def _waiting(session: Write, organization_id: UUID) -> int:
    """How many requests were asked for before, and still need what nobody can give; they end after 7 days."""
    query = sa.select(sa.func.count()).where(
        col(ApprovalRow.organization_id) == organization_id,
        col(ApprovalRow.status) == ApprovalStatus.PENDING,
        col(ApprovalRow.expires_at) > now(),
    )
    return await session.scalar(query) or 0
