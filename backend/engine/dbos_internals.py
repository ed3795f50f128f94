"""All uses of private names of DBOS, each with its reason.

They may change in any release. pyproject.toml pins `VERSION`, for which they were read, and a test fails where the
installed version or one of the names differs.
"""

import asyncio
import functools
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

import sqlalchemy as sa
from dbos import DBOS, DBOSClient, _core, _queue, _workflow_commands
from dbos._context import get_local_dbos_context
from dbos._dbos import _get_dbos_instance
from dbos._error import DBOSWorkflowConflictIDError
from dbos._serialization import DefaultSerializer
from dbos._sys_db import SystemDatabase
from dbos._utils import INTERNAL_QUEUE_NAME, GlobalParams

from backend.core.runtime import runtime

VERSION = "3.4.0"
OWN_QUEUE = INTERNAL_QUEUE_NAME
"""The engine's own queue, of workflows that were enqueued without one."""
_QUEUES: Any = _queue
"""The module whose functions are replaced, which types do not allow."""
_execute: Callable[[Any, Any, str], Any] = _core.execute_dequeued_workflow
_serve_queue: Callable[[Any, Any, Any], None] = _queue.queue_worker_thread
_DATABASE: Any = SystemDatabase
"""The class whose methods are replaced."""
_RUNNING: Any = _core.ActiveWorkflowById
"""The class of the executions that run in this process, whose method is replaced."""
_remove: Callable[[Any, str, tuple[str, str | None] | None], None] = _core.ActiveWorkflowById._remove
_owned: Callable[[Any, Any], sa.ColumnElement[bool]] = SystemDatabase._name_filter
_read_queue: Callable[..., Any] = SystemDatabase.get_queue
_read_queues: Callable[..., Any] = SystemDatabase.list_queues
_COMMANDS: Any = _workflow_commands
Taken = DBOSWorkflowConflictIDError
"""Ends an execution whose workflow another one has taken over. It derives from BaseException, so nothing catches it."""
Choose = Callable[[str, Sequence[str], Mapping[str, int]], dict[str, int] | None]


class _Claim(threading.local):
    """Which rows the statements of this thread's claim can take."""

    names: tuple[str, ...] | None = None
    """Names of workflows; None outside a claim."""
    skips: int = 0
    """Conditions that still come without the names."""


class _Served(threading.local):
    """The queue that this thread serves, as it was last read; None elsewhere."""

    queue: Any = None
    read_at: float = 0.0


# Of threads, not of the process's parts: each serves one queue.
_CLAIM = _Claim()
_SERVED = _Served()
QUEUE_KEPT = 30.0
"""Seconds after which a queue's thread reads its configuration again, which another process may have changed."""


def _claiming(method: Callable[..., Any], skips: int = 0) -> Callable[..., Any]:
    """Let a method of the engine's database see and take only the workflows that are registered in this process."""

    @functools.wraps(method)
    def claim(*arguments: Any, **options: Any) -> Any:
        if "is_latest_version" in options:
            options["is_latest_version"] = True  # there is only one (`engine.VERSION`), so it need not be read
        _CLAIM.names, _CLAIM.skips = tuple(_get_dbos_instance()._registry.workflow_info_map), skips
        try:
            return method(*arguments, **options)
        finally:
            _CLAIM.names = None

    return claim


def _owned_and_known(column: Any, application: Any) -> sa.ColumnElement[bool]:
    owned = _owned(column, application)
    if _CLAIM.names is None or column.table.name != "workflow_status":
        return owned
    if _CLAIM.skips > 0:
        _CLAIM.skips -= 1
        return owned
    return sa.and_(owned, column.table.c.name.in_(_CLAIM.names))


_PARTITIONS_OF: Callable[[Any, str], list[str]] = _claiming(SystemDatabase.get_queue_partitions)
_START_QUEUED: Callable[..., Any] = _claiming(SystemDatabase.start_queued_workflows)
# Its first condition finds the first row of each partition: an unknown one there must block the later ones.
_START_FIRSTS = _claiming(SystemDatabase.start_queued_partitioned_workflows, skips=1)


def claim_known() -> None:
    """Let this process take only workflows that are registered in it; the others stay in their queue for newer
    processes.

    DBOS would take them and keep them as running. `choose_partitions` calls the other methods.
    """
    _DATABASE._name_filter = staticmethod(_owned_and_known)
    _DATABASE.start_queued_partitioned_workflows = _START_FIRSTS


class Stop(Protocol):
    """A stop event of a queue's thread."""

    def is_set(self) -> bool:
        """Return whether the thread ends."""

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for the end, or for the next poll."""


def replace_pickle(write: Callable[[Any, Any], str], read: Callable[[Any, str], Any]) -> None:
    """Replace the functions that pickle and unpickle.

    A row's mark selects its serializer, also where another one is configured.
    """
    serializer: Any = DefaultSerializer  # its methods are replaced, which types do not allow
    serializer.serialize, serializer.deserialize = write, read


def check_rows(fault: Callable[[Mapping[str, Any]], Exception | None]) -> None:
    """Check each row before its workflow runs; one with a fault ends with this error.

    DBOS has no hook before it reads a row, and would keep a row with an unknown mark as running.
    """

    def execute_checked(dbos: Any, status: Any, owner_xid: str) -> Any:
        error = fault(status)
        if error is None:
            return _execute(dbos, status, owner_xid)
        text = dbos._serializer.serialize(error)
        dbos._sys_db.update_workflow_outcome(status["workflow_uuid"], "ERROR", error=text, owner_xid=owner_xid)
        raise error

    _QUEUES.execute_dequeued_workflow = execute_checked


def replace_stops(stop_of: Callable[[threading.Event, str], Stop]) -> None:
    """Give the thread of each queue, by its name, another stop event, on which it waits between polls.

    DBOS can poll more often, but cannot be notified of new work.
    """

    def serve(stop: threading.Event, dbos: Any, queue: Any) -> None:
        _SERVED.queue = queue
        _serve_queue(stop_of(stop, queue.name), dbos, queue)

    _QUEUES.queue_worker_thread, _DATABASE.get_queue, _DATABASE.list_queues = serve, _kept_queue, _kept_queues


def rest_for(seconds: float) -> None:
    """Look this rarely for workflows whose delay is over or whose time is up. DBOS does so each second, in three
    transactions, and has no setting for it. Call before the engine is launched."""
    _COMMANDS._BACKGROUND_JOBS_INTERVAL_SEC = seconds


@dataclass
class Registrations:
    """When this process last registered a queue and read the list of them, by `time.monotonic`."""

    at: float = field(default_factory=time.monotonic)
    listed: tuple[Any, Any] | None = None
    """A database and its queues."""
    listed_at: float = 0.0


def note_registration() -> None:
    """Let the threads of the queues read their configurations again."""
    runtime.part(Registrations).at = time.monotonic()


def _kept_queue(database: Any, name: str, **options: Any) -> Any:
    """Return a queue's configuration. DBOS reads it before each poll; here its thread keeps it for a while."""
    served, registered_at, now = _SERVED, runtime.part(Registrations).at, time.monotonic()
    if served.queue is None or served.queue.name != name:
        return _read_queue(database, name, **options)
    if now - served.read_at >= QUEUE_KEPT or served.read_at <= registered_at:
        served.queue, served.read_at = _read_queue(database, name, **options), now
    return served.queue


def _kept_queues(database: Any, **options: Any) -> Any:
    """Return all queues. DBOS reads them each second, to start the threads of new ones."""
    known, now = runtime.part(Registrations), time.monotonic()
    is_new = known.listed_at > known.at and now - known.listed_at < QUEUE_KEPT
    if known.listed is None or known.listed[0] is not database or not is_new:
        known.listed, known.listed_at = (database, _read_queues(database, **options)), now
    return known.listed[1]


def note_ends(ended: Callable[[str], None]) -> None:
    """Call a function with the name of a queue, when a run of it has ended and the engine has recorded its result.

    DBOS has no hook at this moment, from which on the next run of a partition can start.
    """

    def remove(running: Any, workflow: str, bucket: tuple[str, str | None] | None) -> None:
        _remove(running, workflow, bucket)
        if bucket is not None:
            ended(bucket[0])

    _RUNNING._remove = remove


def execution() -> tuple[str, str | None]:
    """Return the current workflow's id and the token of its execution, which a takeover replaces; None outside one."""
    context = get_local_dbos_context()
    if context is None or not context.is_workflow():
        return "", None
    return context.workflow_id, context.owner_xid


def executor() -> str:
    """Return the name of this process's executor."""
    return str(GlobalParams.executor_id)


def loop() -> asyncio.AbstractEventLoop | None:
    """Return the event loop of the workflows; None before it is started."""
    return _get_dbos_instance()._background_event_loop._loop


@dataclass
class Chosen:
    """The partitions that may start workflows in the current poll of each queue, and how many."""

    of_queue: dict[str, dict[str, int]] = field(default_factory=dict)


def choose_partitions(choose: Choose) -> None:
    """Let a function choose the partitions of a queue that start workflows in a poll, and how many each.

    It gets the queue, its partitions with work and the running workflows of each in this process; None leaves the
    choice to DBOS, which draws partitions at random.
    """

    def partitions_of(database: Any, queue: str) -> list[str]:
        waiting = _PARTITIONS_OF(database, queue)
        chosen = choose(queue, waiting, _running(database, queue)) if waiting else None
        if chosen is None:
            return waiting
        runtime.part(Chosen).of_queue[queue] = chosen
        return list(chosen)

    _DATABASE.get_queue_partitions, _DATABASE.start_queued_workflows = partitions_of, _start_chosen


def _start_chosen(
    database: Any, queue: Any, executor: str, version: str, key: str | None, load: int = 0, own: int = 0, **options: Any
) -> Any:
    """Start at most the chosen number: DBOS starts what a partition's limit leaves above its running workflows."""
    chosen = runtime.part(Chosen).of_queue.get(queue.name)
    if chosen is not None and key is not None:
        own = max(own, queue._partition_worker_concurrency - chosen.get(key, 0))
    return _START_QUEUED(database, queue, executor, version, key, load, own, **options)


def _running(database: Any, queue: str) -> dict[str, int]:
    """Return this process's running workflows of a queue by partition. Rows count from their claim on, which the
    engine's own count does not promise."""
    table = database.tables.workflow_status
    query = sa.select(table.c.queue_partition_key, sa.func.count()).group_by(table.c.queue_partition_key)
    mine = query.where(
        table.c.queue_name == queue, table.c.status == "PENDING", table.c.executor_id == GlobalParams.executor_id
    )
    with database.engine.begin() as connection:
        return {str(key): int(count) for key, count in connection.execute(mine)}


def requeue(executors: Sequence[str]) -> None:
    """Put the running workflows of dead executors back into their queues.

    Publicly, DBOS does this only for the own executor at its start.
    """
    DBOS._recover_pending_workflows(list(executors))


def pending() -> list[tuple[str, str, str]]:
    """Return the running workflows of all processes, each with the token of its claim and its executor. DBOS's own list
    has every column, in a transaction of four statements."""
    engine = _get_dbos_instance()
    table = engine._sys_db.tables.workflow_status
    query = sa.select(table.c.workflow_uuid, table.c.owner_xid, table.c.executor_id).where(
        table.c.status == "PENDING", table.c.executor_id.is_not(None)
    )
    with engine._sys_db.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        return [(str(uuid), str(token), str(executor)) for uuid, token, executor in connection.execute(query)]


def unexecuted() -> set[tuple[str, str]]:
    """Return the workflows that this process runs by the database and not by its own list, each with its token."""
    claims = {(uuid, token) for uuid, token, executor in pending() if executor == GlobalParams.executor_id}
    running = set(_get_dbos_instance()._active_workflows_set.activeList())
    return {claim for claim in claims if claim[0] not in running}


def requeue_own(workflows: Sequence[str]) -> None:
    """Put workflows back into their queues, unless another process has taken them over."""
    for workflow in workflows:
        _get_dbos_instance()._sys_db.reenqueue_for_recovery(workflow, [GlobalParams.executor_id], OWN_QUEUE)


@contextmanager
def listening(queues: Sequence[str]) -> Iterator[None]:
    """Serve only some queues inside. For tests: DBOS takes the queues before its start only."""
    engine = _get_dbos_instance()
    before, engine._listening_queues = engine._listening_queues, list(queues)
    try:
        yield
    finally:
        engine._listening_queues = before


def databases(client: DBOSClient) -> list[sa.Engine]:
    """Return the connections of DBOS and of a client. For tests of their role."""
    return [_get_dbos_instance()._sys_db.engine, client._sys_db.engine]
