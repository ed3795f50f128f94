"""Queries of approvals."""

from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.orm import aliased
from sqlmodel import col

from backend.api_keys.models import ApiKeyRow
from backend.approvals import comments, documents, plans_at_request, rehearsal, rules
from backend.approvals.arguments import arguments_of
from backend.approvals.schemas import Approval, ApprovalDetail, ApprovalList
from backend.auth.calls import Call
from backend.auth.principal import Context
from backend.auth.scopes import Scope
from backend.core import db
from backend.core.errors import NotFound, SignumError
from backend.core.recorded_time import recorded_now
from backend.lists.pages import Listing, Page
from backend.organizations.models import OrganizationRow
from backend.requests import second_person, titles
from backend.requests.accept import INCLUDES
from backend.requests.models import ApprovalRow, RequestRow
from backend.requests.schemas import ApprovalStatus, Subject
from backend.users.models import UserRow

_ASKER, _DECIDER = aliased(UserRow), aliased(UserRow)
"""Made once, because an alias copies every column."""
TABLE, REQUESTS = sa.inspect(ApprovalRow).local_table, sa.inspect(RequestRow).local_table
LIST = Listing.of(
    TABLE.c,
    "created_at",
    "updated_at",
    names=(REQUESTS.c.title, REQUESTS.c.kind),
    codes=(TABLE.c.request_id, REQUESTS.c.subject_id),
)


async def page(
    context: Context, page: Page, status: ApprovalStatus | None, can_decide: bool | None, asked_by: UUID | None
) -> ApprovalList:
    """Return a page of the organization's approvals, newest first."""
    query = _query(context)
    if status is not None:
        query = query.where(_standing(status))
    if can_decide is not None:
        query = query.where(_decidable(context) if can_decide else sa.not_(_decidable(context)))
    if asked_by is not None:
        query = query.where(TABLE.c.asked_by == asked_by)
    if page.q:
        query = query.where(titles.readable(context, REQUESTS.c.kind))
    shown, paging = await page.read(context.session, query)
    return ApprovalList(approvals=[Approval(**_fields(context, r)) for r in shown], **paging)


async def decidable(context: Context, limit: int) -> tuple[list[Approval], int]:
    """Return the newest approvals that the caller can decide, and how many there are."""
    if context.person is None:
        return [], 0
    query = _query(context).where(_decidable(context))
    rows = (await context.session.execute(query.order_by(TABLE.c.created_at.desc()).limit(limit))).all()
    count = len(rows)
    if count == limit:
        count = await context.session.scalar(sa.select(sa.func.count()).select_from(query.subquery())) or 0
    return [Approval(**_fields(context, row)) for row in rows], count


async def one(context: Context, approval_id: UUID) -> ApprovalDetail:
    """Return an approval and its current plan; 404 where it is not of this organization."""
    row = await found(context, approval_id)
    fields = _fields(context, row)
    if Scope(row.scope) not in context.scopes:
        return ApprovalDetail(**fields)
    fields["arguments"] = await arguments_of(context.session, row.organization_id, row.kind, Call.restored(row.call))
    fields["comments"] = await comments.of(context.session, approval_id)
    if Scope.ATTESTATIONS_READ in context.scopes:
        fields["documents"] = await documents.of(context.session, row.organization_id, fields["arguments"])
    plan = row.plan
    if fields["status"] is ApprovalStatus.PENDING:
        try:
            async with db.paused(context.session):
                plan, _ = await rehearsal.plan(context, row)
        except SignumError as error:
            return ApprovalDetail(**fields, obstacle=error.detail)
    return ApprovalDetail(**fields, plan=plan, **await plans_at_request.compared(context.session, row, plan))


async def found(context: Context, approval_id: UUID) -> Any:
    """Return an approval with its request, requester and decider as columns."""
    row = (await context.session.execute(_query(context).where(TABLE.c.id == approval_id))).first()
    if row is None:
        raise NotFound("There is no approval with this ID in this organization.")
    return row


def _query(context: Context) -> sa.Select[Any]:
    request = REQUESTS
    names = ("kind", "title", "scope", "subject_type", "subject_id", "arguments")
    of_request = [request.c[name] for name in names]
    return (
        sa.select(
            *TABLE.c,
            *of_request,
            _decidable(context).label("can_decide"),
            _refusal(context).label("refusal"),
            sa.func.coalesce(col(_ASKER.display_name), col(_ASKER.email)).label("asked_by_name"),
            sa.func.coalesce(col(_DECIDER.display_name), col(_DECIDER.email)).label("decided_by_name"),
            col(ApiKeyRow.name).label("key_name"),
            sa.select(col(OrganizationRow.approvals))
            .where(col(OrganizationRow.id) == TABLE.c.organization_id)
            .scalar_subquery()
            .label("policy"),
        )
        .join(request, request.c.id == TABLE.c.request_id)
        .outerjoin(_ASKER, col(_ASKER.id) == TABLE.c.asked_by)
        .outerjoin(_DECIDER, col(_DECIDER.id) == TABLE.c.decided_by)
        .outerjoin(ApiKeyRow, col(ApiKeyRow.id) == TABLE.c.asked_with)
        .where(TABLE.c.organization_id == context.organization_id)
    )


def _decidable(context: Context) -> sa.ColumnElement[bool]:
    """Return whether the caller may decide: a person acting directly, with the action's scope, who neither requested it
    nor was appointed by the requester.
    """
    if context.person is None or context.person.granted is not None:
        return sa.false()
    own = [context.person.user_id, *([context.key.created_by] if context.key and context.key.created_by else [])]
    return sa.and_(
        _standing(ApprovalStatus.PENDING),
        sa.or_(TABLE.c.asked_by.is_(None), TABLE.c.asked_by.not_in(own)),
        REQUESTS.c.scope.in_([str(s) for s in context.scopes]),
        _refusal(context) == "",
    )


def _refusal(context: Context) -> sa.ColumnElement[str]:
    """Return why the caller cannot decide an approval (`second_person.REASONS`); empty where they can."""
    if context.person is None:
        return sa.literal("role")
    scope = REQUESTS.c.scope
    return second_person.refusal(
        context.person.user_id, TABLE.c.asked_by, TABLE.c.organization_id, scope, TABLE.c.created_at
    )


def _standing(status: ApprovalStatus) -> sa.ColumnElement[bool]:
    """Return whether a status is the current one."""
    is_pending = TABLE.c.status == ApprovalStatus.PENDING
    if status is ApprovalStatus.PENDING:
        return sa.and_(is_pending, TABLE.c.expires_at > recorded_now())
    if status is ApprovalStatus.EXPIRED:
        return sa.or_(TABLE.c.status == status, sa.and_(is_pending, TABLE.c.expires_at <= recorded_now()))
    return sa.ColumnElement.__eq__(TABLE.c.status, status)


def _fields(context: Context, row: Any) -> dict[str, Any]:
    shown = {name: value for name, value in row._mapping.items() if name in Approval.model_fields}
    return shown | {
        "action": row.kind,
        "title": titles.title_of(context.scopes, row.kind, row.title),
        "cause": row.cause if titles.is_readable(context.scopes, row.kind) else None,
        "subject": Subject.of(row.subject_type, row.subject_id, row.arguments),
        "status": rules.standing(row.status, row.expires_at, recorded_now()),
        "is_withdrawn": rules.is_withdrawn(row.status, row.asked_by, row.decided_by),
        "rule_lifted": row.cause is None and rules.is_lifted(row.policy, row.kind, row.arguments.get(INCLUDES, ())),
        "asked_with": _asked_with(row),
    }


def _asked_with(row: Any) -> str | None:
    key = f"the API key {row.key_name}" if row.asked_application and row.key_name else row.key_name
    return " with ".join(name for name in (row.asked_application, key) if name) or None
