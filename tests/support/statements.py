"""What this process sends to PostgreSQL: statements and commits, also those of the engine's queues and runs."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from backend.core.connections import engines

RUNS = ("queue-worker", "dbos-executor")
"""Threads of the workflow engine that start and end runs; its others work at fixed times."""


@dataclass
class Sent:
    """Statements, the beginnings of transactions included, and commits."""

    statements: int = 0
    commits: int = 0


@contextmanager
def counted() -> Iterator[Sent]:
    """Count what is sent inside, through any engine."""
    sent = Sent()

    def execute(connection: sa.Connection, *_: Any) -> None:
        sent.statements += _is_counted(connection)

    def begin(connection: sa.Connection) -> None:
        text = connection.get_execution_options().get(engines.BEGIN_WITH, engines.BEGIN)
        sent.statements += bool(text) and _is_counted(connection)

    def commit(connection: sa.Connection) -> None:
        sent.commits += _is_counted(connection)

    heard = {"before_cursor_execute": execute, "begin": begin, "commit": commit}
    for name, listener in heard.items():
        sa.event.listen(sa.Engine, name, listener)
    try:
        yield sent
    finally:
        for name, listener in heard.items():
            sa.event.remove(sa.Engine, name, listener)


def _is_counted(connection: sa.Connection) -> bool:
    return connection.dialect.is_async or threading.current_thread().name.startswith(RUNS)
