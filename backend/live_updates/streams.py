"""Open streams: their limits, what they send, and their end.

A stream holds no database connection and no thread, and no queue of its own: it keeps its place in events that all
streams of the process share, and sends the next one when the client has taken the last.
"""

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass, field
from typing import Protocol

import structlog
from fastapi import Request, Response
from starlette.types import Receive, Scope, Send

from backend.core.errors import SignumError, TooManyRequests, Unavailable, problem
from backend.core.runtime import runtime
from backend.core.settings import settings
from backend.http.problems import respond
from backend.limits.concurrency import Holder, Shares
from backend.live_updates import callers, frames
from backend.live_updates.callers import Caller

log = structlog.get_logger()
HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
"""No cache keeps a stream, and nginx does not hold it back."""
STOPPING = "The server is stopping. Connect again."
SLOW = "The client is too slow. Connect again."


@dataclass
class Limits:
    """Numbers and durations of a process's streams."""

    each: int = 200
    """Open streams of a key and of a person."""
    each_root: int = 1_000
    """Those in a root organization and everything below it."""
    in_all: int = 2_000
    kept: int = 500
    """Those of `in_all` for hierarchies that have few, so that a few tenants cannot hold all."""
    few: int = 20
    """Streams of a hierarchy, or of the new roots of one origin, that may be among the kept ones."""
    heartbeat_seconds: float = 15.0
    send_seconds: float = 20.0
    """How long a client may take for one event. Afterwards it is cut off, and resumes when it connects again."""
    longest_seconds: float = 3_600.0
    """When a stream ends and the client connects again, so that streams spread over the servers that run."""


@dataclass
class Open:
    """The open streams of one event loop."""

    limits: Limits = field(default_factory=Limits)
    shares: Shares = field(
        default_factory=lambda: Shares(Limits.each, Limits.each_root, Limits.in_all, Limits.kept, Limits.few)
    )
    wakes: set[asyncio.Event] = field(default_factory=set)
    is_stopping: bool = False


class Feed(Protocol):
    """What a stream sends."""

    @property
    def mark(self) -> str:
        """Return the ID from which a client resumes, or an empty string."""

    @property
    def is_over(self) -> bool:
        """Return whether nothing follows."""

    def frames(self) -> AsyncIterator[bytes]:
        """Yield what is new."""


OpenFeed = Callable[[Caller, asyncio.Event], AbstractAsyncContextManager[Feed]]
"""Opens the feed of a caller, which sets the event when there is something to send."""


@dataclass(frozen=True)
class Admission:
    """Who opened a stream, as the guard has admitted it."""

    request: Request
    holder: Holder
    enter: Callable[[asyncio.Event], Caller]


class EventStream(Response):
    """A response that sends events until they end, the caller loses access, or the server stops."""

    media_type = "text/event-stream"

    def __init__(self, admission: Admission, feed: OpenFeed) -> None:
        super().__init__(headers=HEADERS, media_type=self.media_type)
        del self.headers["content-length"]
        self._admission, self._feed = admission, feed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the stream, or the refusal of one that is too many."""
        opened = runtime.loop_part(Open)
        if refusal := _refusal(opened, self._admission.holder):
            await respond(self._admission.request, refusal)(scope, receive, send)
            return
        try:
            await self._run(opened, scope, receive, send)
        finally:
            opened.shares.give_back(self._admission.holder)

    async def _run(self, opened: Open, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        if not scope.get("state", {}).get("is_bare"):
            stream = _Stream(opened, send)
            reader = asyncio.create_task(stream.watch(receive))
            caller = self._admission.enter(stream.wake)
            try:
                async with self._feed(caller, stream.wake) as feed:
                    await stream.run(caller, feed)
            finally:
                callers.leave(caller, stream.wake)
                opened.wakes.discard(stream.wake)
                reader.cancel()
            if stream.is_cut:
                return
        with suppress(OSError):
            await send({"type": "http.response.body", "body": b""})


def _refusal(opened: Open, holder: Holder) -> SignumError | None:
    """Count a stream; return the refusal where it is one too many."""
    if opened.is_stopping:
        return Unavailable(STOPPING, headers={"Retry-After": "2"})
    if opened.shares.take(holder):
        return None
    if opened.shares.is_full(holder):
        return Unavailable("The server has too many open streams. Retry in 30 s.", headers={"Retry-After": "30"})
    limits = opened.limits
    return TooManyRequests(
        30,
        f"Too many open streams: at most {limits.each} for each key and person, and {limits.each_root:,} in a "
        "hierarchy of organizations. Close some, or retry in 30 s.",
    )


class _Cut(Exception):
    """The client is gone, or takes nothing."""


class _Stream:
    """One connection."""

    def __init__(self, opened: Open, send: Send) -> None:
        self._opened, self._send, self._limits = opened, send, opened.limits
        self._ends_at = asyncio.get_running_loop().time() + opened.limits.longest_seconds
        self.wake = asyncio.Event()
        self.is_cut = False
        opened.wakes.add(self.wake)

    async def watch(self, receive: Receive) -> None:
        """Note that the client has disconnected."""
        while (await receive())["type"] != "http.disconnect":
            pass
        self.is_cut = True
        self.wake.set()

    async def run(self, caller: Caller, feed: Feed) -> None:
        """Send until the end."""
        try:
            await self._put(frames.opening(_retry()))
            while not self.is_cut:
                self.wake.clear()
                if end := self._end(caller):
                    await self._put(end)
                    return
                async for frame in feed.frames():
                    await self._put(frame)
                if feed.is_over:
                    await self._put(frames.ending("The request has ended.", 0))
                    return
                await self._wait(feed)
        except _Cut:
            self.is_cut = True

    async def _wait(self, feed: Feed) -> None:
        try:
            async with asyncio.timeout(self._limits.heartbeat_seconds):
                await self.wake.wait()
        except TimeoutError:
            await self._put(frames.heartbeat(feed.mark))

    def _end(self, caller: Caller) -> bytes | None:
        if caller.refusal is not None:
            return frames.problem(problem(caller.refusal, settings().base_url))
        if self._opened.is_stopping:
            return frames.ending(STOPPING, _retry())
        if asyncio.get_running_loop().time() >= self._ends_at:
            return frames.ending("The longest time of a stream has passed. Connect again.", _retry())
        return None

    async def _put(self, frame: bytes) -> None:
        if self.is_cut:
            raise _Cut
        try:
            async with asyncio.timeout(self._limits.send_seconds):
                await self._send({"type": "http.response.body", "body": frame, "more_body": True})
        except (TimeoutError, OSError) as error:
            log.info("live_updates.reader_cut_off", reason=type(error).__name__)
            raise _Cut from None


def _retry() -> int:
    return random.randint(*frames.RETRY)  # noqa: S311  (spreads load, hides nothing)


def stop() -> None:
    """End every stream of this loop, and refuse new ones: the server stops."""
    opened = runtime.loop_part(Open)
    opened.is_stopping = True
    for wake in opened.wakes:
        wake.set()
