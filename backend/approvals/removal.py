"""Removal of an organization's approval requirements when no one is left who could approve. For the operator only."""

from collections import defaultdict
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.core.changes import THE_OPERATOR, acting, publish
from backend.core.db import Write
from backend.core.errors import CannotStart
from backend.core.recorded_time import recorded_now
from backend.daily_use.models import DailyLimitRow
from backend.organizations.models import OrganizationRow
from backend.requests.models import ApprovalRow
from backend.requests.schemas import ApprovalStatus


async def lift_within(session: Write, organization_id: UUID, reason: str) -> list[str]:
    """Remove all approval requirements of an organization: for actions, and for amounts above a daily limit.

    Returns lines that describe what was done; the audit log records it with the reason. Raises CannotStart where there
    is no requirement.
    """
    row = await session.get(OrganizationRow, organization_id, with_for_update=True)
    if row is None:
        raise CannotStart(f"No organization has the ID {organization_id}.")
    limits = await _remove_limits(session, organization_id)
    if not row.approvals and not limits:
        raise CannotStart(f"{row.name} has no approval requirements to remove.")
    before, row.approvals = row.approvals, []
    with acting(THE_OPERATOR):
        for asset_id, held in limits.items():
            after: dict[str, Any] = dict.fromkeys(held) | {"reason": reason}
            await publish(session, row.id, "asset.limits_changed", ("asset", asset_id), held, after)
        if before:
            subject, after = ("organization", row.id), {"approvals": [], "reason": reason}
            await publish(session, row.id, "organization.updated", subject, {"approvals": before}, after)
    lifted = [*before, *([f"daily limits of {len(limits)} asset{'' if len(limits) == 1 else 's'}"] if limits else [])]
    lines = [f"{row.name} no longer requires a second person. Removed: {', '.join(lifted)}."]
    if waiting := await _waiting(session, organization_id):
        lines.append(
            f"{waiting} earlier {'request still waits' if waiting == 1 else 'requests still wait'} for a second person."
        )
    return lines


async def _remove_limits(session: Write, organization_id: UUID) -> dict[UUID, dict[str, str]]:
    """Remove the daily limits of an organization's assets; return the old limits by asset and action."""
    here = col(DailyLimitRow.organization_id) == organization_id
    removed = sa.delete(DailyLimitRow).where(here).returning(DailyLimitRow)
    held: dict[UUID, dict[str, str]] = defaultdict(dict)
    for limit in (await session.scalars(removed)).all():
        held[limit.asset_id][limit.action] = str(limit.amount)
    return held


async def _waiting(session: Write, organization_id: UUID) -> int:
    """Return the number of earlier requests that still wait for approval; they expire after 7 days."""
    query = sa.select(sa.func.count()).where(
        col(ApprovalRow.organization_id) == organization_id,
        col(ApprovalRow.status) == ApprovalStatus.PENDING,
        col(ApprovalRow.expires_at) > recorded_now(),
    )
    return await session.scalar(query) or 0
