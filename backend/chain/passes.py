"""Passes of the indexer, shared: in a process, one at a time is made over a chain, and everybody who comes while one is
made shares the next. A hundred workflows that wait cost a few passes, not a hundred."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from contextvars import Context
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from backend.chain.rpc import Rpc

Pass = Callable[[Rpc], Awaitable[int]]


@dataclass
class _Line:
    """Of one chain: the pass that begins next, and the lock that the one being made holds."""

    next: "asyncio.Task[int] | None" = None
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


_lines: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[int, _Line]] = WeakKeyDictionary()
"""By event loop and chain."""


async def shared(chain: Rpc, make: Pass) -> int:
    """Return the block that a pass has come to which began after this was asked: contracts that the caller has just
    written into the tables are in it. What the pass raises is raised for all who share it."""
    line = _line(chain.eid)
    if line.next is None:
        # In a context of its own: it belongs to none of those who wait, and outlives the one who asked first.
        line.next = asyncio.create_task(_after(line, chain, make), context=Context())
        line.next.add_done_callback(_retrieve)
    return await asyncio.shield(line.next)


async def _after(line: _Line, chain: Rpc, make: Pass) -> int:
    async with line.lock:
        line.next = None
        return await make(chain)


@asynccontextmanager
async def paused(eid: int) -> AsyncIterator[None]:
    """Inside, no pass over a chain is made in this event loop."""
    async with _line(eid).lock:
        yield


def _line(eid: int) -> _Line:
    return _lines.setdefault(asyncio.get_running_loop(), {}).setdefault(eid, _Line())


def _retrieve(task: "asyncio.Task[int]") -> None:
    """Those who waited may be gone; what the pass raised was for them."""
    if not task.cancelled():
        task.exception()
