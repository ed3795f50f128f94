"""Approval policy: which actions need a second person. A change takes effect when another person approves it."""

import sqlalchemy as sa
from sqlmodel import col

from backend.approvals.schemas import (
    FactorChange,
    PolicyAccepted,
    PolicyChange,
    PolicyImpact,
    PolicyPlan,
    RangesChange,
    WaitChange,
)
from backend.auth.principal import Context
from backend.auth.scopes import Scope
from backend.core.errors import BadRequest
from backend.organizations.ip_ranges import check_ip_ranges
from backend.organizations.policies import check_person
from backend.requests import second_person
from backend.requests.accept import WAITS, accept
from backend.requests.models import ApprovalRow
from backend.requests.schemas import Action
from backend.requests.service import Step

KIND = "organization.approvals"
STEP = "Change the actions that need a second person"


async def plan(context: Context, change: PolicyChange) -> PolicyPlan:
    """Return the effect of a change; 400 where nothing changes."""
    text = sa.text(
        "select approvals, approver_wait_hours, require_second_factor, allowed_ip_ranges "
        "from organizations where id = :id"
    )
    row = (await context.session.execute(text, {"id": context.organization_id})).one()
    wanted, held = set(change.approvals), set(row.approvals)
    added, removed = [a for a in Action if a in wanted - held], [a for a in Action if a in held - wanted]
    hours = change.approver_wait_hours
    wait = None
    if hours is not None and hours != row.approver_wait_hours:
        wait = WaitChange(before=row.approver_wait_hours, after=hours)
    factor = None
    if change.require_second_factor not in (None, row.require_second_factor):
        check_person(context)
        factor = FactorChange(before=row.require_second_factor, after=not row.require_second_factor)
    ranges = None
    if change.allowed_ip_ranges not in (None, row.allowed_ip_ranges):
        after = check_ip_ranges(context, change.allowed_ip_ranges or [])
        ranges = RangesChange(before=row.allowed_ip_ranges, after=after)
    if not any((added, removed, wait, factor, ranges)):
        raise BadRequest("These settings are already in effect. Change at least one.", pointer="/approvals")
    impact = PolicyImpact(
        added=added,
        removed=removed,
        approver_wait_hours=wait,
        require_second_factor=factor,
        allowed_ip_ranges=ranges,
    )
    return PolicyPlan(steps=[STEP], impact=impact)


async def ask(context: Context, change: PolicyChange) -> PolicyAccepted:
    """Create a request to change the policy. It always waits for a second person."""
    await plan(context, change)
    session, here = context.session, context.organization_id
    scope = await second_person.scope_to_agree(session, here, context.user_id, Scope.ORGS_WRITE)
    request = await accept(
        context,
        KIND,
        STEP,
        subject=("organization", context.organization_id),
        scope=scope or Scope.ORGS_WRITE,
        order=context.organization_id,
        steps=[Step("policy_changed", STEP)],
        arguments={
            "approvals": [a for a in Action if a in change.approvals],
            "approver_wait_hours": change.approver_wait_hours,
            "require_second_factor": change.require_second_factor,
            "allowed_ip_ranges": change.allowed_ip_ranges,
        },
        always_asks=True,
    )
    await context.session.flush()
    query = sa.select(col(ApprovalRow.id)).where(col(ApprovalRow.request_id) == request.id)
    approval_id = (await context.session.scalars(query)).one()
    return PolicyAccepted(approvalId=approval_id, status=request.status, request_id=str(request.id), message=WAITS)
