"""What goes on after the request: attempts, and sending again many at once."""

from datetime import datetime
from uuid import UUID

from dbos import DBOS

from backend.webhooks import events, log, sending
from backend.workflows import Run, workflow


@DBOS.workflow(name=events.DELIVER)
async def deliver(organization_id: str, delivery_id: str, run: str) -> None:
    """One attempt. A fault of ours ends it as an error, and the sweep gives the delivery another run."""
    await sending.attempt(UUID(organization_id), UUID(delivery_id), int(run))


@workflow(log.RECOVER)
async def recover(run: Run) -> None:
    """Send failed deliveries again, some at a time; run again after a crash, it finds the rest."""
    since, until = (datetime.fromisoformat(run.arguments[name]) for name in ("since", "until"))
    async with run.step("send") as step:
        count = 0
        while batch := await _batch(run, since, until):
            count += batch
            await step.say(f"{count:,} so far")
        step.detail = f"{count:,} sent again"


async def _batch(run: Run, since: datetime, until: datetime) -> int:
    async with run.transaction() as session:
        return await log.recover_batch(session, run.subject_id, since, until)
