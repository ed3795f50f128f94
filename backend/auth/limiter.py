"""Counts in moving windows: in memory, or in Redis where several processes count together.

Redis counts by a Lua script, so a hit is one atomic step. While Redis does not answer, each process counts for itself:
a limit is then per process, which lets somebody do more than they should, but neither everything nor nothing. The log
says so once and `GET /v1/ready` as long as it lasts.
"""

import math
import time
from collections.abc import Awaitable, Callable
from typing import NamedTuple, TypeVar

import structlog
from limits import RateLimitItem
from limits.aio.storage import MemoryStorage, RedisStorage
from limits.aio.strategies import SlidingWindowCounterRateLimiter

from backend.readiness import readiness

log = structlog.get_logger()
T = TypeVar("T")
TIMEOUT = 0.5
"""Seconds that Redis has to answer."""
PAUSE = 5.0
"""Seconds without asking a Redis that did not answer, so that not every request waits for it."""
NOTE = "Rate limits count in this process alone: Redis does not answer."


class Window(NamedTuple):
    """What is left of a limit, and the whole seconds until it is whole again."""

    remaining: int
    reset: int


class Limiter:
    """One way to count, wherever it is counted. `redis_url`: `redis://`, `rediss://` or `redis+unix://`."""

    def __init__(self, redis_url: str | None = None) -> None:
        self._here = SlidingWindowCounterRateLimiter(MemoryStorage())
        self._shared = _shared(redis_url) if redis_url else None
        self._silent_until = 0.0

    async def hit(self, limit: RateLimitItem, *names: str, cost: int = 1) -> bool:
        """Count one, or as many as it costs; False, and nothing counted, where that would exceed the limit."""
        return await self._ask(lambda counter: counter.hit(limit, *names, cost=cost))

    async def test(self, limit: RateLimitItem, *names: str, cost: int = 1) -> bool:
        """Whether one more, or as many as it costs, would be counted."""
        return await self._ask(lambda counter: counter.test(limit, *names, cost=cost))

    async def clear(self, limit: RateLimitItem, *names: str) -> None:
        """Forget what was counted."""
        await self._ask(lambda counter: counter.clear(limit, *names))

    async def window(self, limit: RateLimitItem, *names: str) -> Window:
        """How much of a limit is left."""
        stats = await self._ask(lambda counter: counter.get_window_stats(limit, *names))
        return Window(max(0, stats.remaining), max(0, math.ceil(stats.reset_time - time.time())))

    async def _ask(self, question: Callable[[SlidingWindowCounterRateLimiter], Awaitable[T]]) -> T:
        if self._shared is None or time.monotonic() < self._silent_until:
            return await question(self._here)
        try:
            answer = await question(self._shared)
        except Exception as error:  # every client of Redis has errors of its own; none may cost an answer
            self._fall_silent(error)
            return await question(self._here)
        self._speak_again()
        return answer

    def _fall_silent(self, error: Exception) -> None:
        self._silent_until = time.monotonic() + PAUSE
        if NOTE not in readiness.notes:
            readiness.notes.append(NOTE)
            # The address of Redis may have a password in it, and the error the address.
            log.warning("redis does not answer; rate limits count in this process alone", fault=type(error).__name__)

    def _speak_again(self) -> None:
        if NOTE in readiness.notes:
            readiness.notes.remove(NOTE)
            log.info("redis answers again; rate limits are shared")


def _shared(url: str) -> SlidingWindowCounterRateLimiter:
    storage = RedisStorage(
        f"async+{url}",
        implementation="redispy",
        key_prefix="signum",
        socket_timeout=TIMEOUT,
        socket_connect_timeout=TIMEOUT,
    )
    return SlidingWindowCounterRateLimiter(storage)
