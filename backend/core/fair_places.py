"""Fair sharing of places: a free place goes to the waiting caller that holds the fewest."""

import asyncio
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar

from sqlalchemy.exc import TimeoutError as NoConnectionFree

from backend.core.errors import SignumError, TooManyRequests, Unavailable

WAITING_EACH = 40
"""Requests of one caller that may wait. More are refused immediately."""
RETRY_SECONDS = 2
CROWDED = 10.0
"""Seconds during which someone has always been waiting, after which those who come wait for the shorter time that the
places allow then. In an overload everyone would otherwise wait as long as allowed, and still do so long after it."""
caller: ContextVar[str] = ContextVar("caller", default="")
"""The caller for whom the current request uses places. Empty outside requests."""
path: ContextVar[tuple[str, ...]] = ContextVar("path", default=())
"""The organization of the current request and those above it, up to the root; of a run, only the root. Empty before a
request enters an organization."""
is_urgent: ContextVar[bool] = ContextVar("is_urgent", default=False)
"""Whether the current request or run protects holders."""


@contextmanager
def called_by(name: str) -> Iterator[None]:
    """Count places that are taken inside for this caller, and for the organization that it enters inside."""
    before, outer = caller.get(), path.get()
    caller.set(name)
    path.set(())
    try:
        yield
    finally:  # a stream may end in a different context from the one it began in
        caller.set(before)
        path.set(outer)


@contextmanager
def working_for(*organizations: str) -> Iterator[None]:
    """Count places that are taken inside for an organization and those above it; the root is the last one."""
    before = path.get()
    path.set(organizations)
    try:
        yield
    finally:
        path.set(before)


@contextmanager
def urgently(urgent: bool = True) -> Iterator[None]:
    """Take places inside apart from those of other requests and runs, if it is urgent."""
    before = is_urgent.get()
    is_urgent.set(urgent)
    try:
        yield
    finally:
        is_urgent.set(before)


class Places:
    """`count` places on one event loop. A caller holds at most half of them, or `each`.

    A caller waits at most `seconds` for one, or `crowded` seconds if someone is always waiting (`CROWDED`), with at
    most `waiting` requests (WAITING_EACH by default). Its first request is served first, in a crowd its last one. With
    None it waits as long as it takes, and any number may wait. A caller with several names (its person, its root, its
    address) counts under each, and holds as many as the fullest of them. Of callers whose fullest names hold as many,
    the one with the fewest under the others comes first. Each name but the last, the widest, holds at most `narrow`.
    """

    def __init__(
        self,
        count: int,
        seconds: float | None,
        each: int | None = None,
        waiting: int | None = None,
        narrow: int | None = None,
        crowded: float | None = None,
    ) -> None:
        self._free, self._each, self._seconds = count, count // 2 if each is None else each, seconds
        self._most_waiting, self._crowded = waiting, crowded
        self._narrow = self._each if narrow is None else narrow
        self._held: Counter[str] = Counter()
        self._waiting: dict[tuple[str, ...], deque[asyncio.Future[None]]] = {}
        self._waited_on_since = 0.0
        """Since when someone has always been waiting, by `time.monotonic`."""

    async def take(self, *names: str) -> None:
        """Take a place for the caller of these names, or wait for one.

        Raises TooManyRequests where too many requests of the caller are waiting, and Unavailable after `seconds`.
        """
        if not self.take_free(*names):
            await self._wait(names)

    def take_free(self, *names: str) -> bool:
        """Take a place if one is free for the caller. Returns False, and takes none, where it would have to wait."""
        if not self._free or self._is_full(names):
            return False
        self._free -= 1
        self._held.update(names)
        return True

    def give_back(self, *names: str) -> None:
        """Give a place back. The waiting caller that holds the fewest gets it immediately."""
        self._forget(*names)
        self._free += 1
        self._serve_waiting()

    def move(self, caller: str, other: str) -> bool:
        """Count one place of a caller for another one. False, and nothing changes, where that one holds half."""
        if caller != other:
            if self._held[other] >= self._each:
                return False
            self._held[other] += 1
            self._forget(caller)
            self._serve_waiting()
        return True

    def _is_full(self, names: tuple[str, ...]) -> bool:
        *narrow, widest = names
        return self._held[widest] >= self._each or any(self._held[name] >= self._narrow for name in narrow)

    def _counts(self, names: tuple[str, ...]) -> list[int]:
        return sorted((self._held[name] for name in names), reverse=True)

    def _forget(self, *names: str) -> None:
        for name in names:
            self._held[name] -= 1
            if not self._held[name]:
                del self._held[name]

    def _serve_waiting(self) -> None:
        """Serve callers that waited because they held half, while places are free."""
        while self._free:
            following = self._next()
            if following is None:
                return
            self._free -= 1
            self._serve(following)

    def _next(self) -> tuple[str, ...] | None:
        free = (names for names in self._waiting if not self._is_full(names))
        return min(free, key=self._counts, default=None)

    def _serve(self, names: tuple[str, ...]) -> None:
        waiting = self._waiting.pop(names)
        # In a crowd the newest is served first. A request that has waited long is refused soon, and those that
        # come after an overload do not wait for those that came in it.
        turn = waiting.pop() if self._is_crowded() else waiting.popleft()
        turn.set_result(None)
        if waiting:
            self._waiting[names] = waiting  # behind callers that hold as many
        self._held.update(names)

    async def _wait(self, names: tuple[str, ...]) -> None:
        if not self._waiting:
            self._waited_on_since = time.monotonic()
        waiting = self._waiting.setdefault(names, deque())
        most = WAITING_EACH if self._most_waiting is None else self._most_waiting
        if self._seconds is not None and len(waiting) >= most:
            raise TooManyRequests(RETRY_SECONDS)
        turn = asyncio.get_running_loop().create_future()
        waiting.append(turn)
        try:
            await asyncio.wait({turn}, timeout=self._patience())
        except asyncio.CancelledError:
            self._leave(names, turn)
            raise
        if not turn.done():
            self._leave(names, turn)
            raise Unavailable("The server is busy. Retry in 5 s.", headers={"Retry-After": "5"})

    def _patience(self) -> float | None:
        """Return how long someone who comes now may wait."""
        return self._crowded if self._is_crowded() else self._seconds

    def _is_crowded(self) -> bool:
        return self._crowded is not None and time.monotonic() - self._waited_on_since >= CROWDED

    def _leave(self, names: tuple[str, ...], turn: "asyncio.Future[None]") -> None:
        if turn.done():  # the place became free at the same moment
            self.give_back(*names)
            return
        self._waiting[names].remove(turn)
        if not self._waiting[names]:
            del self._waiting[names]


class Place:
    """A caller's place, which can be taken and given back repeatedly."""

    def __init__(self, places: Places, name: str | None = None) -> None:
        self._places, self._caller = places, caller.get() if name is None else name
        self.is_held = self.is_within = False

    async def take(self) -> None:
        """Take the place, or wait for it. Raises what `Places.take` does."""
        await self._places.take(self._caller)
        self.is_held = True

    async def take_again(self) -> None:
        """Take the place again. Raises what a full connection pool does, which no caller mistakes for a refusal."""
        try:
            await self.take()
        except SignumError as error:
            raise NoConnectionFree(error.detail) from error

    def rename(self, caller: str) -> bool:
        """Count the place for another caller from now on. False where that one holds as many as it may."""
        if self.is_held and not self._places.move(self._caller, caller):
            return False
        self._caller = caller
        return True

    def give_back(self) -> None:
        """Give the place back, if it is held."""
        if self.is_held:
            self.is_held = False
            self._places.give_back(self._caller)


@asynccontextmanager
async def held(places: Places, outer: Place | None = None, name: str | None = None) -> AsyncIterator[Place]:
    """Hold a place for the caller of this name, by default the current request's.

    Code inside another place (`outer`) needs none: waiting for a second place could deadlock.
    """
    place = Place(places, name)
    place.is_within = outer is not None and (outer.is_held or outer.is_within)
    if not place.is_within:
        await place.take()
    try:
        yield place
    finally:
        place.give_back()
