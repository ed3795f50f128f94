"""Workflows of an approved policy change, and of the plan of an action that waits."""

from uuid import UUID

from dbos import DBOS

from backend.approvals import plans_at_request
from backend.approvals.policy import KIND
from backend.chain.rpc import json_rpc
from backend.core.changes import publish
from backend.organizations.models import OrganizationRow
from backend.requests.accept import PLAN
from backend.requests.runs import Run
from backend.requests.workflows import PATIENCE, workflow


@workflow(KIND)
async def change(run: Run) -> None:
    """Write the actions that need a second person from now on."""
    async with run.step("policy_changed"), run.transaction() as session:
        row = await session.get_one(OrganizationRow, run.organization_id, with_for_update=True)
        names = ("approvals", "approver_wait_hours", "require_second_factor", "allowed_ip_ranges")
        after = {name: run.arguments[name] for name in names if run.arguments.get(name) is not None}
        before = {name: getattr(row, name) for name in after}
        for name, value in after.items():
            setattr(row, name, value)
        subject = ("organization", row.id)
        await publish(session, row.id, "organization.updated", subject, before, after)


@DBOS.workflow(name=PLAN)
async def plan(organization_id: str, approval_id: str) -> None:
    """Record the plan. If an internal fault ends it, the approval has no comparison."""
    with json_rpc.patience(PATIENCE):
        await plans_at_request.record(UUID(organization_id), UUID(approval_id))
