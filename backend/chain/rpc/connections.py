"""Connections to the nodes, and the places of those who use them.

The client is aiohttp's: a call takes a tenth of the processor time that it takes with httpx when 16 are under way,
because httpx looks at every open connection before and after each call. It has no limit of its own. `Places` limit the
calls before they reach it.

Each node has connections and places of its own on each event loop, so that a slow chain takes none from the others. A
place is one HTTP request, whether it carries one call or a batch.
"""

import ssl
import time
from collections import deque
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final

import aiohttp
import httpx
import orjson

from backend.chain.errors import NodeBusy
from backend.core import fair_places
from backend.core.errors import TooManyRequests, Unavailable
from backend.core.fair_places import Places
from backend.core.runtime import runtime


class Lane(Enum):
    """A kind of work, with its own places."""

    REQUESTS = "requests"
    """Requests of the API, which wait for an answer. They share by caller, by organization and by root."""
    URGENT = "urgent"
    """Requests of controls that protect holders. They share in the same way."""
    WORK = "work"
    """The indexer and workflows. They share by root organization; runs of controls count apart from other runs."""


PLACES: Final = {Lane.REQUESTS: 40, Lane.URGENT: 24, Lane.WORK: 24}
"""Calls of a process's event loop that one node has at a time. One caller, and one root, holds at most half."""
NARROW: Final[dict[Lane, int | None]] = {Lane.REQUESTS: None, Lane.URGENT: PLACES[Lane.URGENT] // 4, Lane.WORK: None}
"""Those of one caller, and of an organization below the root with everything below it, if fewer than a root's."""
WAIT: Final[dict[Lane, float | None]] = {Lane.REQUESTS: 10.0, Lane.URGENT: 30.0, Lane.WORK: None}
"""Seconds to wait for a place. A request then gets a 503. Work waits as long as it takes: it must not fail for it."""
WAITING = 1_000
"""Calls of one caller that may wait: a single request can need hundreds."""
LONGEST = 60.0
"""Seconds for a whole response, so that a node that sends it byte by byte frees the place."""
TIMEOUT: Final = aiohttp.ClientTimeout(total=LONGEST, sock_connect=3.0, sock_read=10.0)
IDLE = 5.0
"""Seconds for which a connection to a node stays open without a call."""
LATELY = 60.0
"""Seconds for which a refused call is counted in `refused`."""


@dataclass(frozen=True)
class Response:
    """A node's answer to an HTTP request."""

    status: int
    content: bytes
    retry_after: str
    """The header, empty without one."""


@dataclass
class Call:
    """An HTTP request."""

    is_reused: bool = False
    """Whether its connection was open before."""


@dataclass
class Refusals:
    """When calls were refused for lack of a place, by endpoint ID of the chain and `time.monotonic`."""

    by_chain: dict[int, deque[float]] = field(default_factory=dict)


class Line:
    """The connections to one node from one event loop."""

    def __init__(self, eid: int, url: str) -> None:
        self._eid, self._url = eid, url
        self._places = {lane: Places(PLACES[lane], WAIT[lane], waiting=WAITING, narrow=NARROW[lane]) for lane in Lane}
        self._session: aiohttp.ClientSession | None = None

    async def post(self, body: Any) -> Response:
        """Post JSON to the node, once there is a place. Raises NodeBusy, TimeoutError, aiohttp.ClientError."""
        lane, names = _caller()
        places = self._places[lane]
        if not places.take_free(*names):
            await self._wait(places, names)
        try:
            return await self._post(body)
        finally:
            places.give_back(*names)

    async def close(self) -> None:
        """Close the connections."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def _wait(self, places: Places, names: tuple[str, ...]) -> None:
        try:
            await places.take(*names)
        except (TooManyRequests, Unavailable):
            refusals = runtime.part(Refusals).by_chain
            refusals.setdefault(self._eid, deque(maxlen=WAITING)).append(time.monotonic())
            raise NodeBusy(
                "The server has too many calls of its nodes waiting. Retry in 5 s.", headers={"Retry-After": "5"}
            ) from None

    async def _post(self, body: Any) -> Response:
        """Post once more if an open connection turned out to be closed: the node then has not answered the call."""
        content, call = orjson.dumps(body), Call()
        try:
            return await self._send(content, call)
        except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError):
            if not call.is_reused:
                raise
        return await self._send(content, Call())

    async def _send(self, content: bytes, call: Call) -> Response:
        session = self._session = self._session or session_to(self._url)
        headers = {"Content-Type": "application/json"}
        async with session.post(
            self._url, data=content, headers=headers, timeout=TIMEOUT, allow_redirects=False, trace_request_ctx=call
        ) as answer:
            return Response(answer.status, await answer.read(), answer.headers.get("Retry-After", ""))


@dataclass
class Lines:
    """An event loop's connections, by chain and URL."""

    by_node: dict[tuple[int, str], Line] = field(default_factory=dict, repr=False)


def line(eid: int, url: str) -> Line:
    """Return the connections of this event loop to a node."""
    lines = runtime.loop_part(Lines).by_node
    found = lines.get((eid, url))
    if found is None:
        found = lines[eid, url] = Line(eid, url)
    return found


async def close() -> None:
    """Close this event loop's connections to the nodes."""
    lines = runtime.loop_part(Lines).by_node
    while lines:
        _, closing = lines.popitem()
        await closing.close()


def refused(eid: int) -> int:
    """Return how many calls of a chain this process refused for lack of a place, in the last minute."""
    times, since = runtime.part(Refusals).by_chain.get(eid, ()), time.monotonic() - LATELY
    return sum(at > since for at in tuple(times))


def _caller() -> tuple[Lane, tuple[str, ...]]:
    """Return the lane of the current request or run, and the names for which its place counts."""
    caller, path, is_urgent = fair_places.caller.get(), fair_places.path.get(), fair_places.is_urgent.get()
    if caller:
        return Lane.URGENT if is_urgent else Lane.REQUESTS, (caller, *path)
    root = path[-1] if path else ""
    return Lane.WORK, (f"urgent {root}" if is_urgent else root,)


def session_to(url: str, certificates: ssl.SSLContext | None = None) -> aiohttp.ClientSession:
    """Return a session of a node. `certificates` are those it trusts, the public authorities unless given."""
    # They are read once per process: that takes longer than many calls. A node without TLS needs none.
    trusted = certificates or (True if url.startswith("http:") else runtime.part(_certificates))
    connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=IDLE, ssl=trusted)
    traces = aiohttp.TraceConfig()
    traces.on_connection_reuseconn.append(_note_reused)
    return aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar(), trace_configs=[traces])


async def _note_reused(_session: aiohttp.ClientSession, traced: Any, _parameters: Any) -> None:
    traced.trace_request_ctx.is_reused = True


def _certificates() -> ssl.SSLContext:
    return httpx.create_ssl_context(trust_env=False)
