"""What is done for an invitation that a second person has agreed to."""

from backend.invitations import inviting
from backend.invitations.schemas import InvitationCreate
from backend.members import appointing
from backend.workflows import Run, workflow


@workflow(appointing.INVITE)
async def invite(run: Run) -> None:
    """Write the invitation and its mail; 409 where the person is a member, or was invited, by now."""
    async with run.step("invitation_sent"), run.transaction() as session:
        by = await appointing.of_run(run, session)
        body = InvitationCreate.model_validate(run.arguments["body"])
        await inviting.make(session, inviting.Wanted(run.organization_id, run.subject_id, body, by))
