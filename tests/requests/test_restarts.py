"""A fault of the database delays a request, and does not fail it."""

import pytest
import sqlalchemy as sa
from structlog.testing import capture_logs

from backend.core import db
from backend.requests import restarts, workflows
from backend.requests.models import RequestRow
from backend.requests.runs import Run
from backend.requests.schemas import RequestStatus
from tests.conftest import World
from tests.requests.test_lanes import accepted, status_of

END = sa.text("select pg_terminate_backend(pg_backend_pid())")


class Failing:
    """Work whose first runs lose their connection."""

    def __init__(self, faults: int) -> None:
        self.runs, self.faults = 0, faults

    async def work(self, run: Run) -> None:
        self.runs += 1
        async with run.transaction() as session:
            if self.runs <= self.faults:
                await session.execute(END)


async def test_run_that_lost_its_connection_starts_again(
    world: World, unswept: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(restarts, "PAUSES", (0.0, 0.0))
    acme, failing = await world.organization(), Failing(2)
    request = await accepted(acme)
    with capture_logs() as lines:
        await workflows._run(failing.work, None, acme, request)
    assert await status_of(request) is RequestStatus.SUCCEEDED
    told = [line for line in lines if str(request) in str(line.get("request"))]
    assert [(line["event"], line["log_level"]) for line in told] == [("workflow.postponed", "warning")] * 2
    assert all("exc_info" not in line for line in told)
    assert "terminating connection" in told[0]["reason"]


async def test_run_that_waited_too_long_for_a_lock_starts_again(
    world: World, unswept: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(restarts, "PAUSES", (0.0,))
    acme, runs = await world.organization(), []
    request = await accepted(acme)

    async def work(run: Run) -> None:
        runs.append(run.attempt)
        if len(runs) > 1:
            return
        async with db.worker() as holder, run.transaction() as session:
            await holder.get_one(RequestRow, request, with_for_update=True)
            await session.execute(sa.text("set local lock_timeout = '20ms'"))
            await session.get_one(RequestRow, request, with_for_update=True)

    with capture_logs() as lines:
        await workflows._run(work, None, acme, request)
    assert (len(runs), await status_of(request)) == (2, RequestStatus.SUCCEEDED)
    assert ["lock timeout" in line["reason"] for line in lines if line["event"] == "workflow.postponed"] == [True]


async def test_run_is_restarted_a_limited_number_of_times(
    world: World, unswept: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(restarts, "PAUSES", (0.0,))
    acme, failing = await world.organization(), Failing(9)
    request = await accepted(acme)
    with pytest.raises(db.FAULTS):
        await workflows._run(failing.work, None, acme, request)
    assert failing.runs == 2
    assert await status_of(request) is RequestStatus.RUNNING, "the sweep ends it"
