"""Workflow of member changes that a second person approved."""

from backend.core.errors import NotFound
from backend.members import addition, appointments, changes, service
from backend.requests.runs import Run
from backend.requests.schemas import Action
from backend.requests.workflows import workflow
from backend.users.schemas import Role


@workflow(appointments.ADD)
async def add(run: Run) -> None:
    """Create the membership, or ask the person to agree; 409 if they are already a member."""
    async with run.step("member_added"), run.transaction() as session:
        await addition.make(session, addition.Addition.agreed(run, await appointments.of_run(run, session)))


@workflow(Action.MEMBER_CHANGE_ROLE)
async def change_role(run: Run) -> None:
    """Change the role; 409 if the last admin would go."""
    role = Role(run.arguments["role"])
    async with run.step("member_changed"), run.transaction() as session:
        row = await changes.locked(session, run.organization_id, run.subject_id)
        if row.role is not role:
            await changes.check_admin_stays(session, row)
            await changes.set_role(session, row, role, await appointments.of_run(run, session))


@workflow(Action.MEMBER_REMOVE)
async def remove(run: Run) -> None:
    """End the membership; do nothing if it has ended, as in a repeated run."""
    async with run.step("member_changed"), run.transaction() as session:
        try:
            row = await changes.locked(session, run.organization_id, run.subject_id)
        except NotFound:
            return
        await changes.check_admin_stays(session, row)
        await service.end(session, row)
