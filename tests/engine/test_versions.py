"""Old and new processes on one database: an old one never takes work that it does not know."""

import asyncio
import secrets
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from dbos import DBOS

from backend.core import db
from backend.engine import engine, executors
from tests.engine.versioned_process import FREE, ORDERED

pytestmark = pytest.mark.long
OLD, NEW = ["work:1"], ["work:2", "further:1"]
"""What an old and a new process know."""


@asynccontextmanager
async def process(url: str, hold: Path, known: list[str]) -> AsyncIterator[tuple[str, asyncio.subprocess.Process]]:
    """A process that knows some workflows, and its name."""
    name = f"versioned-{secrets.token_hex(4)}"
    command = [sys.executable, "-m", "tests.engine.versioned_process", url, name, str(hold), *known]
    running = await asyncio.create_subprocess_exec(*command)
    try:
        yield name, running
    finally:
        if running.returncode is None:
            running.send_signal(signal.SIGTERM)
            await asyncio.wait_for(running.wait(), 60)


async def enqueue(workflow: str, queue: str, of: str, how: str = "") -> str:
    """Enqueue a run in a partition; return its ID."""
    run_id = f"{workflow}-{secrets.token_hex(4)}"
    async with db.transaction() as session:
        await engine.submit(session, workflow, run_id, how, queue=queue, of=of)
    return run_id


async def status(run_id: str) -> tuple[str, str | None]:
    """Return the status of a run and the process that has it."""
    found = await DBOS.get_workflow_status_async(run_id)
    assert found is not None
    return found.status, found.executor_id


async def until(run_id: str, *expected: str) -> str | None:
    """Wait for a status of a run; return the process that has it."""
    async with asyncio.timeout(60):
        while (await status(run_id))[0] not in expected:  # noqa: ASYNC110 - another process changes it
            await asyncio.sleep(0.05)
    return (await status(run_id))[1]


async def test_old_process_leaves_unknown_work_to_a_new_one(api: Any, database_url: str, tmp_path: Path) -> None:
    async with process(database_url, tmp_path / "hold", OLD) as (old, _):
        unknown = [await enqueue(kind, queue, "a") for kind in ("further", "work@2") for queue in (ORDERED, FREE)]
        behind = await enqueue("work", ORDERED, "a")
        for queue in (ORDERED, FREE) * 2:  # each time after a further look at the queue
            assert await until(await enqueue("work", queue, "b"), "SUCCESS") == old
        assert {(await status(run))[0] for run in [*unknown, behind]} == {"ENQUEUED"}
        async with process(database_url, tmp_path / "hold", NEW) as (new, _):
            assert {await until(run, "SUCCESS") for run in unknown} == {new}
            assert await until(behind, "SUCCESS") in (old, new)
    for before, after in ((unknown[0], unknown[2]), (unknown[2], behind)):
        assert await ended(before) <= await began(after)


async def test_new_process_completes_work_of_an_old_one(api: Any, database_url: str, tmp_path: Path) -> None:
    hold = tmp_path / "hold"
    async with process(database_url, hold, OLD) as (old, running):
        begun = await enqueue("work", ORDERED, "a", "hold")
        waiting = await enqueue("work", ORDERED, "a")
        assert await until(begun, "PENDING") == old
        running.kill()
        await running.wait()
    hold.touch()
    async with process(database_url, hold, NEW) as (new, _):
        assert [await until(run, "SUCCESS") for run in (begun, waiting)] == [new, new]


async def test_unknown_work_of_a_dead_process_waits_for_a_new_one(api: Any, database_url: str, tmp_path: Path) -> None:
    """Only an old process lives, and puts the work back into its queue."""
    hold = tmp_path / "hold"
    async with process(database_url, hold, OLD) as (old, _):
        async with process(database_url, hold, NEW) as (new, running):
            begun = await enqueue("further", ORDERED, "a", "hold")
            assert await until(begun, "PENDING") == new
            running.kill()
            await running.wait()
        await until(begun, "ENQUEUED")
        assert not await executors.is_alive(new)
        assert await until(await enqueue("work", ORDERED, "b"), "SUCCESS") == old
        assert (await status(begun))[0] == "ENQUEUED"
        hold.touch()
        async with process(database_url, hold, NEW) as (newer, _):
            assert await until(begun, "SUCCESS") == newer


async def began(run_id: str) -> int:
    """Return when a run was taken, in milliseconds."""
    found = await DBOS.get_workflow_status_async(run_id)
    assert found is not None
    assert found.dequeued_at is not None
    return found.dequeued_at


async def ended(run_id: str) -> int:
    """Return when a run ended, in milliseconds."""
    found = await DBOS.get_workflow_status_async(run_id)
    assert found is not None
    assert found.completed_at is not None
    return found.completed_at
