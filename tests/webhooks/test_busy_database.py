"""A workflow that waits too long for the database logs one line; the sweep gives a delivery another run."""

import asyncio
import logging
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from psycopg.errors import LockNotAvailable
from sqlalchemy.exc import OperationalError
from sqlalchemy.exc import TimeoutError as NoConnectionFree
from structlog.testing import capture_logs

from backend.core.db import Write
from backend.engine.row_json import WorkflowFailed
from backend.server import sweep
from backend.webhooks import attempts
from tests.conftest import World
from tests.webhooks.conftest import Endpoint
from tests.webhooks.receiver import Receiver
from tests.webhooks.test_log import overdue

BUSY = {
    "NoConnectionFree": NoConnectionFree("QueuePool limit of size 15 overflow 0 reached"),
    "LockNotAvailable": OperationalError("select", {}, LockNotAvailable("canceling statement due to lock timeout")),
}


async def ended_with(error: Exception, world: World, monkeypatch: pytest.MonkeyPatch) -> tuple[Endpoint, str]:
    """Make a delivery whose attempt ends with an error; return its ID. Deliveries of other tests do not fail."""
    record = attempts.record

    async with Receiver() as receiver:
        end = await Endpoint.made(world, receiver.url)

        async def fail(session: Write, parcel: attempts.Parcel, *answer: Any) -> None:
            if str(parcel.endpoint_id) == end.id:
                raise error
            await record(session, parcel, *answer)

        with monkeypatch.context() as patch:
            patch.setattr(attempts, "record", fail)
            delivery = await end.post("/test")
            with pytest.raises(WorkflowFailed, match=type(error).__name__):
                await end.settled(delivery["id"])
    return end, delivery["id"]


async def until(is_logged: Callable[[], Any]) -> None:
    """Wait for the engine's log: it records a run's result first."""
    async with asyncio.timeout(30):
        while not is_logged():  # noqa: ASYNC110 - the engine logs in its own thread
            await asyncio.sleep(0.01)


def events_of(delivery_id: str, logged: list[Any]) -> list[str]:
    return [line["event"] for line in logged if delivery_id in str(line.get("workflow"))]


@pytest.mark.parametrize("name", BUSY)
async def test_workflow_without_a_connection_or_lock_logs_one_line(
    world: World, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    with capture_logs() as logged, caplog.at_level(logging.WARNING, "dbos"):
        _, delivery_id = await ended_with(BUSY[name], world, monkeypatch)
        await until(lambda: events_of(delivery_id, logged))
    assert events_of(delivery_id, logged) == ["workflow.timed_out"]
    assert not [record for record in caplog.records if record.exc_info]


async def test_workflow_with_an_unexpected_error_logs_its_traceback(
    world: World, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "dbos"):
        await ended_with(ValueError("unexpected"), world, monkeypatch)
        await until(lambda: any(record.exc_info for record in caplog.records))
    assert [record.exc_info[0] for record in caplog.records if record.exc_info] == [ValueError]


async def test_delivery_whose_attempt_found_no_connection_is_sent_again(
    world: World, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    end, delivery_id = await ended_with(BUSY["NoConnectionFree"], world, monkeypatch)
    await end.patch(url=receiver.url)
    await overdue(delivery_id, timedelta(minutes=2))
    await sweep.once()
    assert (await end.settled(delivery_id, 2))["status"] == "succeeded"
