"""Counts in moving windows: in memory, or in Redis where several processes count together.

Redis counts with a Lua script, so a hit is atomic. While Redis does not respond, each process counts alone: a limit
then applies per process, which is looser but still bounded. The log reports this once, and `GET /v1/ready` for as long
as it lasts.
"""

import asyncio
import importlib
import math
import time
from collections.abc import Awaitable, Callable
from typing import NamedTuple, TypeVar
from weakref import WeakKeyDictionary

import structlog
from limits import RateLimitItem
from limits.aio.storage import MemoryStorage, RedisStorage
from limits.aio.strategies import SlidingWindowCounterRateLimiter

from backend.core.readiness import readiness

log = structlog.get_logger()
T = TypeVar("T")
TIMEOUT = 0.5
"""Seconds that Redis has to respond, for each of two attempts: the second one opens a new connection, because the first
one's may be dead. A hit may then count twice."""
PAUSE = 5.0
"""Seconds before an unresponsive Redis is called again, so that not every request waits for it."""
NOTE = "Rate limits apply per process: Redis does not respond."


class Window(NamedTuple):
    """The remaining count of a limit, and the whole seconds until it is full again."""

    remaining: int
    reset: int


class Limiter:
    """A counter, in memory or shared. `redis_url`: `redis://`, `rediss://` or `redis+unix://`."""

    def __init__(self, redis_url: str | None = None) -> None:
        self._here = SlidingWindowCounterRateLimiter(MemoryStorage())
        self._redis_url = redis_url
        if redis_url:
            _shared(redis_url)  # a URL that cannot be used ends the start
        self._by_loop: WeakKeyDictionary[asyncio.AbstractEventLoop, SlidingWindowCounterRateLimiter] = (
            WeakKeyDictionary()
        )
        self._silent_until = 0.0

    @property
    def _shared(self) -> SlidingWindowCounterRateLimiter | None:
        """The counter in Redis of this event loop: a connection belongs to one, and workflows have another than
        requests."""
        if self._redis_url is None:
            return None
        loop = asyncio.get_running_loop()
        if loop not in self._by_loop:
            self._by_loop[loop] = _shared(self._redis_url)
        return self._by_loop[loop]

    async def hit(self, limit: RateLimitItem, *names: str, cost: int = 1) -> bool:
        """Count `cost`. Returns False, and counts nothing, where that would exceed the limit."""
        return await self._ask(lambda counter: counter.hit(limit, *names, cost=cost))

    async def test(self, limit: RateLimitItem, *names: str, cost: int = 1) -> bool:
        """Return whether `cost` more would stay within the limit."""
        return await self._ask(lambda counter: counter.test(limit, *names, cost=cost))

    async def clear(self, limit: RateLimitItem, *names: str) -> None:
        """Reset a count."""
        await self._ask(lambda counter: counter.clear(limit, *names))

    async def window(self, limit: RateLimitItem, *names: str) -> Window:
        """Return what remains of a limit."""
        stats = await self._ask(lambda counter: counter.get_window_stats(limit, *names))
        return Window(max(0, stats.remaining), max(0, math.ceil(stats.reset_time - time.time())))

    async def _ask(self, question: Callable[[SlidingWindowCounterRateLimiter], Awaitable[T]]) -> T:
        shared = self._shared
        if shared is None or time.monotonic() < self._silent_until:
            return await question(self._here)
        try:
            answer = await question(shared)
        except Exception as error:  # each Redis client has its own errors; none may fail a request
            self._use_own_counts(error)
            return await question(self._here)
        self._use_shared_counts()
        return answer

    def _use_own_counts(self, error: Exception) -> None:
        self._silent_until = time.monotonic() + PAUSE
        if NOTE not in readiness().notes:
            readiness().notes.append(NOTE)
            # Not the error itself: it may contain Redis' address, and that a password.
            log.warning("redis.lost", fault=type(error).__name__)

    def _use_shared_counts(self) -> None:
        if NOTE in readiness().notes:
            readiness().notes.remove(NOTE)
            log.info("redis.restored")


def _shared(url: str) -> SlidingWindowCounterRateLimiter:
    # `limits` takes a module that another thread is still importing as it is; an import waits for its end.
    importlib.import_module("redis")
    storage = RedisStorage(
        f"async+{url}",
        implementation="redispy",
        key_prefix="signum",
        socket_timeout=TIMEOUT,
        socket_connect_timeout=TIMEOUT,
        retry_on_timeout=True,
    )
    return SlidingWindowCounterRateLimiter(storage)
