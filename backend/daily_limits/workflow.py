"""Write changed daily limits after approval."""

from backend.daily_limits import service
from backend.requests.models import RequestRow
from backend.requests.runs import Run
from backend.requests.workflows import workflow


@workflow(service.KIND)
async def change(run: Run) -> None:
    """Write the limits."""
    async with run.step("limits_changed"), run.transaction() as session:
        await service.write(session, await session.get_one(RequestRow, run.request_id))
