"""The way out: one POST to an address that somebody else has chosen.

A name is resolved once, every address it has is judged, and the connection is made to one of exactly those: between
check and use there is nothing to rebind. TLS still verifies the name. Proxies of the environment are not asked (they
would resolve again), redirects are answers like any other, and neither time nor size is the receiver's to choose.
"""

import asyncio
import socket
import ssl
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache

import httpcore
import httpx

from backend.errors import BadRequest
from backend.settings import settings
from backend.webhooks import rules
from backend.webhooks.addresses import is_loopback_host, is_public, parse
from backend.webhooks.rules import Policy, Target

TIMEOUT = 15.0
"""Seconds for everything: name, connection, TLS, request, status line and headers."""
BODY_SECONDS = 2.0
"""Seconds more for the body of an answer: it decides nothing and is kept for the log alone."""
BODY_BYTES = 4_096
"""What is read and kept of an answer's body."""
RESOLVING_SECONDS = 2.0
"""At creation, where a request waits for it."""
ADDRESSES = 4
"""How many of a name's addresses are tried."""
NOT_PUBLIC = "leads to an address that is not public; nothing was sent"


class Refused(Exception):
    """We do not connect there; the message says why."""


@dataclass(frozen=True)
class Answer:
    """What came back. `status` is None where nothing did; `failure` is why, in words for the log."""

    status: int | None
    body: str | None
    failure: str | None
    milliseconds: int


@lru_cache(maxsize=1)
def _resolvers() -> ThreadPoolExecutor:
    """Threads of their own: a name server that does not answer must not hold up the ones everything else shares."""
    return ThreadPoolExecutor(16, thread_name_prefix="webhook-names")


@lru_cache(maxsize=1)
def _tls() -> ssl.SSLContext:
    return httpx.create_ssl_context()


def policy() -> Policy:
    """What this installation's settings allow."""
    return Policy(settings().allows_loopback_webhooks, frozenset(settings().webhook_ports))


def _look_up(host: str, port: int) -> list[str]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


async def addresses_of(host: str, port: int) -> list[str]:
    """The addresses that a host may be sent to, all judged. Refused where one of them may not, OSError without any."""
    if parse(host) is None:
        names = await asyncio.get_running_loop().run_in_executor(_resolvers(), _look_up, host, port)
    else:
        names = [host]
    if not all(_is_allowed(host, name) for name in names):
        raise Refused(f"{host} {NOT_PUBLIC}")
    return names


def _is_allowed(host: str, name: str) -> bool:
    address = parse(name)
    if address is None:
        return False
    return address.is_loopback if is_loopback_host(host) and policy().loopback else is_public(address)


async def check(url: str) -> None:
    """400 where a URL may not be an endpoint's. A name that leads nowhere yet is taken: it is judged at every send."""
    to = rules.check_url(url, policy())
    try:
        async with asyncio.timeout(RESOLVING_SECONDS):
            await addresses_of(to.host, to.port)
    except Refused as error:
        raise BadRequest("The URL leads to an address that is not public.", pointer="/url") from error
    except (OSError, TimeoutError, UnicodeError):
        return


class _Pinned(httpcore.AsyncNetworkBackend):
    """Connects to the addresses that were judged, whatever the name would lead to by now."""

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
        """A connection to the first address that takes one."""
        share = TIMEOUT / (len(self._addresses) + 1)
        for address in self._addresses[:-1]:
            try:
                return await self._network.connect_tcp(address, port, share, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                continue
        return await self._network.connect_tcp(self._addresses[-1], port, None, local_address, socket_options)


async def post(url: str, body: bytes, headers: Mapping[str, str]) -> Answer:
    """Send, and say what came of it. Never raises for what the receiver or the network does."""
    began = time.monotonic()
    status, text, failure = await _try(url, body, headers)
    return Answer(status, text, failure, round((time.monotonic() - began) * 1000))


async def _try(url: str, body: bytes, headers: Mapping[str, str]) -> tuple[int | None, str | None, str | None]:
    try:
        async with asyncio.timeout(TIMEOUT) as limit:
            to = rules.check_url(url, policy())
            addresses = await addresses_of(to.host, to.port)
            return await _exchange(to, addresses, body, headers, limit)
    except TimeoutError:
        return None, None, f"No answer within {TIMEOUT:.0f} seconds"
    except (Refused, BadRequest) as error:
        return None, None, str(error)
    except (socket.gaierror, UnicodeError):
        return None, None, "The name of the host leads nowhere"
    except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.TimeoutException, OSError) as error:
        return None, None, _words(error)


async def _exchange(
    to: Target, addresses: Sequence[str], body: bytes, headers: Mapping[str, str], limit: asyncio.Timeout
) -> tuple[int, str | None, str | None]:
    # A pool of its own, closed at once: a connection that is kept would outlive what was judged.
    pool = httpcore.AsyncConnectionPool(
        ssl_context=_tls(), max_connections=1, max_keepalive_connections=0, network_backend=_Pinned(addresses)
    )
    sent = [("Host", to.authority), ("Content-Length", str(len(body))), ("Connection", "close"), *headers.items()]
    at = httpcore.URL(scheme=to.scheme.encode(), host=to.host.encode(), port=to.port, target=to.path.encode())
    async with pool, pool.stream("POST", at, headers=sent, content=body) as response:
        limit.reschedule(None)  # answered; the body has a time of its own
        text = await _beginning(response) if _may_be_read(to.host) else None
        status = int(response.status)
        return status, text, None if rules.is_success(status) else _refusal(status)


def _may_be_read(host: str) -> bool:
    """Whether the log keeps what a receiver answered. Services of this machine answer whoever may make a webhook, so
    theirs is kept only where the operator has allowed them by name."""
    return not is_loopback_host(host) or settings().webhook_loopback is True


def _refusal(status: int) -> str:
    if 300 <= status < 400:
        return f"Answered {status}; redirects are not followed"
    return f"Answered {status}; only 2xx is success"


async def _beginning(response: httpcore.Response) -> str:
    """The first bytes of a body, as text that the database can keep; what comes too slowly is left out."""
    kept = bytearray()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for chunk in response.aiter_stream():
                kept += chunk
                if len(kept) >= BODY_BYTES:
                    break
    except (TimeoutError, httpcore.NetworkError, httpcore.ProtocolError, httpcore.TimeoutException):
        pass
    return bytes(kept[:BODY_BYTES]).decode(errors="replace").replace("\0", "\N{REPLACEMENT CHARACTER}")


def _words(error: BaseException) -> str:
    """Why there was no answer, without what only our side would understand."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return f"The certificate was not accepted: {cause.verify_message}"
        if isinstance(cause, ssl.SSLError):
            return "TLS failed"
        cause = cause.__cause__ or cause.__context__
    if isinstance(error, httpcore.ConnectError | httpcore.ConnectTimeout):
        return "No connection could be made"
    if isinstance(error, httpcore.ProtocolError):
        return "The answer was not HTTP, or ended too early"
    return "The connection broke"
