"""A fault of the database delays a request, and does not fail it."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any
from uuid import UUID

import psycopg
import pytest
import sqlalchemy as sa
from structlog.testing import capture_logs

from backend.chain.signing import wallet_keys
from backend.core import db
from backend.core.connections import database
from backend.core.secret_keys.keyring import Keyring
from backend.requests import restarts, workflows
from backend.requests.models import RequestRow
from backend.requests.runs import Run
from backend.requests.schemas import RequestStatus
from tests.conftest import World
from tests.requests.test_lanes import accepted, status_of

END = sa.text("select pg_terminate_backend(pg_backend_pid())")


async def until_ended(pid: int) -> None:
    """Wait until a connection's process in the database has ended."""
    is_there = sa.text("select exists (select from pg_stat_activity where pid = :pid)")
    async with db.look() as session:
        while await session.scalar(is_there, {"pid": pid}):  # noqa: ASYNC110 - another process ends
            await asyncio.sleep(0.01)


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


async def repeated_once(
    world: World, monkeypatch: pytest.MonkeyPatch, fault: Callable[[db.Write, UUID], Awaitable[None]]
) -> list[str]:
    """Run a request in whose first transaction a fault occurs, and expect it to succeed in the second run. Return the
    reasons in the log for which it was postponed."""
    monkeypatch.setattr(restarts, "PAUSES", (0.0,))
    acme, runs = await world.organization(), []
    request = await accepted(acme)

    async def work(run: Run) -> None:
        runs.append(run.attempt)
        async with run.transaction() as session:
            if len(runs) == 1:
                await fault(session, request)
            await session.execute(sa.text("select 1"))

    with capture_logs() as lines:
        await workflows._run(work, None, acme, request)
    assert (len(runs), await status_of(request)) == (2, RequestStatus.SUCCEEDED)
    return [line["reason"] for line in lines if line["event"] == "workflow.postponed"]


async def test_run_that_waited_too_long_for_a_lock_starts_again(
    world: World, unswept: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def wait(session: db.Write, request: UUID) -> None:
        async with db.worker() as holder:
            await holder.get_one(RequestRow, request, with_for_update=True)
            await session.execute(sa.text("set local lock_timeout = '20ms'"))
            await session.get_one(RequestRow, request, with_for_update=True)

    [reason] = await repeated_once(world, monkeypatch, wait)
    assert "lock timeout" in reason


async def test_run_whose_transaction_was_idle_for_too_long_starts_again(
    world: World, unswept: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def be_idle(session: db.Write, request: UUID) -> None:
        pid = await session.scalar(sa.text("select pg_backend_pid()"))
        await session.execute(sa.text("set local idle_in_transaction_session_timeout = '20ms'"))
        await until_ended(pid)

    [reason] = await repeated_once(world, monkeypatch, be_idle)
    assert "idle-in-transaction timeout" in reason


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


class Away:
    """A database that accepts no connection outside the pools during the first run."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.runs, self.connection = 0, database.thread_connection
        patch.setattr(database, "thread_connection", self.connect)

    def connect(self) -> psycopg.Connection[Any]:
        return psycopg.connect("host=127.0.0.1 port=1") if self.runs == 1 else self.connection()


@pytest.mark.parametrize("read", [lambda: Keyring().refresh(), wallet_keys.addresses])
@pytest.mark.parametrize("is_at_its_end", [False, True])
async def test_run_that_could_not_read_keys_starts_again(
    world: World,
    unswept: None,
    monkeypatch: pytest.MonkeyPatch,
    read: Callable[[], object],
    is_at_its_end: bool,
) -> None:
    monkeypatch.setattr(restarts, "PAUSES", (0.0,))
    acme, away = await world.organization(), Away(monkeypatch)
    request = await accepted(acme)

    async def look(_session: object) -> None:
        await asyncio.to_thread(read)

    async def work(run: Run) -> None:
        away.runs += 1
        if is_at_its_end:
            run.at_success.append(look)
        else:
            await look(None)

    await workflows._run(work, None, acme, request)
    assert (away.runs, await status_of(request)) == (2, RequestStatus.SUCCEEDED)
