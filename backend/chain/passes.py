"""Passes of the indexer for those who wait for one: one at a time over a chain, and whoever comes while one is made
shares the next with everybody else who does. A hundred workflows that wait cost a few passes, not a hundred."""

import asyncio
from collections.abc import Awaitable, Callable
from contextvars import Context
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from backend.chain import rpc
from backend.chain.rpc import Rpc

Pass = Callable[[Rpc], Awaitable[int]]


@dataclass
class _Line:
    """Of one chain: the pass that is made, or was the last, and the one that begins after it."""

    made: "asyncio.Task[int] | None" = None
    next: "asyncio.Task[int] | None" = None


_lines: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[tuple[int, float], _Line]] = WeakKeyDictionary()
"""By event loop, and by chain and the patience of those who wait."""


async def shared(chain: Rpc, make: Pass) -> int:
    """The block that a pass has come to which began after this was asked: contracts that the caller has just written
    into the tables are in it. What the pass raises is raised for all who share it."""
    seconds = rpc.patience_here()
    line = _lines.setdefault(asyncio.get_running_loop(), {}).setdefault((chain.eid, seconds), _Line())
    if line.next is None:
        # In a context of its own: it is nobody's, and outlives whoever has asked first.
        line.next = asyncio.create_task(_after(line, chain, make, seconds), context=Context())
        line.next.add_done_callback(_heard)
    return await asyncio.shield(line.next)


async def _after(line: _Line, chain: Rpc, make: Pass, seconds: float) -> int:
    if line.made is not None:
        await asyncio.wait({line.made})
    line.made, line.next = line.next, None
    with rpc.patience(seconds):
        return await make(chain)


def _heard(task: "asyncio.Task[int]") -> None:
    """Whoever waited may be gone; what it raised was for them."""
    if not task.cancelled():
        task.exception()
