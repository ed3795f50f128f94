"""A run whose workflow another process has taken over writes and signs nothing more."""

import asyncio
from typing import Any
from uuid import UUID

import pytest
from dbos import DBOS

from backend.chain.signing import nonces
from backend.core import db
from backend.engine import dbos_internals
from backend.requests.runs import Run
from backend.requests.schemas import RequestStatus
from backend.requests.workflows import enqueue, workflow
from tests.conftest import World
from tests.requests.test_lanes import accepted, status_of
from tests.support.firm import SEPOLIA

SIGNER = "0x" + "5e" * 20


class Held:
    """Work whose first run sleeps, as a stopped process does, until a second one has ended."""

    def __init__(self) -> None:
        self.runs = 0
        self.wrote: list[str] = []
        self.asleep, self.awake = asyncio.Event(), asyncio.Event()

    async def work(self, run: Run) -> None:
        self.runs += 1
        name = f"run {self.runs}"
        if self.runs == 1:
            self.asleep.set()
            while not self.awake.is_set():  # noqa: ASYNC110 - the event is set in another event loop
                await asyncio.sleep(0.01)
        if self.runs > 1 and name == "run 1":
            self.wrote.append("awake")
        async with db.worker() as session:
            await nonces.lock(session, SEPOLIA, SIGNER)
            self.wrote.append(f"{name} signed")
        async with run.transaction():
            self.wrote.append(f"{name} wrote")


# Declared at import.
current: list[Held] = []


@workflow("test.held")
async def held(run: Run) -> None:
    await current[-1].work(run)


async def begun(world: World) -> tuple[Held, UUID, str]:
    """Return work that sleeps, its request, and the name of its executor."""
    work = Held()
    current.append(work)
    firm = await world.organization()
    request = await accepted(firm, order=str(firm))
    async with db.transaction(firm) as session:
        await enqueue(session, "test.held", firm, request, 1, str(firm))
    async with asyncio.timeout(30):
        while not work.asleep.is_set():  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    return work, request, dbos_internals.executor()


async def until(request: UUID, status: RequestStatus) -> None:
    async with asyncio.timeout(30):
        while await status_of(request) is not status:  # noqa: ASYNC110 - a row changes
            await asyncio.sleep(0.02)


async def test_run_that_lost_its_workflow_neither_signs_nor_writes(world: World) -> None:
    work, request, own = await begun(world)
    await asyncio.to_thread(dbos_internals.requeue, [own])
    await until(request, RequestStatus.SUCCEEDED)
    work.awake.set()
    async with asyncio.timeout(30):
        while "awake" not in work.wrote:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    state = await DBOS.get_workflow_status_async(f"{request}:1")
    assert state is not None
    assert state.status == "SUCCESS"
    assert work.wrote == ["run 2 signed", "run 2 wrote", "awake"]
    assert await status_of(request) is RequestStatus.SUCCEEDED


async def test_transaction_of_work_that_is_not_owned_ends_at_its_beginning(api: Any) -> None:
    with db.guarded_by(db.Guard("signum_holds_workflow", ("unknown:1", "o'token"), ZeroDivisionError)):
        for begin in (db.step, lambda: db.worker(is_owned=True)):
            with pytest.raises(ZeroDivisionError):
                async with begin():
                    pytest.fail("it began")


async def test_run_that_keeps_its_workflow_signs_and_writes(world: World) -> None:
    work, request, _ = await begun(world)
    work.awake.set()
    await until(request, RequestStatus.SUCCEEDED)
    assert work.wrote == ["run 1 signed", "run 1 wrote"]
