"""The plan of an action at its request, and what has changed since."""

from typing import Any
from uuid import UUID

import sqlalchemy as sa
import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from backend.approvals import rehearsal
from backend.approvals.arguments import Known, known_of, label, text_of
from backend.approvals.differences import LISTED, MISSING, Difference, differences
from backend.approvals.differences import label as label_of
from backend.approvals.referenced import Units
from backend.approvals.schemas import PlanChange
from backend.auth.calls import Call
from backend.core import db
from backend.core.errors import SignumError
from backend.core.recorded_time import recorded_now
from backend.requests.models import ApprovalRow, RequestRow
from backend.requests.schemas import ApprovalStatus
from backend.users.models import UserRow

log = structlog.get_logger()
TABLE, REQUESTS, USERS = (sa.inspect(row).local_table for row in (ApprovalRow, RequestRow, UserRow))
WHOLE = 2**255
"""Frozen amounts from this on mean the whole account."""


async def record(organization_id: UUID, approval_id: UUID) -> None:
    """Record the current plan of a pending approval that has none; later runs change nothing.

    An action that is not possible now has no plan: the approval then has no comparison.
    """
    waits = sa.and_(TABLE.c.id == approval_id, TABLE.c.status == ApprovalStatus.PENDING, TABLE.c.planned_at.is_(None))
    query = (
        sa.select(*TABLE.c, REQUESTS.c.scope, sa.func.coalesce(USERS.c.display_name, "").label("asked_by_name"))
        .join(REQUESTS, REQUESTS.c.id == TABLE.c.request_id)
        .outerjoin(USERS, USERS.c.id == TABLE.c.asked_by)
        .where(waits)
    )
    async with db.step(organization_id) as session:
        row = (await session.execute(query)).first()
    if row is None:
        return
    try:
        plan = await rehearsal.preview(organization_id, row)
    except SignumError as error:
        log.info("approval.plan_failed", approval=str(approval_id), detail=error.detail)
        return
    values = {"plan_at_request": plan, "planned_at": recorded_now(), "updated_at": TABLE.c.updated_at}
    async with db.step(organization_id) as session:
        await session.execute(sa.update(ApprovalRow).where(waits).values(values))


async def compared(session: AsyncSession, row: Any, plan: dict[str, Any] | None) -> dict[str, Any]:
    """Return when the plan at the request was made, and what differs in the given one; both empty without it."""
    if row.planned_at is None or plan is None:
        return {}
    _, known = await known_of(session, row.organization_id, Call.restored(row.call))
    found = [_change(one, known) for one in differences(row.plan_at_request, plan)]
    return {"planned_at": row.planned_at, "changed_since": found}


def _change(one: Difference, known: Known) -> PlanChange:
    before, after = (_text(one, value, known) for value in (one.before, one.after))
    return PlanChange(name=".".join(one.path), label=label_of(one, label, known.chains), at_request=before, now=after)


def _text(one: Difference, value: Any, known: Known) -> str:
    if value in (LISTED, MISSING):
        reasons = " ".join(one.entry.get("reasons", []))
        return (reasons or "yes") if value == LISTED else "no"
    if one.name == "frozen" and str(value).isdigit() and int(value) >= WHOLE:
        return "the whole account"
    if one.entry.get("decimals") is not None and str(value).isdigit():
        return Units(one.entry.get("symbol"), one.entry["decimals"]).amount(str(value))
    if one.name in ("balance", "escrowed", "supply", "frozen", "total_supply") and str(value).isdigit():
        return known.units.amount(str(value))
    return text_of(one.name, value, known)
