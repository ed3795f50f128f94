"""DBOS's private names are used in one module, and are what that module expects."""

import inspect
import re
import tomllib
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace

import pytest
from dbos import DBOS, DBOSClient, _core, _dbos, _queue, _serialization, _sys_db, _workflow_commands

from backend.engine import dbos_internals

ROOT = Path(__file__).resolve().parents[2]
PRIVATE = re.compile(r"from dbos import [^\n]*\b_|(from|import) dbos\._|DBOS\._|_sys_db\b|_get_dbos_instance")


def parameters(function: object) -> list[str]:
    return list(inspect.signature(function).parameters)  # type: ignore[arg-type]


def test_private_names_are_used_in_one_module() -> None:
    users = {
        path.relative_to(ROOT).as_posix()
        for folder in ("backend", "state", "tests")
        for path in (ROOT / folder).rglob("*.py")
        if PRIVATE.search(path.read_text())
    }
    assert users == {"backend/engine/dbos_internals.py", "tests/engine/test_dbos_internals.py"}


def test_version_is_the_one_that_was_read() -> None:
    dependencies = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    assert f"dbos=={dbos_internals.VERSION}" in dependencies
    assert version("dbos") == dbos_internals.VERSION


def test_private_functions_take_the_expected_arguments() -> None:
    assert parameters(_core.execute_dequeued_workflow) == ["dbos", "status", "owner_xid"]
    assert parameters(dbos_internals._serve_queue) == ["stop_event", "dbos", "queue"]
    assert parameters(_sys_db.SystemDatabase.update_workflow_outcome) == [
        "self", "workflow_id", "status", "output", "error", "owner_xid"
    ]  # fmt: skip
    assert parameters(dbos_internals._PARTITIONS_OF) == ["self", "queue_name"]
    assert parameters(dbos_internals._START_QUEUED)[:7] == [
        "self", "queue", "executor_id", "app_version", "queue_partition_key", "local_running_count",
        "partition_local_running_count",
    ]  # fmt: skip
    assert parameters(dbos_internals._owned) == ["col", "value"]
    assert parameters(dbos_internals._read_queue)[:2] == ["self", "name"]
    assert parameters(dbos_internals._read_queues)[0] == "self"
    for method in (dbos_internals._START_FIRSTS, dbos_internals._START_QUEUED):
        assert "is_latest_version" in parameters(method)
    assert parameters(dbos_internals._START_FIRSTS)[:4] == ["self", "queue", "executor_id", "app_version"]
    assert parameters(dbos_internals._remove) == ["self", "key", "bucket"]
    assert parameters(_serialization.DefaultSerializer.deserialize)[1:] == ["serialized_data"]
    assert parameters(DBOS._recover_pending_workflows) == ["executor_ids"]
    assert parameters(_sys_db.SystemDatabase.reenqueue_for_recovery) == [
        "self", "workflow_id", "executor_ids", "recovery_queue_name"
    ]  # fmt: skip
    assert parameters(_core.ActiveWorkflowById.activeList) == ["self"]
    assert parameters(_dbos._get_dbos_instance) == []


def test_queues_threads_look_up_what_is_replaced() -> None:
    """The module's own names are replaced, so its functions must use them by name."""
    assert "execute_dequeued_workflow(dbos, status, owner_xid)" in inspect.getsource(dbos_internals._serve_queue)
    for method in ("get_queue_partitions", "start_queued_workflows"):
        assert f"dbos._sys_db.{method}(" in inspect.getsource(dbos_internals._serve_queue)
    assert "dbos._sys_db.list_queues(" in inspect.getsource(_queue.queue_thread)
    assert "        _BACKGROUND_JOBS_INTERVAL_SEC,\n" in inspect.getsource(_workflow_commands.background_jobs_thread)
    assert "dbos._sys_db.get_queue(queue.name)" in inspect.getsource(dbos_internals._serve_queue)
    assert "is_latest_version=is_latest_version" in inspect.getsource(dbos_internals._serve_queue)
    assert "queue._partition_worker_concurrency" in inspect.getsource(dbos_internals._START_QUEUED)
    assert "self._active._remove(" in inspect.getsource(_core.ActiveWorkflowEntry)
    assert "target=queue_worker_thread" in inspect.getsource(_queue.queue_thread)
    assert "dbos._listening_queues" in inspect.getsource(_queue.queue_thread)
    for attribute in ("_listening_queues", "_sys_db_field", "_serializer"):
        assert f"self.{attribute}" in inspect.getsource(_dbos.DBOS)
    assert "self._sys_db" in inspect.getsource(DBOSClient)


def test_thread_keeps_the_configuration_of_its_queue_until_one_is_registered(monkeypatch: pytest.MonkeyPatch) -> None:
    read = []

    def read_queue(database: object, name: str) -> SimpleNamespace:
        read.append(name)
        return SimpleNamespace(name=name)

    def serve() -> None:
        dbos_internals._SERVED.queue = SimpleNamespace(name="chain")
        for name in ("chain", "chain", "other", "chain"):
            assert dbos_internals._kept_queue(None, name).name == name
        dbos_internals.note_registration()
        dbos_internals._kept_queue(None, "chain")

    monkeypatch.setattr(dbos_internals, "_read_queue", read_queue)
    with ThreadPoolExecutor(1) as thread:
        thread.submit(serve).result()
    assert read == ["chain", "other", "chain"]


def test_claims_ask_for_the_owner_where_unknown_workflows_are_skipped() -> None:
    """The statement that finds the first row of each partition asks first, then the one that takes it."""
    for method, times in (("_PARTITIONS_OF", 1), ("_START_QUEUED", 3), ("_START_FIRSTS", 2)):
        source = inspect.getsource(getattr(dbos_internals, method))
        assert source.count("self._name_filter(") == times, method
    enqueued, taken = inspect.getsource(dbos_internals._START_FIRSTS).split("claim_guard = sa.and_(")
    assert "self._name_filter(ws.c.application_name, self.app_name)" in enqueued
    assert "self._name_filter(ws.c.application_name, self.app_name)" in taken
