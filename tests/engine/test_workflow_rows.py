"""Rows of the workflow engine are JSON: write access to them does not let the server run code."""

import asyncio
import base64
import os
import pickle
import re
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import dbos
import pytest
import sqlalchemy as sa
from dbos import DBOS
from sqlmodel import col
from structlog.testing import capture_logs

from backend.chain.errors import Reverted, RpcError
from backend.core import db
from backend.core.errors import (
    BadRequest,
    Conflict,
    InsufficientScope,
    Invalid,
    PrerequisitesNotMet,
    SignumError,
    TooManyRequests,
    problem,
)
from backend.engine import engine, queues
from backend.engine.row_json import NAME, ROWS, RowRejected, WorkflowFailed
from backend.requests.models import RequestRow
from backend.server import sweep
from tests.conftest import World
from tests.support.crash import unqueued
from tests.support.firm import SEPOLIA, Firm

ENQUEUE = sa.text(
    "insert into dbos.workflow_status (workflow_uuid, status, name, queue_name, queue_partition_key, inputs,"
    " serialization, application_version, created_at, updated_at, priority)"
    " values (:id, 'ENQUEUED', 'webhook.deliver', :queue, :id, :inputs, :how, :version, 0, 0, 0)"
)
INPUTS = sa.text(
    "insert into dbos.workflow_input (workflow_uuid, inputs, retention_timestamp) values (:id, :inputs, 0)"
)


class Command:
    """Runs a command when it is unpickled, as a forged row would."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[Any, ...]:
        return os.system, (f"touch {self.mark}",)


def pickled(mark: Path) -> str:
    return base64.b64encode(pickle.dumps({"args": (Command(mark),), "kwargs": {}})).decode()


async def written(row: dict[str, Any]) -> None:
    """A row of the engine, written with the rights of an ordinary request."""
    async with db.transaction() as session:
        await session.execute(ENQUEUE, row)
        await session.execute(INPUTS, {"id": row["id"], "inputs": row["inputs"]})


async def ended(run_id: str) -> str:
    async with asyncio.timeout(30):
        while True:
            state = await DBOS.get_workflow_status_async(run_id)
            assert state is not None
            if state.status not in ("ENQUEUED", "PENDING"):
                return str(state.status)
            await asyncio.sleep(0.05)


@pytest.mark.parametrize("how", ["py_pickle", None, "unheard_of"])
async def test_pickled_row_is_rejected_and_logged(api: Any, tmp_path: Path, how: str | None) -> None:
    mark, run_id = tmp_path / "ran", str(uuid4())
    row = {"id": run_id, "queue": queues.WEBHOOKS, "inputs": pickled(mark), "how": how, "version": engine.VERSION}
    with capture_logs() as logged:
        await written(row)
        assert await ended(run_id) == "ERROR"
    listed = await DBOS.list_workflows_async(workflow_ids=[run_id])
    assert [found.status for found in listed] == ["ERROR"]
    assert not mark.exists(), "a forged row ran a command"
    assert [line["event"] for line in logged if line.get("workflow") == run_id] == ["workflow_row.rejected"]


@pytest.mark.parametrize(
    "inputs", ["", "{", "null", "[]", '{"args": "x", "kwargs": {}}', '{"args": [{"$error": "x"}], "kwargs": {}}']
)
async def test_row_with_malformed_arguments_is_rejected(api: Any, inputs: str) -> None:
    run_id = str(uuid4())
    row = {"id": run_id, "queue": queues.WEBHOOKS, "inputs": inputs, "how": NAME, "version": engine.VERSION}
    await written(row)
    assert await ended(run_id) == "ERROR"


async def test_pickles_in_results_steps_and_events_are_not_read(api: Any, tmp_path: Path) -> None:
    mark, run_id = tmp_path / "ran", str(uuid4())
    body = {"id": run_id, "pickle": pickled(mark)}
    async with db.transaction() as session:
        for statement in (
            "insert into dbos.workflow_status (workflow_uuid, status, name, inputs, output, error, serialization,"
            " created_at, updated_at, priority)"
            " values (:id, 'SUCCESS', 'webhook.deliver', :pickle, :pickle, :pickle, 'py_pickle', 0, 0, 0)",
            "insert into dbos.operation_outputs (workflow_uuid, function_id, function_name, output, error,"
            " serialization, retention_timestamp) values (:id, 1, 'step', :pickle, :pickle, 'py_pickle', 0)",
            "insert into dbos.workflow_events (workflow_uuid, key, value, serialization)"
            " values (:id, 'event', :pickle, 'py_pickle')",
        ):
            await session.execute(sa.text(statement), body)
    listed = (await DBOS.list_workflows_async(workflow_ids=[run_id]))[0]
    assert isinstance(listed.output, str | None)
    await DBOS.list_workflow_steps_async(run_id)
    handle: Any = await DBOS.retrieve_workflow_async(run_id)
    with pytest.raises(RowRejected):
        await handle.get_result()
    with pytest.raises(RowRejected):
        await DBOS.get_event_async(run_id, "event", timeout_seconds=1)
    assert not mark.exists()


@pytest.mark.long
async def test_request_whose_row_is_rejected_fails_and_can_be_retried(world: World, tmp_path: Path) -> None:
    """A row of an earlier version, or an altered one, fails its own request and nothing else."""
    firm = await Firm.found(world)
    await firm.enable(SEPOLIA)
    await firm.post("/wallets", {"label": "Treasury"})
    with unqueued():
        await firm.post("/issuer/register", {}, headers=firm.key)
    request_id = (await firm.get("/issuer"))["request_id"]
    row = {"id": f"{request_id}:1", "queue": queues.QUEUE, "how": "py_pickle", "version": engine.VERSION}
    await written(row | {"inputs": pickled(tmp_path / "ran")})
    assert await ended(f"{request_id}:1") == "ERROR"
    async with db.worker() as session:
        old = sa.update(RequestRow).where(col(RequestRow.id) == UUID(request_id))
        await session.execute(old.values(updated_at=db.now() - timedelta(hours=1)))
    await sweep.once()
    assert (await firm.get(f"/requests/{request_id}"))["status"] == "failed"
    await firm.post(f"/requests/{request_id}/retry")
    assert (await firm.settle(request_id, 2))["status"] == "succeeded"
    async with db.worker() as session:
        kinds = await session.scalars(
            sa.text("select distinct serialization from dbos.workflow_status where workflow_uuid = :id"),
            {"id": f"{request_id}:2"},
        )
    assert list(kinds) == [NAME]


def test_engine_unpickles_only_in_its_serialization_module() -> None:
    """Detects a later version of the engine that unpickles elsewhere."""
    folder = Path(dbos.__file__).parent
    users = [
        path.name
        for path in folder.rglob("*.py")
        if re.search(r"^\s*(import|from) (pickle|dill|marshal|shelve)", path.read_text(), re.M)
    ]
    assert users == ["_serialization.py"]
    text = (folder / "_serialization.py").read_text()
    assert re.findall(r"pickle\.\w+\(", text) == ["pickle.dumps(", "pickle.loads("]
    assert "def deserialize(cls, serialized_data: str) -> Any:\n        pickled_data" in text


ERRORS = [
    Conflict("The asset is frozen."),
    BadRequest("Too small.", pointer="/amount"),
    Invalid([{"pointer": "/name", "detail": "missing"}]),
    InsufficientScope("assets:write"),
    PrerequisitesNotMet([{"state": "deployed", "satisfied": False}]),
    TooManyRequests(7),
    RpcError("no such account", 3, "0x", 40161),
    Reverted(
        "Refused.", name="TransferRestricted", arguments={"code": 2**255, "data": b"\x01"}, code=9, resolution="Ask."
    ),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_problem_round_trips_through_json(error: SignumError) -> None:
    again = ROWS.deserialize(ROWS.serialize(error))
    assert type(again) is type(error)
    assert vars(again) == vars(error)
    assert str(again) == str(error)
    assert problem(again, "http://localhost/v1") == problem(error, "http://localhost/v1")


def test_other_errors_keep_only_name_and_message() -> None:
    again = ROWS.deserialize(ROWS.serialize(LookupError("nothing there")))
    assert isinstance(again, WorkflowFailed)
    assert str(again) == "LookupError: nothing there"
    named = ROWS.deserialize('{"$error": "os.system", "state": {}, "arguments": ["id"]}')
    assert isinstance(named, WorkflowFailed), "a row can only name Signum's own problem classes"
