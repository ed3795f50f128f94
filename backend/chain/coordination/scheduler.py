"""Shared passes of the indexer: a process makes one at a time over a chain, and all callers that arrive during one
share the next. A hundred waiting workflows cost a few passes."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import Context
from dataclasses import dataclass, field

from backend.chain.rpc.json_rpc import Rpc
from backend.core.runtime import runtime

Pass = Callable[[Rpc], Awaitable[int]]


@dataclass
class _Line:
    """The next pass of a chain, the latest one that has begun, and the lock held by the current one."""

    next: "asyncio.Task[int] | None" = None
    latest: "asyncio.Task[int] | None" = None
    began: float = 0.0
    """When the latest pass began, by `time.monotonic`."""
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


@dataclass
class Lines:
    """An event loop's passes, by chain."""

    by_chain: dict[int, _Line] = field(default_factory=dict)


@dataclass
class Wakes:
    """The events that wake this process's indexer, and their event loops, by chain."""

    by_chain: dict[int, tuple[asyncio.AbstractEventLoop, asyncio.Event]] = field(default_factory=dict)


async def shared(chain: Rpc, make: Pass, since: float | None = None) -> int:
    """Return the block reached by a pass that started after this call: it includes contracts that the caller has just
    written into the tables. An error of the pass is raised for all callers that share it.

    `since` is an earlier moment, by `time.monotonic`: a pass that started after it counts too, unless it failed.
    """
    line = _line(chain.eid)
    if since is not None and line.latest is not None and line.began >= since and not _has_failed(line.latest):
        return await asyncio.shield(line.latest)
    if line.next is None:
        # In its own context: it belongs to none of the waiting callers, and outlives the first one.
        line.next = asyncio.create_task(_after(line, chain, make), context=Context())
        line.next.add_done_callback(_retrieve)
    return await asyncio.shield(line.next)


async def _after(line: _Line, chain: Rpc, make: Pass) -> int:
    async with line.lock:
        line.latest, line.next, line.began = line.next, None, time.monotonic()
        return await make(chain)


def _has_failed(made: "asyncio.Task[int]") -> bool:
    return made.done() and (made.cancelled() or made.exception() is not None)


@asynccontextmanager
async def paused(eid: int) -> AsyncIterator[None]:
    """Make no pass over a chain in this event loop while inside."""
    async with _line(eid).lock:
        yield


def _line(eid: int) -> _Line:
    return runtime.loop_part(Lines).by_chain.setdefault(eid, _Line())


def _retrieve(task: "asyncio.Task[int]") -> None:
    """Retrieve the pass's error, because the waiting callers may be gone."""
    if not task.cancelled():
        task.exception()


@contextmanager
def woken_by(eid: int) -> Iterator[asyncio.Event]:
    """Return an event that `wake` sets while inside."""
    event, wakes = asyncio.Event(), runtime.part(Wakes).by_chain
    wakes[eid] = asyncio.get_running_loop(), event
    try:
        yield event
    finally:
        wakes.pop(eid, None)


def wake(eid: int) -> None:
    """Wake the indexer for a chain, from any thread; does nothing without an indexer in this process."""
    wakes = runtime.part(Wakes).by_chain
    if eid in wakes:
        loop, event = wakes[eid]
        loop.call_soon_threadsafe(event.set)
