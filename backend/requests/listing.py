"""Queries of requests with their steps."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY
from sqlmodel import col

from backend.auth.principal import Context
from backend.chain.chain_models import ChainRow
from backend.chain.models import finality_of
from backend.core.db import now
from backend.core.errors import NotFound
from backend.core.pagination import where_given
from backend.lists.pages import BETWEEN, Listing, Page
from backend.requests import notices, resolutions, titles
from backend.requests.models import ApprovalRow, RequestRow, RequestStepRow
from backend.requests.schemas import ApprovalStatus, Request, RequestList, RequestStatus, RequestStep, Subject
from backend.users.models import UserRow

REPORTED = timedelta(days=7)
"""How long a failed request that cannot be retried is reported to its maker."""
REQUESTS, STEPS = sa.inspect(RequestRow).local_table, sa.inspect(RequestStepRow).local_table
_HASHES = (
    sa.select(sa.func.string_agg(STEPS.c.tx_hash, BETWEEN))
    .where(STEPS.c.request_id == REQUESTS.c.id)
    .correlate(REQUESTS)
    .scalar_subquery()
)
_WITHDRAWN = sa.func.coalesce(
    sa.and_(col(ApprovalRow.status) == ApprovalStatus.DENIED, col(ApprovalRow.decided_by) == col(ApprovalRow.asked_by)),
    sa.false(),
).label("is_withdrawn")
"""As `backend.approvals.rules.is_withdrawn`; no other denial has the requester as its decider."""
LIST = Listing.of(
    REQUESTS.c,
    "created_at",
    "updated_at",
    names=(REQUESTS.c.title, REQUESTS.c.kind),
    codes=(REQUESTS.c.subject_id, _HASHES),
)


async def page(context: Context, page: Page, status: RequestStatus | None, subject: UUID | None) -> RequestList:
    """Return a page of the organization's requests."""
    query = where_given(_query(context), (col(RequestRow.status), status), (col(RequestRow.subject_id), subject))
    query = query.where(titles.readable(context, REQUESTS.c.kind)) if page.q else query
    shown, paging = await page.read(context.session, query)
    requests = await _with_steps(context, shown)
    return RequestList(requests=[titles.shown(request, context.scopes) for request in requests], **paging)


async def failed(context: Context, limit: int) -> tuple[list[Request], int]:
    """Return the newest failed requests that wait for the caller, and how many there are: those that they can retry,
    and of their own also the others of the last 7 days."""
    table, asked = REQUESTS.c, [str(scope) for scope in context.scopes]
    own = sa.and_(table.created_by == context.user_id, table.updated_at > now() - REPORTED)
    is_own = own if context.user_id else sa.false()
    is_waiting = sa.or_(sa.and_(table.can_retry, table.scope.in_(asked)), is_own)
    query = _query(context).where(table.status == RequestStatus.FAILED, is_waiting)
    rows = (await context.session.execute(query.order_by(table.updated_at.desc()).limit(limit))).all()
    count = len(rows)
    if count == limit:
        count = await context.session.scalar(sa.select(sa.func.count()).select_from(query.subquery())) or 0
    return [titles.shown(request, context.scopes) for request in await _with_steps(context, rows)], count


async def one(context: Context, request_id: UUID) -> Request:
    """Return a request as the caller may see it, and whether the cause of its failure is gone; 404 where it is not of
    this organization."""
    request = await whole(context, request_id)
    request.cause_is_gone = await resolutions.is_gone(context.session, request)
    return titles.shown(request, context.scopes)


async def whole(context: Context, request_id: UUID) -> Request:
    """Return a request with all its titles, for reads that several callers share; 404 as in `one`."""
    rows = (await context.session.execute(_query(context).where(col(RequestRow.id) == request_id))).all()
    if not rows:
        raise NotFound("There is no request with this ID in this organization.")
    return (await _with_steps(context, rows))[0]


async def locked(context: Context, request_id: UUID) -> RequestRow:
    """Return the row of a request, locked for a change."""
    query = sa.select(RequestRow).where(
        col(RequestRow.id) == request_id, col(RequestRow.organization_id) == context.organization_id
    )
    row: RequestRow | None = await context.session.scalar(query.with_for_update())
    if row is None:
        raise NotFound("There is no request with this ID in this organization.")
    return row


def _query(context: Context) -> sa.Select[Any]:
    table = sa.inspect(RequestRow).local_table
    name = sa.func.coalesce(col(UserRow.display_name), col(UserRow.email)).label("created_by_name")
    return (
        sa.select(*table.c, name, col(ApprovalRow.id).label("approval_id"), _WITHDRAWN)
        .outerjoin(UserRow, col(UserRow.id) == table.c.created_by)
        .outerjoin(ApprovalRow, col(ApprovalRow.request_id) == table.c.id)
        .where(table.c.organization_id == context.organization_id)
    )


async def _with_steps(context: Context, rows: Sequence[Any]) -> list[Request]:
    table = sa.inspect(RequestStepRow).local_table
    query = (
        sa.select(
            *table.c,
            col(ChainRow.display_name).label("chain_name"),
            col(ChainRow.explorer_url).label("explorer"),
            finality_of(table.c.chain_eid, table.c.tx_hash),
        )
        .outerjoin(ChainRow, col(ChainRow.xchain_eid) == table.c.chain_eid)
        .where(table.c.request_id == sa.any_(sa.literal([r.id for r in rows], ARRAY(sa.Uuid()))))
        .order_by(table.c.position)
    )
    steps = defaultdict(list)
    for step in await context.session.execute(query):
        steps[step.request_id].append(_step(step))
    noted = await notices.by_request(context, rows, steps)
    return [_request(r, steps[r.id], noted.get(r.id)) for r in rows]


def _step(row: Any) -> RequestStep:
    url = f"{row.explorer}/tx/{row.tx_hash}" if row.explorer and row.tx_hash else None
    return RequestStep(
        name=row.name,
        title=row.title,
        status=row.status,
        started_at=row.started_at,
        finished_at=row.finished_at,
        chain_eid=row.chain_eid,
        chain_name=row.chain_name,
        tx_hash=row.tx_hash,
        explorer_url=url,
        finality=row.finality,
        detail=row.detail,
    )


def _request(row: Any, steps: list[RequestStep], notice: str | None) -> Request:
    return Request(
        id=row.id,
        organization_id=row.organization_id,
        kind=row.kind,
        title=row.title,
        scope=row.scope,
        status=row.status,
        subject=Subject.of(row.subject_type, row.subject_id, row.arguments),
        steps=steps,
        problem=row.problem,
        can_retry=row.can_retry,
        awaits_finality=row.awaits_finality,
        notice=notice,
        reason=row.arguments.get("reason"),
        approval_id=row.approval_id,
        is_withdrawn=row.is_withdrawn,
        created_by=row.created_by,
        created_by_name=row.created_by_name,
        created_at=row.created_at,
        updated_at=row.updated_at,
    )
