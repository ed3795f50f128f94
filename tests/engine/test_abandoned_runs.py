"""A run that this process claimed and does not execute is executed after all."""

import asyncio
from typing import Any
from uuid import UUID

import pytest

from backend.core import db
from backend.engine import abandoned_runs, dbos_internals
from backend.requests.runs import Run
from backend.requests.schemas import RequestStatus
from backend.requests.workflows import enqueue, workflow
from tests.conftest import World
from tests.engine.test_ownership import begun, current, until
from tests.requests.test_lanes import accepted, status_of


@workflow("test.plain")
async def plain(run: Run) -> None:
    """Do nothing, so that the request succeeds."""


class Plain:
    """A request whose work does nothing."""

    def __init__(self, firm: UUID, request: UUID) -> None:
        self.firm, self.request = firm, request

    async def enqueue(self) -> None:
        async with db.transaction(self.firm) as session:
            await enqueue(session, "test.plain", self.firm, self.request, 1, str(self.firm))

    async def is_abandoned(self) -> bool:
        claims = await asyncio.to_thread(dbos_internals.unexecuted)
        return any(workflow.startswith(str(self.request)) for workflow, _ in claims)

    async def until(self, *, abandoned: bool) -> None:
        async with asyncio.timeout(30):
            while await self.is_abandoned() is not abandoned:  # noqa: ASYNC110 - the engine's threads change it
                await asyncio.sleep(0.02)


@pytest.fixture
async def plain_request(world: World) -> Plain:
    firm = await world.organization()
    return Plain(firm, await accepted(firm, order=str(firm)))


async def requeued(workflows: list[str]) -> None:
    """Check twice: at the first check a run may be about to start."""
    assert not set(workflows) & set(await abandoned_runs.requeue())
    assert set(workflows) <= set(await abandoned_runs.requeue())


async def test_run_whose_claim_was_not_answered_is_put_back(
    plain_request: Plain, monkeypatch: pytest.MonkeyPatch
) -> None:
    claimed, execute = list[str](), dbos_internals._execute

    def lost_once(dbos: Any, status: Any, owner_xid: str) -> Any:
        if status["name"] == "test.plain" and not claimed:
            claimed.append(status["workflow_uuid"])
            raise ConnectionError("the database died before it answered the claim")
        return execute(dbos, status, owner_xid)

    monkeypatch.setattr(dbos_internals, "_execute", lost_once)
    await plain_request.enqueue()
    await plain_request.until(abandoned=True)
    await requeued(claimed)
    await until(plain_request.request, RequestStatus.SUCCEEDED)


async def test_run_whose_end_was_not_recorded_is_put_back(
    plain_request: Plain, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended, record = list[str](), dbos_internals._DATABASE.update_workflow_outcome

    def lost_once(database: Any, workflow: str, *arguments: Any, **options: Any) -> Any:
        if workflow.startswith(str(plain_request.request)) and len(ended) < 2:  # the result, then the error of that
            ended.append(workflow)
            raise ConnectionError("the database died before it recorded the end")
        return record(database, workflow, *arguments, **options)

    monkeypatch.setattr(dbos_internals._DATABASE, "update_workflow_outcome", lost_once)
    await plain_request.enqueue()
    await until(plain_request.request, RequestStatus.SUCCEEDED)
    await plain_request.until(abandoned=True)
    await requeued(ended[:1])
    await plain_request.until(abandoned=False)
    assert await status_of(plain_request.request) is RequestStatus.SUCCEEDED


async def test_run_that_is_executed_is_left_alone(world: World) -> None:
    work, request, _ = await begun(world)
    for _ in range(3):
        assert not [one for one in await abandoned_runs.requeue() if str(request) in one]
    work.awake.set()
    await until(request, RequestStatus.SUCCEEDED)
    assert current.pop() is work
    assert work.runs == 1
