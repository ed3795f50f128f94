"""Limits on request bodies: their number, their bytes in memory, and their minimum speed.

Small bodies of all callers share one room. Callers with a valid credential have a second room: for bodies above 64 KiB,
and for bodies that the first room refuses. The credential is looked up only in these two cases, so most requests cost
one look-up, that of their operation. A caller without a valid credential never uses the second room.
"""

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from typing import Any

import orjson
import structlog
from fastapi import Request
from sqlalchemy.exc import SQLAlchemyError

from backend.core import db
from backend.core.errors import RequestTimeout, SignumError, TooManyRequests, Unauthenticated, Unavailable, problem
from backend.core.settings import settings
from backend.http.middleware import MAX_BODY, large_size
from backend.limits.concurrency import Holder, Shares
from backend.server.body_callers import has_credential, holder_of

log = structlog.get_logger()
Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

SMALL_BODY = 65_536
"""Bytes of a body that are received before its credential is looked up."""
RETRY_SECONDS = 5


@dataclass(frozen=True)
class BodyLimits:
    """Number of concurrent bodies, and their minimum speed."""

    body_seconds: float = 20.0
    """Seconds for any body, in addition to the time that its length takes at `body_rate`."""
    body_rate: int = 32_768
    """Bytes per second; slower bodies are refused."""
    large_body_rate: int = 262_144
    """The same for bodies above 1 MiB: 128 MB take at most 9 minutes."""
    silent_seconds: float = 20.0
    """Seconds until the next part of a body above 1 MiB."""
    bodies_per_address: int = 64
    """Also per principal, where its address has reached the limit."""
    bodies: int = 2_048
    """In each of the two rooms."""


@dataclass(frozen=True)
class Room:
    """The arriving bodies, and the bytes of all bodies until their requests are answered."""

    bodies: Shares
    memory: Shares

    def refusal(self, count: int) -> SignumError:
        """Return why there is no room for `count` more bytes."""
        if self.memory.narrow.is_full(count):
            text = f"The server is receiving too much data. Retry in {RETRY_SECONDS} s."
            return Unavailable(text, headers={"Retry-After": str(RETRY_SECONDS)})
        text = f"Your concurrent requests exceed {self.memory.narrow.each} bytes"
        if self.memory.wide.each < self.memory.wide.in_all:
            text += f", or those of your organizations exceed {self.memory.wide.each}"
        return TooManyRequests(RETRY_SECONDS, f"{text}. Retry in {RETRY_SECONDS} s.")


class Bodies:
    """The bodies of a process.

    A quarter of the memory is for small bodies of all callers, the rest for callers with a valid credential: of that,
    at most a quarter for each principal and half for each root organization.
    """

    def __init__(self, limits: BodyLimits) -> None:
        own, count = settings(), limits.bodies
        self.limits = limits
        shared = own.body_bytes // 4
        rest = own.body_bytes - shared
        small = Shares(min(own.body_bytes_each, shared // 4), shared, shared)
        large = Shares(min(own.body_bytes_each, rest // 4), rest // 2, rest)
        self.open = Room(Shares(limits.bodies_per_address, count, count), small)
        self.known = Room(Shares(limits.bodies_per_address, max(1, count // 2), count), large)

    @property
    def held(self) -> int:
        """Bytes in memory."""
        return self.open.memory.narrow.held + self.known.memory.narrow.held

    async def receive(self, app: Application, scope: Scope, receive: Receive, send: Send, address: str) -> None:
        """Let an application receive the body of a request from an address; refuse a body without room."""
        claim = Claim(self, scope, Holder((address,)))
        if not await claim.begin():
            await refuse(send, TooManyRequests(RETRY_SECONDS))
            return
        body = _Body(receive, send, self.limits, claim)
        try:
            await app(scope, body.receive, body.send)
        finally:
            claim.end()


@dataclass
class Claim:
    """The counts of one body, and the names they are under."""

    rooms: Bodies
    scope: Scope
    holder: Holder
    is_known: bool = False
    held: int = 0
    """Counted bytes."""
    is_arriving: bool = False
    is_over: bool = field(default=False, init=False)
    """Whether all counts were returned. A look-up that ends later counts nothing."""
    _failure: SignumError | None = field(default=None, init=False)
    """Why the credential was refused."""

    @property
    def room(self) -> Room:
        """Return the room in which this body counts."""
        return self.rooms.known if self.is_known else self.rooms.open

    async def begin(self) -> bool:
        """Count one more arriving body. Return False where there is no room for it."""
        self.is_arriving = self.room.bodies.take(self.holder)
        return self.is_arriving or await self.identify() is None

    async def take(self, count: int) -> SignumError | None:
        """Count bytes that have arrived; return the refusal where there is no room for them."""
        if not self.is_known:
            is_small = self.held + count <= SMALL_BODY
            if is_small and self._hold(count):
                return None
            refusal = self.room.refusal(count)
            if failure := await self.identify():
                return refusal if is_small and isinstance(failure, Unauthenticated) else failure
        return None if self._hold(count) else self.room.refusal(count)

    def _hold(self, count: int) -> bool:
        has_room = not self.is_over and self.room.memory.take(self.holder, count)
        self.held += count if has_room else 0
        return has_room

    async def identify(self) -> SignumError | None:
        """Look up the credential and count this body in its principal's room.

        Return the refusal where the credential is invalid, or there is no room.
        """
        if self.is_known or self._failure:
            return self._failure
        try:
            holder = await _looked_up(self.scope)
        except SignumError as error:
            self._failure = error
            return error
        return self._move(holder)

    def _move(self, holder: Holder) -> SignumError | None:
        known = self.rooms.known
        if self.is_over or not known.bodies.take(holder):
            return TooManyRequests(RETRY_SECONDS)
        if not known.memory.take(holder, self.held):
            known.bodies.give_back(holder)
            return known.refusal(self.held)
        if self.is_arriving:
            self.room.bodies.give_back(self.holder)
        self.room.memory.give_back(self.holder, self.held)
        self.holder, self.is_known, self.is_arriving = holder, True, True
        return None

    def arrived(self) -> None:
        """Stop counting the body as arriving: it is complete, or was refused."""
        if self.is_arriving:
            self.is_arriving = False
            self.room.bodies.give_back(self.holder)

    def end(self) -> None:
        """Return all counts after the request is answered."""
        self.arrived()
        self.room.memory.give_back(self.holder, self.held)
        self.held, self.is_over = 0, True


async def _looked_up(scope: Scope) -> Holder:
    """Return the holder of a request's credential. Raises SignumError where it is missing or invalid."""
    request = Request({**scope, "state": {}})
    if not has_credential(request):
        raise Unauthenticated(f"A body above {SMALL_BODY} bytes needs a valid credential.")
    try:
        return await holder_of(request)
    except (SQLAlchemyError, *db.FAULTS, OSError) as error:
        log.error("database.failed", path=scope["path"], exc_info=error)
        raise Unavailable("The database does not respond. Retry in a few seconds.") from error


@dataclass(frozen=True)
class Pace:
    """Deadlines of a body in seconds."""

    whole: float
    part: float
    """Until its next part."""
    unidentified: float
    """For the whole body, while its credential is unknown."""

    @classmethod
    def of(cls, scope: Scope, limits: BodyLimits) -> "Pace":
        """Return the deadlines for the announced length; without one, a small body counts as one megabyte."""
        if large := large_size(scope):
            whole = limits.body_seconds + large / limits.large_body_rate
            return cls(whole, limits.silent_seconds, whole)
        whole = limits.body_seconds + (announced(scope) or MAX_BODY) / limits.body_rate
        return cls(whole, whole, min(whole, limits.body_seconds + SMALL_BODY / limits.body_rate))


def announced(scope: Scope) -> int:
    """Return the announced bytes of a body; 0 where none are announced."""
    length = dict(scope["headers"]).get(b"content-length", b"")
    return int(length) if length.isdigit() else 0


class _Body:
    """The body of a request, and its response.

    A body that arrives too slowly gets a 408, one without room a 429 or 503, and one without the required credential a
    401. The application then sees a disconnected client.
    """

    def __init__(self, receive: Receive, send: Send, limits: BodyLimits, claim: Claim) -> None:
        self._receive, self._send, self._claim = receive, send, claim
        self._loop = asyncio.get_running_loop()
        self._pace, self._began = Pace.of(claim.scope, limits), self._loop.time()
        # A large file is written to disk: its operation looks up the credential first, and `backend.http.uploads`
        # counts it.
        self._is_counted = not large_size(claim.scope)
        self._is_whole = self._has_answer = self._is_refused = False

    async def receive(self) -> Message:
        """Return the next part; a disconnect where the body is refused."""
        if self._is_refused:
            return {"type": "http.disconnect"}
        if self._is_whole:
            return await self._receive()
        # Before the first part is requested: until then the server sends no 100 Continue.
        is_large = self._is_counted and announced(self._claim.scope) > SMALL_BODY
        if is_large and (refusal := await self._timed(self._claim.identify())):
            return await self._refused(refusal)
        try:
            async with asyncio.timeout_at(self._next_end()):
                message = await self._receive()
        except TimeoutError:
            return await self._refused(RequestTimeout())
        count = len(message.get("body", b""))
        if self._is_counted and count and (refusal := await self._timed(self._claim.take(count))):
            return await self._refused(refusal)
        if message["type"] != "http.request" or not message.get("more_body"):
            self._end()
        return message

    def _next_end(self) -> float:
        """Return the deadline of the next part."""
        whole = self._pace.whole if self._claim.is_known else self._pace.unidentified
        return min(self._began + whole, self._loop.time() + self._pace.part)

    async def _timed(self, work: Awaitable[SignumError | None]) -> SignumError | None:
        """Wait for internal work, which does not count towards the sender's time."""
        since = self._loop.time()
        found = await work
        self._began += self._loop.time() - since
        return found

    async def _refused(self, error: SignumError) -> Message:
        self._is_refused = True
        self._end()
        if not self._has_answer:
            await refuse(self._send, error)
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        """Pass on the response, unless the body was already refused."""
        if not self._is_refused:
            self._has_answer = True
            await self._send(message)

    def _end(self) -> None:
        self._is_whole = True
        self._claim.arrived()


def has_body(scope: Scope) -> bool:
    """Return whether a request announces a body."""
    headers = dict(scope["headers"])
    return b"transfer-encoding" in headers or headers.get(b"content-length", b"0") != b"0"


async def refuse(send: Send, error: SignumError) -> None:
    """Send a problem and close the connection: the rest of the body is not read."""
    body = orjson.dumps(problem(error, settings().base_url))
    headers = {
        "content-type": "application/problem+json",
        "content-length": str(len(body)),
        "cache-control": "no-store",
        "connection": "close",
        **{name.lower(): value for name, value in error.headers.items()},
    }
    pairs = [(name.encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": error.status, "headers": pairs})
    await send({"type": "http.response.body", "body": body})
