"""Deciding: exactly one decision counts, and it is another person's."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend import db, workflows
from backend.approvals import listing, rehearsing, rules, second_person
from backend.approvals.schemas import ApprovalDetail
from backend.auth.principal import Context
from backend.auth.scopes import Scope
from backend.changes import tell
from backend.db import Write, now
from backend.errors import Denied, Forbidden
from backend.requests.models import ApprovalRow, RequestRow
from backend.requests.schemas import ApprovalStatus

EXPIRED = "Nobody decided about it in time. Ask for it anew."


async def approve(context: Context, approval_id: UUID) -> ApprovalDetail:
    """Let a request go on, once everything it needs has been checked again."""
    seen = await _decidable(context, approval_id)
    async with db.paused(context.session):
        plan = await rehearsing.plan(context, seen)
    row = await _decide(context, approval_id, ApprovalStatus.APPROVED)
    row.plan = plan
    await _tell(context.session, row)
    await workflows.release(context.session, await _request(context.session, row))
    await context.session.flush()
    return await listing.one(context, approval_id)


async def deny(context: Context, approval_id: UUID, reason: str) -> ApprovalDetail:
    """End a request that never began, and what it had written."""
    await _decidable(context, approval_id)
    row = await _decide(context, approval_id, ApprovalStatus.DENIED)
    row.reason = reason
    await _tell(context.session, row)
    error = Denied(f"{context.require_person().display_name} denied it: {reason}")
    await workflows.withdraw(context.session, await _request(context.session, row), error)
    await context.session.flush()
    return await listing.one(context, approval_id)


async def _decidable(context: Context, approval_id: UUID) -> Any:
    """The approval, where the caller may decide about it: 404, 403 (scope, then person), 409."""
    person = context.require_person()
    row = await listing.found(context, approval_id)
    context.require(Scope(row.scope))
    rules.check_other(row.asked_by, [person.user_id, context.key.created_by if context.key else None])
    if row.refusal:
        raise Forbidden(second_person.REASONS[row.refusal])
    _check_open(row, row.decided_by_name)
    return row


async def _decide(context: Context, approval_id: UUID, status: ApprovalStatus) -> ApprovalRow:
    """The approval, locked and decided; 409 where another decision was faster."""
    query = sa.select(ApprovalRow).where(col(ApprovalRow.id) == approval_id).with_for_update()
    row: ApprovalRow = (await context.session.scalars(query)).one()
    _check_open(row, (await listing.found(context, approval_id)).decided_by_name)
    row.status, row.decided_by, row.decided_at = status, context.require_person().user_id, now()
    return row


def _check_open(row: Any, decided_by: str | None) -> None:
    rules.check_open(rules.standing(row.status, row.expires_at, now()), decided_by or "Somebody")


async def _request(session: Write, row: ApprovalRow) -> RequestRow:
    return await session.get_one(RequestRow, row.request_id, with_for_update=True)


async def _tell(session: Write, row: ApprovalRow) -> None:
    after = {"status": row.status, "request_id": str(row.request_id), "reason": row.reason}
    subject = ("approval", row.id)
    await tell(session, row.organization_id, f"approval.{row.status}", subject, {"status": "pending"}, after)


async def due(session: Write) -> Sequence[Any]:
    """Ids and organizations of what nobody decided about in time, over every organization the session sees."""
    query = sa.select(col(ApprovalRow.id), col(ApprovalRow.organization_id)).where(
        col(ApprovalRow.status) == ApprovalStatus.PENDING, col(ApprovalRow.expires_at) <= now()
    )
    return (await session.execute(query)).all()


async def expire(organization_id: UUID, approval_id: UUID) -> None:
    """End one that is due, unless somebody works on it at this moment."""
    async with db.step(organization_id) as session:
        query = sa.select(ApprovalRow).where(
            col(ApprovalRow.id) == approval_id, col(ApprovalRow.status) == ApprovalStatus.PENDING
        )
        row: ApprovalRow | None = await session.scalar(query.with_for_update(skip_locked=True))
        if row is not None:
            row.status, row.decided_at = ApprovalStatus.EXPIRED, now()
            await _tell(session, row)
            await workflows.withdraw(session, await _request(session, row), Denied(EXPIRED))
