"""The engine runs nightly work at its hour, once in the installation, and again the night after a failure."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from dbos import DBOS
from structlog.testing import capture_logs

from backend.core import db
from backend.core.settings import settings
from backend.engine import queues, schedules
from tests.support.night import HOUR
from tests.support.runs import result_of

MINUTE = timedelta(minutes=1)
ran: list[int] = []


async def work() -> None:
    ran.append(len(ran))
    raise RuntimeError("the database does not respond")


FAILING = schedules.nightly("test.nightly", work, "the nightly test failed")


@pytest.mark.parametrize(("hour", "later", "said"), [(3, 0, "0 3 * * *"), (3, 1, "0 4 * * *"), (23, 1, "0 0 * * *")])
def test_nightly_work_begins_at_the_hour_of_the_setting(
    monkeypatch: pytest.MonkeyPatch, hour: int, later: int, said: str
) -> None:
    monkeypatch.setattr(settings(), "nightly_hour", hour)
    assert replace(FAILING, hours_later=later).schedule()["schedule"] == said


async def runs_of(name: str, night: datetime) -> list[str]:
    """Let the engine catch up on the hour of a night, as several processes do at the hour; return the runs' ids."""
    runs = await asyncio.to_thread(DBOS.backfill_schedule, name, night - MINUTE, night + MINUTE)
    return [run.workflow_id for run in runs]


async def ended(run_id: str) -> None:
    async with asyncio.timeout(60):
        await result_of(run_id)


async def reconciliations() -> int:
    async with db.worker() as session:
        return int(await session.scalar(sa.text("select count(*) from reconciliations")) or 0)


@pytest.mark.long
async def test_reconciliation_runs_once_a_night_at_its_hour(api: Any) -> None:
    night, before = datetime(2020, 1, 2, HOUR, tzinfo=UTC), await reconciliations()
    for _ in range(2):
        [run] = await runs_of("reconciliation", night)
        assert run == f"sched-reconciliation-2020-01-02T{HOUR:02}:00:00+00:00"
        await ended(run)
    assert await runs_of("reconciliation", night + timedelta(hours=12)) == []
    assert await reconciliations() == before + 1


async def test_retention_runs_an_hour_later_and_keeps_no_results_of_the_engine(api: Any) -> None:
    [run] = await runs_of("retention", datetime(2020, 1, 2, HOUR, tzinfo=UTC) + timedelta(hours=1))
    await ended(run)
    steps = await DBOS.list_workflow_steps_async(run)
    assert [(step["function_name"], step["output"]) for step in steps] == [("retention", None)]


@pytest.mark.long
async def test_failed_night_is_logged_and_followed_by_another(api: Any) -> None:
    """The engine's own clock starts the runs: the test's night comes every second."""
    with capture_logs() as logged:
        await DBOS.apply_schedules_async([{**FAILING.schedule(), "schedule": "* * * * * *"}])
        try:
            async with asyncio.timeout(90):
                while len(ran) < 3:  # noqa: ASYNC110 - the workflow runs in another event loop
                    await asyncio.sleep(0.1)
        finally:
            await DBOS.delete_schedule_async("test.nightly")
    assert len([line for line in logged if line["event"] == "the nightly test failed"]) >= 2
    runs = await DBOS.list_workflows_async(name="test.nightly")
    assert {run.queue_name for run in runs} == {queues.NIGHTLY}
    assert "ERROR" in {run.status for run in runs}
