"""The durable engine (DBOS): its start and end, and how a transaction that writes rows enqueues their workflow."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from dbos import DBOS, DBOSClient, DBOSConfig
from sqlalchemy.ext.asyncio import AsyncSession

from backend.core import logins
from backend.core.runtime import runtime
from backend.engine import busy_database, dbos_internals, queue_wakeup, versions
from backend.engine.queues import share_slots
from backend.engine.row_json import ROWS
from backend.engine.workflow_rows import refuse_pickles

VERSION = "1"
"""Fixed, so that after an upgrade the new code recovers the old version's workflows. Workflows have their own versions
(see `versions`), and a process takes only those that it knows."""

REST = 4.0
"""Seconds by which delayed work may begin late."""


@dataclass
class Engine:
    """The running engine of this process."""

    client: DBOSClient | None = None
    """Enqueues; None unless the engine runs."""


def start(url: str, executor: str, queues: Sequence[str]) -> None:
    """Launch the engine in the running loop, for the work in some queues.

    `url` is the owner's; the engine runs as signum_app. `executor` names this process (see `backend.engine.executors`).
    """
    app_url = logins.role_url(url, logins.WEB)
    config: DBOSConfig = {
        "name": "signum",
        "system_database_url": app_url,
        "run_migrations": False,
        "application_version": VERSION,
        "executor_id": executor,
        "log_level": "WARNING",
        "sys_db_pool_size": 5,
        # without a ping before each use: the engine repeats what a lost connection interrupted
        "db_engine_kwargs": {"hide_parameters": True, "pool_pre_ping": False},
        "serializer": ROWS,
        # of streams and events, which Signum does not use: the default polls 100 times a second
        "notification_coalesce_sec": 1.0,
    }
    refuse_pickles()
    DBOS(config=config)
    DBOS.listen_queues(queues)
    busy_database.install()
    share_slots()
    dbos_internals.claim_known()
    dbos_internals.rest_for(REST)
    queue_wakeup.install(frozenset({*queues, dbos_internals.OWN_QUEUE}))
    DBOS.launch()
    runtime.part(Engine).client = DBOSClient(system_database_url=app_url, serializer=ROWS)


def stop(drain: int = 0) -> None:
    """Start nothing new, wait some seconds for running work, and stop.

    Remaining work continues in other processes, or after the next start.
    """
    queue_wakeup.end()
    DBOS.destroy(workflow_completion_timeout_sec=drain)
    running = runtime.part(Engine)
    if running.client is not None:
        running.client.destroy()
    running.client = None


async def submit(
    session: AsyncSession,
    name: str,
    run_id: str,
    *arguments: str,
    queue: str,
    of: str,
    delay: timedelta = timedelta(0),
) -> None:
    """Enqueue any workflow in the caller's transaction, to start after a delay.

    The same `run_id` has no effect a second time; `of` is the partition of the queue.
    """
    client = runtime.part(Engine).client
    if client is None:
        raise RuntimeError("the workflow engine is not running")
    options: Any = {
        "workflow_name": versions.current(name),
        "queue_name": queue,
        "workflow_id": run_id,
        "queue_partition_key": of,
        "app_version": VERSION,
    }
    if delay > timedelta(0):
        options["delay_seconds"] = delay.total_seconds()
    connection = await session.connection()
    await connection.run_sync(lambda c: client.enqueue_in_transaction(c, options, *arguments))
    await queue_wakeup.wake_after_commit(session, queue)


def is_running() -> bool:
    """Return whether workflows can be enqueued; False in commands that only write rows."""
    return runtime.part(Engine).client is not None
