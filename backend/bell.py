"""Wakes the engine's queues when something was enqueued in this process, so that they need not ask the database all the
time: a look every 50 ms, which is what it takes without, is a twentieth of a core for nothing.

The engine has no word for this. Its queues' threads wait for their stop event with a timeout; they get one here whose
wait a ring ends too. Where a later version begins its threads otherwise, they wait for the timeout, and a test says so.
"""

import threading
from collections.abc import Callable
from typing import Any

import sqlalchemy as sa
from dbos import _queue as engine
from sqlalchemy.ext.asyncio import AsyncSession

_rung = threading.Condition()
_rings = 0
_HEARD = "bell"


def ring() -> None:
    """Have every queue of this process look now."""
    global _rings
    with _rung:
        _rings += 1
        _rung.notify_all()


def ring_after_commit(session: AsyncSession) -> None:
    """Ring when what the session has enqueued can be seen."""
    if _HEARD not in session.info:
        session.info[_HEARD] = True
        sa.event.listen(session.sync_session, "after_commit", lambda _: ring())


class _Stop:
    """A queue's stop event, whose wait ends with a ring too. One that came during the last look counts."""

    def __init__(self, stop: threading.Event) -> None:
        self._stop = stop
        self._heard = _rings

    def is_set(self) -> bool:
        return self._stop.is_set()

    def wait(self, timeout: float | None = None) -> bool:
        with _rung:
            _rung.wait_for(lambda: _rings != self._heard, timeout)
            self._heard = _rings
        return self._stop.is_set()


def hang(names: frozenset[str]) -> None:
    """Have the queues of these names hear it. Before the engine is launched; again changes nothing."""
    begin: Callable[..., None] = getattr(engine.queue_worker_thread, "plain", engine.queue_worker_thread)

    def begin_hearing(stop: threading.Event, dbos: Any, queue: Any) -> None:
        begin(_Stop(stop) if queue.name in names else stop, dbos, queue)

    begin_hearing.plain = begin  # type: ignore[attr-defined]
    engine.queue_worker_thread = begin_hearing  # type: ignore[assignment]
