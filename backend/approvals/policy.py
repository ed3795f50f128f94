"""Which actions need a second person. A change is asked for here, and made when another person agrees."""

from collections.abc import Collection

import sqlalchemy as sa
from sqlmodel import col

from backend.approvals import second_person
from backend.approvals.schemas import PolicyAccepted, PolicyImpact, PolicyPlan
from backend.auth.principal import Context
from backend.auth.scopes import Scope
from backend.errors import BadRequest
from backend.requests.accept import WAITS, accept
from backend.requests.models import ApprovalRow
from backend.requests.schemas import Action
from backend.requests.service import Step

KIND = "organization.approvals"
STEP = "Change the actions that need a second person"


async def plan(context: Context, wanted: Collection[Action]) -> PolicyPlan:
    """What a change would change; 400 where that is nothing."""
    text = sa.text("select approvals from organizations where id = :id")
    held = set(await context.session.scalar(text, {"id": context.organization_id}) or [])
    added, removed = [a for a in Action if a in set(wanted) - held], [a for a in Action if a in held - set(wanted)]
    if not added and not removed:
        raise BadRequest("Nothing would change: these are the actions already.", pointer="/approvals")
    return PolicyPlan(steps=[STEP], impact=PolicyImpact(added=added, removed=removed))


async def ask(context: Context, wanted: Collection[Action]) -> PolicyAccepted:
    """A request to change them, which always waits for a second person."""
    await plan(context, wanted)
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
        arguments={"approvals": [a for a in Action if a in wanted]},
        always_asks=True,
    )
    await context.session.flush()
    query = sa.select(col(ApprovalRow.id)).where(col(ApprovalRow.request_id) == request.id)
    approval_id = (await context.session.scalars(query)).one()
    return PolicyAccepted(approvalId=approval_id, status=request.status, request_id=str(request.id), message=WAITS)
