"""What is done for a change of members that a second person has agreed to."""

from backend.errors import NotFound
from backend.members import adding, appointing, changing, service
from backend.members.schemas import Role
from backend.requests.schemas import Action
from backend.workflows import Run, workflow


@workflow(appointing.ADD)
async def add(run: Run) -> None:
    """Make the membership, or ask the person whether they agree; 409 where they are a member by now."""
    async with run.step("member_added"), run.transaction() as session:
        await adding.make(session, adding.Addition.agreed(run, await appointing.of_run(run, session)))


@workflow(Action.MEMBER_CHANGE_ROLE)
async def change_role(run: Run) -> None:
    """Write the role; 409 where the last admin would go by now."""
    role = Role(run.arguments["role"])
    async with run.step("member_changed"), run.transaction() as session:
        row = await changing.locked(session, run.organization_id, run.subject_id)
        if row.role is not role:
            await changing.check_admin_stays(session, row)
            await changing.set_role(session, row, role, await appointing.of_run(run, session))


@workflow(Action.MEMBER_REMOVE)
async def remove(run: Run) -> None:
    """End the membership; nothing where it has ended, as in a run that is repeated."""
    async with run.step("member_changed"), run.transaction() as session:
        try:
            row = await changing.locked(session, run.organization_id, run.subject_id)
        except NotFound:
            return
        await changing.check_admin_stays(session, row)
        await service.end(session, row)
