"""Egress: one POST to an address that a customer has chosen.

A name is resolved once, each of its addresses is checked, and the connection goes to exactly one of those: nothing can
be rebound between check and use. TLS still verifies the name. Proxies of the environment are ignored (they would
resolve again), redirects are answers like any other, and the receiver controls neither time nor size.
"""

import asyncio
import socket
import ssl
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import httpcore
import httpx

from backend.core import fair_places
from backend.core.errors import BadRequest
from backend.core.runtime import runtime
from backend.core.settings import settings
from backend.engine import queues
from backend.limits.concurrency import Quota
from backend.webhooks import rules
from backend.webhooks.addresses import is_loopback_host, is_public, parse
from backend.webhooks.rules import Policy, Target

TIMEOUT = 15.0
"""Seconds for the whole exchange: name, connection, TLS, request, status line and headers."""
SLOW_SECONDS = 5.0
"""A receiver that takes longer gets fewer requests at a time, until it answers faster."""
BODY_SECONDS = 2.0
"""Additional seconds for the body of an answer: it decides nothing and is kept only for the log."""
BODY_BYTES = 1_024
"""Bytes that are read and kept of the body of an answer that is no success."""
LOOKUP_SECONDS = 5.0
"""For the name at a send. The lookup itself cannot be interrupted."""
RESOLVING_SECONDS = 2.0
"""For the name at creation, while a request waits for it."""
CHECKS, CHECKS_EACH = 16, 4
"""Lookups at creation that run at a time: of all callers, and of one."""
ADDRESSES = 4
"""How many of a name's addresses are tried."""
NOT_PUBLIC = "resolves to an address that is not public; nothing was sent"


class Refused(Exception):
    """The address may not be connected to; the message says why."""


@dataclass(frozen=True)
class Answer:
    """The answer. `status` is `None` without one; `failure` says why, as text for the log."""

    status: int | None
    body: str | None
    failure: str | None
    milliseconds: int

    @property
    def is_slow(self) -> bool:
        """Return whether the receiver should get fewer requests at a time."""
        return self.milliseconds >= SLOW_SECONDS * 1000


def _senders() -> ThreadPoolExecutor:
    """A thread for each slot of the queues that send. A send keeps its slot until its lookup ends, so a name server
    that does not answer takes at most its tenant's share of the threads."""
    return ThreadPoolExecutor(sum(queues.SLOTS.values()), thread_name_prefix="webhook-names")


@dataclass
class _Checks:
    """The lookups at creation, in threads of their own."""

    pool: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(CHECKS, "webhook-checks"))
    quota: Quota = field(default_factory=lambda: Quota(CHECKS_EACH, CHECKS))


@dataclass
class _Lookup:
    """A lookup in a thread of a pool."""

    pool: ThreadPoolExecutor
    running: "asyncio.Future[list[str]] | None" = None

    async def find(self, host: str, port: int) -> list[str]:
        """Return the addresses of a host; a caller that stops waiting does not end the lookup."""
        self.running = asyncio.get_running_loop().run_in_executor(self.pool, _look_up, host, port)
        self.running.add_done_callback(lambda ended: ended.cancelled() or ended.exception())  # else asyncio logs it
        return await asyncio.shield(self.running)

    def on_end(self, work: Callable[[], None]) -> None:
        """Call a function when the thread's work has ended, or now."""
        if self.running is None:
            work()
        else:
            self.running.add_done_callback(lambda _: work())

    async def end(self) -> None:
        """Wait for the end of the thread's work."""
        if self.running is not None:
            await asyncio.wait({self.running})


def _tls() -> ssl.SSLContext:
    return httpx.create_ssl_context()


def policy() -> Policy:
    """Return what this installation's settings allow."""
    return Policy(settings().allows_loopback_webhooks, frozenset(settings().webhook_ports))


def _look_up(host: str, port: int) -> list[str]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


async def _addresses(lookup: _Lookup, host: str, port: int, seconds: float) -> list[str]:
    """Return the addresses that a host may be sent to, all checked. Raises Refused if one is not allowed, OSError
    without any in time."""
    names = [host]
    if parse(host) is None:
        async with asyncio.timeout(seconds):
            names = await lookup.find(host, port)
    if not all(_is_allowed(host, name) for name in names):
        raise Refused(f"{host} {NOT_PUBLIC}")
    return names


def _is_allowed(host: str, name: str) -> bool:
    address = parse(name)
    if address is None:
        return False
    return address.is_loopback if is_loopback_host(host) and policy().loopback else is_public(address)


async def check(url: str) -> None:
    """Raise 400 if a URL may not be an endpoint's.

    A name that does not resolve yet is accepted, and so is any name while too many lookups run: it is checked at every
    send.
    """
    to = rules.check_url(url, policy())
    checks, caller = runtime.part(_Checks), fair_places.caller.get()
    if not checks.quota.take(caller):
        return
    lookup = _Lookup(checks.pool)
    try:
        await _addresses(lookup, to.host, to.port, RESOLVING_SECONDS)
    except Refused as error:
        raise BadRequest(
            ("The URL resolves to an address that is not public. Use a public one."), pointer="/url"
        ) from error
    except (OSError, UnicodeError):
        return
    finally:
        lookup.on_end(lambda: checks.quota.give_back(caller))


class _Pinned(httpcore.AsyncNetworkBackend):
    """Connects to the checked addresses, regardless of what the name resolves to by now."""

    def __init__(self, addresses: Sequence[str]) -> None:
        self._addresses = addresses[:ADDRESSES]
        self._network = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109  (the interface's)
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Return a connection to the first address that accepts one."""
        share = TIMEOUT / (len(self._addresses) + 1)
        for address in self._addresses[:-1]:
            try:
                return await self._network.connect_tcp(address, port, share, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                continue
        return await self._network.connect_tcp(self._addresses[-1], port, None, local_address, socket_options)


async def post(url: str, body: bytes, headers: Mapping[str, str]) -> Answer:
    """Send, and return the result. Never raises for what the receiver or the network does."""
    began, lookup = time.monotonic(), _Lookup(runtime.part(_senders))
    status, text, failure = await _try(lookup, url, body, headers)
    answer = Answer(status, text, failure, round((time.monotonic() - began) * 1000))
    await lookup.end()
    return answer


async def _try(
    lookup: _Lookup, url: str, body: bytes, headers: Mapping[str, str]
) -> tuple[int | None, str | None, str | None]:
    try:
        async with asyncio.timeout(TIMEOUT) as limit:
            to = rules.check_url(url, policy())
            addresses = await _resolve(lookup, to)
            return await _exchange(to, addresses, body, headers, limit)
    except TimeoutError:
        return None, None, f"No answer within {TIMEOUT:.0f} seconds"
    except (Refused, BadRequest) as error:
        return None, None, str(error)
    except (socket.gaierror, UnicodeError):
        return None, None, "The host name does not resolve"
    except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.TimeoutException, OSError) as error:
        return None, None, _words(error)


async def _resolve(lookup: _Lookup, to: Target) -> list[str]:
    try:
        return await _addresses(lookup, to.host, to.port, LOOKUP_SECONDS)
    except TimeoutError as error:
        raise Refused(f"The host name did not resolve within {LOOKUP_SECONDS:.0f} seconds") from error


async def _exchange(
    to: Target, addresses: Sequence[str], body: bytes, headers: Mapping[str, str], limit: asyncio.Timeout
) -> tuple[int, str | None, str | None]:
    # A separate pool, closed immediately: a kept connection would outlive the check of its address.
    pool = httpcore.AsyncConnectionPool(
        ssl_context=runtime.part(_tls),
        max_connections=1,
        max_keepalive_connections=0,
        network_backend=_Pinned(addresses),
    )
    sent = [("Host", to.authority), ("Content-Length", str(len(body))), ("Connection", "close"), *headers.items()]
    at = httpcore.URL(scheme=to.scheme.encode(), host=to.host.encode(), port=to.port, target=to.path.encode())
    async with pool, pool.stream("POST", at, headers=sent, content=body) as response:
        limit.reschedule(None)  # answered; the body has its own time limit
        status = int(response.status)
        if rules.is_success(status):
            return status, None, None
        return status, await _beginning(response) if _may_be_read(to.host) else None, _refusal(status)


def _may_be_read(host: str) -> bool:
    """Return whether the log keeps a receiver's answer. Services on this machine would answer anyone who may create a
    webhook, so their answers are kept only if the operator has allowed them by name."""
    return not is_loopback_host(host) or settings().webhook_loopback is True


def _refusal(status: int) -> str:
    if 300 <= status < 400:
        return f"Answered {status}; redirects are not followed"
    return f"Answered {status}; only 2xx is success"


async def _beginning(response: httpcore.Response) -> str:
    """Return the first bytes of a body, as text that the database can store; what arrives too slowly is omitted."""
    kept = bytearray()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for chunk in response.aiter_stream():
                kept += chunk
                if len(kept) >= BODY_BYTES:
                    break
    except (TimeoutError, httpcore.NetworkError, httpcore.ProtocolError, httpcore.TimeoutException):
        pass
    text = bytes(kept[:BODY_BYTES]).decode(errors="replace").replace("\0", "\N{REPLACEMENT CHARACTER}")
    return text.encode()[:BODY_BYTES].decode(errors="ignore")  # a replacement is longer than what it replaces


def _words(error: BaseException) -> str:
    """Return why there was no answer, without internal details."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return f"The certificate was not accepted: {cause.verify_message}"
        if isinstance(cause, ssl.SSLError):
            return "TLS failed"
        cause = cause.__cause__ or cause.__context__
    if isinstance(error, httpcore.ConnectError | httpcore.ConnectTimeout):
        return "The connection failed: nothing accepts connections at this host and port"
    if isinstance(error, httpcore.ProtocolError):
        return "The answer was not HTTP, or ended too early"
    return "The connection broke"
