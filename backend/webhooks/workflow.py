"""Webhook workflows: attempts, recoveries of many deliveries, and endpoints that receive too many events."""

from datetime import datetime
from uuid import UUID

from dbos import DBOS

from backend.requests.lanes import Lane
from backend.requests.runs import Run
from backend.requests.workflows import workflow
from backend.webhooks import attempts, delivery_limits, events, excess_events, recovery


@DBOS.workflow(name=events.DELIVER)
async def deliver(organization_id: str, delivery_id: str, run: str) -> None:
    """Run one attempt. An internal fault ends it as an error, and the sweep gives the delivery another run."""
    await attempts.attempt(UUID(organization_id), UUID(delivery_id), int(run))


@DBOS.workflow(name=delivery_limits.DISABLE)
async def disable(organization_id: str, endpoint_ids: str) -> None:
    """Disable endpoints above a limit. If an internal fault ends it, the next event queues another run."""
    await excess_events.disable(UUID(organization_id), [UUID(one) for one in endpoint_ids.split(",")])


@workflow(recovery.RECOVER, lane=Lane.BULK)
async def recover(run: Run) -> None:
    """Send failed deliveries again in batches; a repeated run after a crash sends the rest."""
    since, until = (datetime.fromisoformat(run.arguments[name]) for name in ("since", "until"))
    async with run.step("send") as step:
        count = 0
        while batch := await _batch(run, since, until):
            count += batch
            await step.say(f"{count:,} so far")
        step.detail = f"{count:,} sent again"


async def _batch(run: Run, since: datetime, until: datetime) -> int:
    async with run.transaction() as session:
        return await recovery.recover_batch(session, run.subject_id, since, until)
