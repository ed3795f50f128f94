"""Limits on what a caller holds: arriving bodies, and sockets. Plain ASGI around the console and the API.

`backend.server.request_bodies` limits bodies. A socket without a session ends after ten minutes (an open page
reconnects), and an address has a limited number of them.
"""

import asyncio
from contextvars import ContextVar
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network
from typing import Any

import structlog
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.exc import TimeoutError as NoConnectionFree
from starlette.requests import HTTPConnection

from backend.auth import callers
from backend.auth.credential_owners import Person
from backend.auth.credentials import by_cookie, session_secret
from backend.core import db, fair_places
from backend.core.errors import SignumError, TooManyRequests, Unavailable
from backend.core.settings import settings
from backend.limits.client_address import caller, group
from backend.limits.concurrency import Quota
from backend.server.request_bodies import Application, Bodies, BodyLimits, Message, Receive, Scope, Send, has_body
from backend.server.socket_intake import Intake, Watch, size_of

log = structlog.get_logger()
VISITOR = "signum.visitor"
"""Key of a socket's `Visitor` in its scope."""
CLOSE_SECONDS = 2.0
"""Seconds to close a socket: a stopping server no longer responds."""
TRY_LATER, GOING_AWAY, TOO_LARGE = 1013, 1001, 1009
"""Close codes of sockets: too many sockets, the end of their time, and a message that is too large."""


@dataclass(frozen=True)
class Limits(BodyLimits):
    """Numbers and durations."""

    sockets_per_session: int = 100
    """Tabs of one signed-in browser."""
    sockets_per_person: int = 300
    """Tabs of one person, in all their browsers."""
    strangers_per_address: int = 50
    """Sockets without a session: pages before sign-in."""
    strangers: int = 1_000
    stranger_seconds: float = 600.0
    message_bytes: int = 1_048_576
    """Maximum message of a signed-in browser's socket."""
    stranger_message_bytes: int = 262_144
    """Maximum message of a socket without a session."""
    unfinished_bytes: int = 262_144
    """Beyond the maximum message, for what the server reads ahead: a connection with more unfinished bytes is cut."""
    linger_seconds: float = 10.0
    """How long a socket without a session still counts after its end: its state stays in memory until then."""


@dataclass
class Visitor:
    """The opener of a socket: the id of a session, or None; and the task that reads the socket."""

    session: str | None
    task: "asyncio.Task[Any] | None" = None

    @property
    def is_stranger(self) -> bool:
        """Return whether there is no session."""
        return self.session is None


visitor: ContextVar[Visitor | None] = ContextVar("visitor", default=None)
"""The opener of the socket to which this task belongs."""


class RequestGuard:
    """Wraps an application. `proxies` are the networks whose X-Forwarded-For is trusted."""

    def __init__(
        self,
        app: Application,
        limits: Limits | None = None,
        proxies: list[IPv4Network | IPv6Network] | None = None,
    ) -> None:
        self.app, self.limits = app, limits or Limits()
        self.proxies = settings().trusted_proxies if proxies is None else proxies
        self.bodies = Bodies(self.limits)
        self.strangers = Quota(self.limits.strangers_per_address, self.limits.strangers)
        self.sessions = Quota(self.limits.sockets_per_session, 1_000_000)
        self.people = Quota(self.limits.sockets_per_person, 1_000_000)
        self.watch = Watch()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on requests and sockets that are within their limits."""
        if scope["type"] == "websocket":
            await self._socket(scope, receive, send)
        elif scope["type"] == "http" and has_body(scope):
            await self.bodies.receive(self.app, scope, receive, send, self._address(scope))
        else:
            await self.app(scope, receive, send)

    def _address(self, scope: Scope) -> str:
        peer = scope["client"][0] if scope.get("client") else ""
        forwarded = [value.decode("latin-1") for name, value in scope["headers"] if name == b"x-forwarded-for"]
        return group(caller(peer, forwarded, self.proxies))

    async def _socket(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            person = await _person_of(scope)
        except Unknown:
            await send({"type": "websocket.close", "code": TRY_LATER})
            return
        session = str(person.session_id) if person else None
        held, name = (self.sessions, session) if session else (self.strangers, self._address(scope))
        if not held.take(name):
            await send({"type": "websocket.close", "code": TRY_LATER})
            return
        if person and not self.people.take(str(person.user_id)):
            held.give_back(name)
            await send({"type": "websocket.close", "code": TRY_LATER})
            return
        scope[VISITOR] = Visitor(session, asyncio.current_task())
        visitor.set(scope[VISITOR])
        most = self.limits.message_bytes if session else self.limits.stranger_message_bytes
        opened = _Socket(receive, send, most, None if session else self.limits.stranger_seconds)
        try:
            opened.intake = await self.watch.begin(scope.get("client"), most + self.limits.unfinished_bytes)
            await self.app(scope, opened.receive, opened.send)
        except Exception as error:
            # Without a session, nothing is logged, so that visitors cannot fill the log; with one, it is a server
            # fault.
            if session:
                log.error("socket.failed", exc_info=error)
            await opened.send({"type": "websocket.close", "code": GOING_AWAY})
        finally:
            self.watch.end(opened.intake)
            if person:
                held.give_back(name)
                self.people.give_back(str(person.user_id))
            else:
                asyncio.get_running_loop().call_later(self.limits.linger_seconds, held.give_back, name)


class _Socket:
    """A socket that ends after some time or a message that is too large, as if the browser had closed it.

    Messages to a disconnected browser are dropped, and the application is notified.
    """

    intake: Intake | None = None
    """Counts the bytes of its connection, where they can be watched."""

    def __init__(self, receive: Receive, send: Send, most: int, seconds: float | None) -> None:
        self._receive, self._send, self._most = receive, send, most
        self._loop = asyncio.get_running_loop()
        self._ends_at = None if seconds is None else self._loop.time() + seconds
        self._waiting: asyncio.Timeout | None = None
        self._is_over = False

    async def receive(self) -> Message:
        """Return the next message, or the disconnect."""
        try:
            async with asyncio.timeout_at(self._ends_at) as self._waiting:
                message = await self._receive()
        except TimeoutError:
            await self.send({"type": "websocket.close", "code": GOING_AWAY})
            message = {"type": "websocket.disconnect", "code": GOING_AWAY}
        finally:
            self._waiting = None
        if message["type"] == "websocket.receive":
            size = size_of(message)
            if self.intake is not None:
                self.intake.take(size)
            if size > self._most:
                await self.send({"type": "websocket.close", "code": TOO_LARGE})
                message = {"type": "websocket.disconnect", "code": TOO_LARGE}
        self._is_over = self._is_over or message["type"] == "websocket.disconnect"
        return message

    async def send(self, message: Message) -> None:
        """Pass on messages until the socket has ended."""
        if self._is_over:
            return
        self._is_over = message["type"] == "websocket.close"
        try:
            async with asyncio.timeout(CLOSE_SECONDS if self._is_over else None):
                await self._send(message)
        except TimeoutError:
            self._end()
        except asyncio.CancelledError:
            # The server cancels where the browser has disconnected; any other cancellation of this task still applies.
            self._end()
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise

    def _end(self) -> None:
        """End receiving too, after a failed send."""
        self._is_over, self._ends_at = True, self._loop.time()
        if self._waiting is not None and not self._waiting.expired():
            self._waiting.reschedule(self._ends_at)


class Unknown(Exception):
    """A session could not be looked up, because the server is busy."""


async def _person_of(scope: Scope) -> Person | None:
    """Return the person and session of a socket's cookie; None where there is no session, or the database does not
    respond: the page then says so. Raises Unknown where the server is busy. Its person must not count as a stranger,
    whose page asks to sign in.
    """
    cookies = b"; ".join(value for name, value in scope["headers"] if name == b"cookie").decode("latin-1")
    secret = session_secret(cookies)
    if not secret:
        return None
    try:
        with fair_places.called_by(callers.name_of(HTTPConnection(scope))):
            async with db.transaction() as session:
                return await by_cookie(session, secret)
    except (NoConnectionFree, TooManyRequests, Unavailable) as busy:
        raise Unknown from busy
    except (SignumError, SQLAlchemyError, *db.FAULTS, OSError):
        return None
