"""Work in several processes: each does its own, takes over from a dead one, and nothing is done twice."""

import asyncio
import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from dbos import DBOS
from sqlmodel import col

from backend.chain.rpc.json_rpc import connect
from backend.chain.signing import nonces
from backend.core import db
from backend.core.errors import CannotStart
from backend.core.settings import Settings, settings
from backend.engine import dbos_internals, executors, queues
from backend.engine.models import ExecutorLeaseRow
from backend.requests import service
from backend.server.worker import check
from tests.conftest import World
from tests.support.crash import sent, sent_by
from tests.support.issuance import BASE, SEPOLIA, Issuance, asset_body

pytestmark = pytest.mark.long

_IS_WORKER = col(ExecutorLeaseRow.id).like("worker-%")
CHECKOUT = Path(__file__).resolve().parents[2]


@pytest.fixture
def elsewhere(api: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """One chain's work is not done by this process."""
    monkeypatch.setattr(settings(), "worker_chains", [BASE])
    with dbos_internals.listening([queues.QUEUE]):
        yield


@asynccontextmanager
async def worker(url: str, drain: int = 20) -> AsyncIterator[asyncio.subprocess.Process]:
    """`signum worker --chain` for the chain that this process leaves out."""
    environment = os.environ | {
        "DATABASE_URL": url,
        "SIGNUM_WORKER_CHAINS": f"[{BASE}]",
        "SIGNUM_DRAIN_SECONDS": str(drain),
        "SIGNUM_HOME": str(settings().home),
    }
    command = [sys.executable, "-m", "backend.cli", "worker", "--chain", str(BASE)]
    process = await asyncio.create_subprocess_exec(*command, env=environment, cwd=CHECKOUT)
    try:
        yield process
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGTERM)
            await asyncio.wait_for(process.wait(), 60)


async def executor_of(request_id: str, attempt: int = 1) -> str:
    """Return the executor that runs or ran a request."""
    state = await DBOS.get_workflow_status_async(f"{request_id}:{attempt}")
    assert state is not None
    return str(state.executor_id)


async def until_running(firm: Issuance, request_id: str) -> None:
    async with asyncio.timeout(60):
        while (await firm.get(f"/requests/{request_id}"))["status"] != "running":  # noqa: ASYNC110 - a row changes
            await asyncio.sleep(0.05)


async def test_web_and_worker_processes_share_the_chains(world: World, elsewhere: None, database_url: str) -> None:
    firm = await Issuance.ready(world, SEPOLIA, BASE)
    async with worker(database_url) as process:
        here = await firm.post("/assets", asset_body(SEPOLIA))
        there = await firm.post("/assets", asset_body(BASE))
        await firm.succeed(here["requestId"])
        await firm.succeed(there["requestId"])
        assert (await executor_of(here["requestId"])).startswith("web-")
        name = await executor_of(there["requestId"])
        assert name.startswith("worker-")
        assert await executors.is_alive(name)
        process.send_signal(signal.SIGTERM)
        assert await asyncio.wait_for(process.wait(), 60) == 0
    assert not await executors.is_alive(name)


@pytest.mark.parametrize("end", [signal.SIGKILL, pytest.param(signal.SIGTERM, marks=pytest.mark.nightly)])
async def test_work_of_a_stopped_worker_is_resumed(
    world: World, elsewhere: None, database_url: str, end: signal.Signals
) -> None:
    """The worker is killed or drained in the middle; another one continues, and every transaction exists once."""
    firm = await Issuance.ready(world, SEPOLIA, BASE)
    chain = await connect(BASE)
    async with worker(database_url, drain=1) as process:
        await chain.request("evm_setAutomine", False)
        try:
            accepted = await firm.post("/assets", asset_body(BASE))
            await until_running(firm, accepted["requestId"])
            name = await executor_of(accepted["requestId"])
            process.send_signal(end)
            await asyncio.wait_for(process.wait(), 60)
        finally:
            await chain.request("evm_setAutomine", True)
            await chain.request("evm_mine")
    async with asyncio.timeout(60):
        while await executors.is_alive(name):  # noqa: ASYNC110 - the database notices
            await asyncio.sleep(0.05)
    async with worker(database_url):
        await firm.succeed(accepted["requestId"])
        assert await executor_of(accepted["requestId"]) != name
    asset = await firm.get(f"/assets/{accepted['assetId']}")
    assert asset["status"] == "active"
    labels = await sent(firm.id)
    once = [f"deploy {asset['symbol']}", "set rules", f"mint {asset['symbol']}"]
    assert [labels.count(label) for label in once] == [1, 1, 1]


async def lease_of(name: str) -> ExecutorLeaseRow | None:
    async with db.worker() as session:
        return await session.get(ExecutorLeaseRow, name)


async def workers() -> set[str]:
    """Return the workers that have a lease, those of killed ones included."""
    async with db.worker() as session:
        return set(await session.scalars(sa.select(col(ExecutorLeaseRow.id)).where(_IS_WORKER)))


async def joined(known: set[str]) -> str:
    """Wait for another worker to join, and return its name."""
    async with asyncio.timeout(120):
        while not (new := await workers() - known):  # noqa: ASYNC110 - a row is written
            await asyncio.sleep(0.1)
    return new.pop()


async def test_work_of_a_hanging_worker_is_taken_over_and_done_once(
    world: World, elsewhere: None, database_url: str
) -> None:
    """The worker is stopped with its connections open, and wakes up after another one has finished its work."""
    firm = await Issuance.ready(world, SEPOLIA, BASE)
    chain = await connect(BASE)
    async with worker(database_url) as process:
        asset = await firm.asset(BASE)
        await chain.request("evm_setAutomine", False)
        path = f"/assets/{asset['id']}/markets"
        accepted = await firm.post(path, await firm.market_body(BASE))
        async with asyncio.timeout(60):
            while "create market" not in await sent(firm.id):  # noqa: ASYNC110 - a row is written
                await asyncio.sleep(0.05)
        hung = await executor_of(accepted["requestId"])
        known = await workers()
        async with worker(database_url):
            heir = await joined(known)
            process.send_signal(signal.SIGSTOP)
            stopped = time.monotonic()
            try:
                async with asyncio.timeout(40):
                    while await executor_of(accepted["requestId"]) != heir:  # noqa: ASYNC110 - a row changes
                        await asyncio.sleep(0.1)
                assert time.monotonic() - stopped < 30
            finally:
                await chain.request("evm_setAutomine", True)
                await chain.request("evm_mine")
                process.send_signal(signal.SIGCONT)
            await firm.succeed(accepted["requestId"])
            async with asyncio.timeout(60):
                while (lease := await lease_of(hung)) is None or lease.epoch < 2:  # noqa: ASYNC110 - a row changes
                    await asyncio.sleep(0.1)
            market = await firm.get(f"{path}/{accepted['marketId']}")
            assert market["status"] == "active"
            assert (await sent(firm.id)).count("create market") == 1
            owner = (await firm.treasury())["address"]
            assert await nonces.count(chain, owner) == await sent_by(owner, BASE)
            again = await firm.asset(BASE)
            assert again["status"] == "active", "the worker that woke up does not disturb"


async def test_workflow_runs_once_across_queues(world: World, elsewhere: None) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    asset = await firm.asset()
    async with db.transaction(firm.id) as session:
        rows = [
            await service.write(
                session,
                service.Wanted(
                    organization_id=firm.id,
                    kind="test.order",
                    title="Order",
                    subject_type="asset",
                    subject_id=asset["id"],
                    scope="assets:write",
                    steps=[service.Step("one", "One", eid)],
                    created_by=None,
                    arguments={"order": "same"},
                ),
            )
            for eid in (BASE, SEPOLIA)
        ]
    async with db.transaction(firm.id) as session:
        assert await service.is_first(session, rows[1].id)
        await service.begin(session, rows[1].id)
    async with db.transaction(firm.id) as session:
        assert not await service.is_first(session, rows[0].id)
        assert await service.is_first(session, rows[1].id), "a repeated run continues"
        assert await service.first_chain(session, rows[0].id) == BASE
        await service.fail(session, rows[1].id, {"detail": "over"}, can_retry=False)
        assert await service.is_first(session, rows[0].id)
        await service.fail(session, rows[0].id, {"detail": "over"}, can_retry=False)


def test_worker_without_work_reports_the_reason(api: Any) -> None:
    with pytest.raises(CannotStart, match="Start both with SIGNUM_WORKER_CHAINS='\\[40161\\]'"):
        check(Settings(), [SEPOLIA])
    with pytest.raises(CannotStart, match="chain 30101 has no node"):
        check(Settings(worker_chains=[30101]), [30101])
    with pytest.raises(CannotStart, match="Name the chains of this worker: --chain EID, or SIGNUM_WORKER_CHAINS"):
        check(Settings(), Settings().worker_chains)
