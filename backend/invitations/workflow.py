"""Workflow of an invitation that a second person approved."""

from backend.invitations import creation
from backend.invitations.schemas import InvitationCreate
from backend.members import appointments
from backend.requests.runs import Run
from backend.requests.workflows import workflow


@workflow(appointments.INVITE)
async def invite(run: Run) -> None:
    """Write the invitation and its email; 409 if the person is already a member or invited."""
    async with run.step("invitation_sent"), run.transaction() as session:
        by = await appointments.of_run(run, session)
        body = InvitationCreate.model_validate(run.arguments["body"])
        await creation.make(session, creation.Wanted(run.organization_id, run.subject_id, body, by))
