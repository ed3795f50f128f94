"""Decisions on approvals: exactly one counts, and it is another person's; the requester can only withdraw."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.approvals import listing, rehearsal, rules
from backend.approvals.models import CommentRow
from backend.approvals.schemas import ApprovalComment, ApprovalDetail
from backend.auth.principal import Context
from backend.auth.scopes import Scope
from backend.core import db
from backend.core.changes import publish
from backend.core.db import Write
from backend.core.errors import Conflict, Denied, Forbidden
from backend.core.recorded_time import recorded_now
from backend.requests import second_person, workflows
from backend.requests.models import ApprovalRow, RequestRow
from backend.requests.schemas import ApprovalStatus

MOST = 100
"""Comments on one approval."""
EXPIRED = "This approval expired before anyone decided. Request the action again."


async def approve(context: Context, approval_id: UUID) -> ApprovalDetail:
    """Release a request after all its conditions were checked again."""
    seen = await _decidable(context, approval_id)
    async with db.paused(context.session):
        plan, executes = await rehearsal.plan(context, seen)
    row = await _decide(context, approval_id, ApprovalStatus.APPROVED)
    row.plan, row.executes = plan, executes.stored()
    await _publish(context.session, row)
    await workflows.release(context.session, await _request(context.session, row))
    await context.session.flush()
    return await listing.one(context, approval_id)


async def deny(context: Context, approval_id: UUID, reason: str) -> ApprovalDetail:
    """End a request that has not started, with the objects it has created."""
    await _decidable(context, approval_id)
    row = await _decide(context, approval_id, ApprovalStatus.DENIED)
    row.reason = reason
    await _publish(context.session, row)
    error = Denied(f"{context.require_person().display_name} denied this request: {reason}")
    await workflows.withdraw(context.session, await _request(context.session, row), error)
    await context.session.flush()
    return await listing.one(context, approval_id)


async def withdraw(context: Context, approval_id: UUID, reason: str | None) -> ApprovalDetail:
    """End the caller's own request that waits, as a denial would; a withdrawn one stays as it is."""
    person = context.require_person()
    seen = await listing.found(context, approval_id)
    rules.check_own(seen.asked_by, person.user_id, seen.asked_by_name or "Another person")
    row = await _locked(context.session, approval_id)
    if not rules.is_withdrawn(row.status, row.asked_by, row.decided_by):
        _check_open(row, (await listing.found(context, approval_id)).decided_by_name)
        row.status, row.decided_by, row.decided_at = ApprovalStatus.DENIED, person.user_id, recorded_now()
        row.reason = reason
        await _publish(context.session, row, "withdrawn")
        words = f"{person.display_name} withdrew this request" + (f": {reason}" if reason else ".")
        await workflows.withdraw(context.session, await _request(context.session, row), Denied(words))
        await context.session.flush()
    return await listing.one(context, approval_id)


async def comment(context: Context, approval_id: UUID, text: str) -> ApprovalComment:
    """Add a comment of the caller: 404, 403 without the action's scope, 409 once the approval is decided."""
    person = context.require_person()
    found = await listing.found(context, approval_id)
    context.require(Scope(found.scope))
    locked = sa.select(col(ApprovalRow.status)).where(col(ApprovalRow.id) == approval_id).with_for_update()
    status = (await context.session.scalars(locked)).one()
    rules.check_open(
        rules.standing(status, found.expires_at, recorded_now()), found.decided_by_name or "Another person"
    )
    count = sa.select(sa.func.count()).where(col(CommentRow.approval_id) == approval_id)
    if (await context.session.scalar(count) or 0) >= MOST:
        raise Conflict(f"An approval can have at most {MOST} comments.")
    row = CommentRow(
        organization_id=context.organization_id, approval_id=approval_id, user_id=person.user_id, text=text
    )
    context.session.add(row)
    await context.session.flush()
    facts = {"text": text, "request_id": str(found.request_id)}
    await publish(context.session, row.organization_id, "approval.commented", ("approval", approval_id), None, facts)
    return ApprovalComment(
        id=row.id, user_id=person.user_id, user_name=person.display_name, text=text, created_at=row.created_at
    )


async def _decidable(context: Context, approval_id: UUID) -> Any:
    """Return the approval if the caller may decide it: else 404, 403 (scope, then person), 409."""
    person = context.require_person()
    row = await listing.found(context, approval_id)
    context.require(Scope(row.scope))
    rules.check_other(row.asked_by, [person.user_id, context.key.created_by if context.key else None])
    _check_may_decide(row)
    _check_open(row, row.decided_by_name)
    return row


def _check_may_decide(row: Any) -> None:
    if row.refusal:
        raise Forbidden(second_person.REASONS[row.refusal])


async def _decide(context: Context, approval_id: UUID, status: ApprovalStatus) -> ApprovalRow:
    """Return the approval, locked and decided; 409 where another decision came first."""
    row = await _locked(context.session, approval_id)
    seen = await listing.found(context, approval_id)
    _check_open(row, seen.decided_by_name)
    _check_may_decide(seen)  # a rehearsal takes seconds, during which a role may have ended
    row.status, row.decided_by, row.decided_at = status, context.require_person().user_id, recorded_now()
    return row


def _check_open(row: Any, decided_by: str | None) -> None:
    status = rules.standing(row.status, row.expires_at, recorded_now())
    withdrawn = rules.is_withdrawn(status, row.asked_by, row.decided_by)
    rules.check_open(status, decided_by or "Another person", withdrawn=withdrawn)


async def _locked(session: Write, approval_id: UUID) -> ApprovalRow:
    query = sa.select(ApprovalRow).where(col(ApprovalRow.id) == approval_id).with_for_update()
    row: ApprovalRow = (await session.scalars(query)).one()
    return row


async def _request(session: Write, row: ApprovalRow) -> RequestRow:
    return await session.get_one(RequestRow, row.request_id, with_for_update=True)


async def _publish(session: Write, row: ApprovalRow, event: str = "") -> None:
    after = {"status": row.status, "request_id": str(row.request_id), "reason": row.reason}
    subject = ("approval", row.id)
    await publish(
        session, row.organization_id, f"approval.{event or row.status}", subject, {"status": "pending"}, after
    )


async def due(session: Write) -> Sequence[Any]:
    """Return ids and organizations of expired approvals, across all organizations that the session sees."""
    query = sa.select(col(ApprovalRow.id), col(ApprovalRow.organization_id)).where(
        col(ApprovalRow.status) == ApprovalStatus.PENDING, col(ApprovalRow.expires_at) <= recorded_now()
    )
    return (await session.execute(query)).all()


async def expire(organization_id: UUID, approval_id: UUID) -> None:
    """Expire an approval, unless it is being decided at this moment."""
    async with db.step(organization_id) as session:
        query = sa.select(ApprovalRow).where(
            col(ApprovalRow.id) == approval_id, col(ApprovalRow.status) == ApprovalStatus.PENDING
        )
        row: ApprovalRow | None = await session.scalar(query.with_for_update(skip_locked=True))
        if row is not None:
            row.status, row.decided_at = ApprovalStatus.EXPIRED, recorded_now()
            await _publish(session, row)
            await workflows.withdraw(session, await _request(session, row), Denied(EXPIRED))
