"""Many requests of one tenant leave connections and runs to other tenants, and to its own controls."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any
from uuid import UUID

import psycopg
import pytest
from dbos import DBOS

from backend.core import db
from backend.core.connections import pools
from backend.core.db import new_id
from backend.engine import queues
from backend.requests import service, workflows
from backend.requests.lanes import RUNS, Lane
from backend.requests.models import RequestRow
from backend.requests.runs import Run
from backend.requests.schemas import RequestStatus
from tests.conftest import World
from tests.controls.issuer import issuer
from tests.support.firm import Firm

RECOVERIES = pools.sizes().most("flow") + 3
"""More than the workflows have connections."""
ENDPOINT = {"url": "http://127.0.0.1:9999/hooks", "event_types": ["asset.created"]}


async def accepted(organization: UUID, **arguments: Any) -> UUID:
    """Write a request that the engine does not run."""
    async with db.transaction(organization) as session:
        row = await service.write(
            session,
            service.Wanted(
                organization_id=organization,
                kind="test.lane",
                title="Lane",
                subject_type="asset",
                subject_id=new_id(),
                scope="assets:write",
                steps=[],
                created_by=None,
                arguments=arguments,
            ),
        )
    return row.id


async def status_of(request_id: UUID) -> RequestStatus:
    async with db.worker() as session:
        return (await session.get_one(RequestRow, request_id)).status


async def finished(run: Run) -> None:
    """Do nothing."""


class Gate:
    """Work that waits until it is released, and counts the runs that began."""

    def __init__(self) -> None:
        self.begun, self.released = 0, asyncio.Event()

    async def wait(self, run: Run) -> None:
        self.begun += 1
        await self.released.wait()

    async def until_begun(self, count: int) -> None:
        while self.begun < count:  # noqa: ASYNC110 - a count changes
            await asyncio.sleep(0.01)


async def started(organizations: list[UUID], body: Callable[[Run], Awaitable[None]], **arguments: Any) -> Any:
    """Start a run for each organization; return their requests and tasks."""
    ids = [await accepted(organization, **arguments) for organization in organizations]
    hop = arguments.get(service.HOP, 0)
    runs = [workflows._run(body, None, org, id_, hop) for org, id_ in zip(organizations, ids, strict=True)]
    return ids, [asyncio.create_task(run) for run in runs]


@pytest.mark.long
async def test_recoveries_of_one_tenant_do_not_delay_a_control_of_another(world: World, database_url: str) -> None:
    firm, busy = await issuer(world), await Firm.found(world, "Busy")
    hooks = [await busy.post("/webhooks", ENDPOINT) for _ in range(RECOVERIES)]
    async with await psycopg.AsyncConnection.connect(database_url) as holder:
        await holder.execute("lock table webhook_deliveries in exclusive mode")
        since = {"since": hooks[0]["created_at"]}
        ids = [(await busy.post(f"/webhooks/{hook['id']}/recover", since))["requestId"] for hook in hooks]
        while (await busy.get(f"/requests/{ids[0]}"))["status"] == "accepted":  # noqa: ASYNC110 - a row changes
            await asyncio.sleep(0.05)
        await firm.do("pause")
        states = [(await busy.get(f"/requests/{id_}"))["status"] for id_ in ids]
        assert sorted(states) == ["accepted"] * (RECOVERIES - 1) + ["running"]
        await holder.rollback()
    assert [(await busy.settle(id_))["status"] for id_ in ids] == ["succeeded"] * RECOVERIES
    run = await DBOS.get_workflow_status_async(f"{ids[0]}:1")
    assert run is not None
    assert run.queue_name == queues.BULK


@pytest.mark.long
async def test_runs_of_one_hierarchy_leave_capacity_to_others_and_to_its_controls(world: World, unswept: None) -> None:
    mine, other = await world.organization("Mine"), await world.organization("Other")
    below, gate = await world.organization("Below", mine), Gate()
    most = RUNS[Lane.ORDINARY]
    ids, tasks = await started([mine, below] * most, gate.wait)
    await gate.until_begun(most)
    another, control = await accepted(other), await accepted(below)
    await workflows._run(finished, None, other, another)
    await workflows._run(finished, None, below, control, lane=Lane.URGENT)
    assert {await status_of(another), await status_of(control)} == {RequestStatus.SUCCEEDED}
    assert gate.begun == most
    gate.released.set()
    await asyncio.gather(*tasks)
    assert {await status_of(id_) for id_ in ids} == {RequestStatus.SUCCEEDED}


async def test_run_that_waits_elsewhere_leaves_its_place(world: World, unswept: None) -> None:
    mine, gate = await world.organization(), Gate()
    most = RUNS[Lane.ORDINARY] + 1
    _, tasks = await started([mine] * most, gate.wait, **{service.AWAY: "delivery", service.HOP: 1})
    await gate.until_begun(most)
    gate.released.set()
    await asyncio.gather(*tasks)
