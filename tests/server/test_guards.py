"""The guards around the server, with small limits: bodies, sockets and connections of one address."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from ipaddress import ip_network
from typing import Any
from unittest.mock import AsyncMock
from urllib.parse import urlsplit

import httpx
import pytest
from fastapi import Request
from sqlalchemy.exc import TimeoutError as NoConnectionFree

from backend.limits.concurrency import Holder
from backend.server import connection_guard, request_bodies, request_guard
from backend.server.connection_guard import Connection, surplus
from backend.server.request_guard import VISITOR, Limits, RequestGuard
from tests.conftest import World
from tests.server.flood import connected, handshake, slow_body, status
from tests.support.server import served

ALL = ip_network("0.0.0.0/0")


@asynccontextmanager
async def guarded(app: Any, **limits: Any) -> AsyncIterator[int]:
    """The port of an application behind its guard."""
    async with served(RequestGuard(app, Limits(**limits), [])) as url:
        yield urlsplit(url).port or 0


async def echo(scope: Any, receive: Any, send: Any) -> None:
    """Accept sockets, and respond to requests with the size of their bodies."""
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.accept", "headers": [(b"x-who", str(scope[VISITOR].session).encode())]})
        while (await receive())["type"] != "websocket.disconnect":
            pass
        return
    size, more = 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        size, more = size + len(message["body"]), message["more_body"]
    text = str(size).encode()
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(text))]})
    await send({"type": "http.response.body", "body": text})


def drained(connection: socket.socket) -> None:
    """Read to the end; TimeoutError if the connection stays open."""
    while connection.recv(1_000):
        continue


async def whole(connection: socket.socket) -> bytes:
    """Return everything up to the other side's close."""

    def read() -> bytes:
        connection.settimeout(60)
        parts = []
        while part := connection.recv(65_536):
            parts.append(part)
        return b"".join(parts)

    return await asyncio.to_thread(read)


async def test_slow_body_is_answered_and_its_connection_closed(api: Any) -> None:
    async with guarded(api, body_seconds=0.5) as port:
        with await asyncio.to_thread(connected, port, slow_body()) as slow:
            answer = await whole(slow)
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b"application/problem+json" in answer
    assert b"Request Timeout" in answer


@pytest.mark.parametrize(
    ("headers", "body", "said"),
    [
        ("Content-Length: 3\r\n", b"abc", b"3"),
        ("Transfer-Encoding: chunked\r\n", b"4\r\nabcd\r\n0\r\n\r\n", b"4"),
        ("Content-Length: 3\r\nTransfer-Encoding: chunked\r\n", b"4\r\nabcd\r\n0\r\n\r\n", b"4"),
        ("Content-Length: 3\r\nContent-Length: 4\r\n", b"abcd", None),
        ("Content-Length: +3\r\n", b"abc", None),
        ("Transfer-Encoding: xchunked\r\n", b"4\r\nabcd\r\n0\r\n\r\n", None),
        ("Transfer-Encoding : chunked\r\n", b"4\r\nabcd\r\n0\r\n\r\n", None),
    ],
)
async def test_body_with_ambiguous_framing_is_rejected(headers: str, body: bytes, said: bytes | None) -> None:
    """Otherwise a proxy and the server could read the same bytes as different requests."""
    head = f"POST / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}\r\n".encode()
    async with guarded(echo) as port:
        with await asyncio.to_thread(connected, port, head + body) as connection:
            answer = await whole(connection)
    assert answer.count(b"HTTP/1.1 ") == 1
    if said is None:
        assert answer.startswith(b"HTTP/1.1 400 ")
    else:
        assert answer.startswith(b"HTTP/1.1 200 ")
        assert answer.endswith(b"\r\n\r\n" + said)


@pytest.mark.parametrize("path", ["/session", "/oauth/decide", "/v1/oauth/token"])
async def test_slow_form_is_answered(api: Any, path: str) -> None:
    async with guarded(api, body_seconds=0.5) as port:
        with await asyncio.to_thread(connected, port, slow_body(path)) as slow:
            assert (await whole(slow)).startswith(b"HTTP/1.1 408 ")


async def test_large_body_deadline_follows_its_length(monkeypatch: pytest.MonkeyPatch) -> None:
    async def holder(request: Request) -> Holder:
        return Holder((request.headers["x-api-key"],))

    monkeypatch.setattr(request_bodies, "holder_of", holder)
    async with guarded(echo, body_seconds=0.0, body_rate=1_000_000) as port:
        url = f"http://127.0.0.1:{port}/"
        async with httpx.AsyncClient(trust_env=False, headers={"x-api-key": "key:1"}) as http:
            assert (await http.post(url, content=b"x" * 20_000_000)).text == "20000000"


async def test_bodies_per_address_are_limited_and_released(api: Any) -> None:
    async with guarded(api, bodies_per_address=3) as port:
        slow = [await asyncio.to_thread(connected, port, slow_body()) for _ in range(3)]
        url = f"http://127.0.0.1:{port}/v1"
        async with httpx.AsyncClient(trust_env=False) as http, asyncio.timeout(60):
            while (refused := await http.post(f"{url}/auth/login", json={})).status_code != 429:
                continue
            assert refused.json()["status"] == 429
            assert refused.headers["retry-after"] == "5"
            assert (await http.get(f"{url}/health")).status_code == 200
            for connection in slow:
                connection.close()
            while (await http.post(f"{url}/auth/login", json={})).status_code == 429:
                continue


async def test_sockets_are_counted_by_session_or_by_stranger_address(world: World) -> None:
    person = await world.person(await world.organization())
    limits = {"sockets_per_session": 2, "strangers_per_address": 1, "linger_seconds": 0.0}
    async with guarded(echo, **limits) as port:

        async def tab(cookie: str) -> tuple[int, socket.socket]:
            opened = await asyncio.to_thread(connected, port, handshake("t", cookie))
            return await asyncio.to_thread(status, opened), opened

        strangers = [await tab(""), await tab("signum_session=made-up"), await tab('signum_session="')]
        assert [code for code, _ in strangers] == [101, 403, 403]
        tabs = [await tab(person.cookie) for _ in range(3)]
        assert [code for code, _ in tabs] == [101, 101, 403]
        strangers[0][1].close()
        async with asyncio.timeout(60):
            while (again := await tab(""))[0] != 101:
                again[1].close()
        for _, opened in [*strangers, *tabs, again]:
            opened.close()


async def test_socket_whose_session_cannot_be_looked_up_is_refused_and_no_stranger(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    person = await world.person(await world.organization())
    async with guarded(echo, strangers_per_address=1) as port:

        async def tab(cookie: str) -> int:
            opened = await asyncio.to_thread(connected, port, handshake("t", cookie))
            try:
                return await asyncio.to_thread(status, opened)
            finally:
                opened.close()

        with monkeypatch.context() as busy:
            busy.setattr(request_guard, "by_cookie", AsyncMock(side_effect=NoConnectionFree))
            assert [await tab(person.cookie) for _ in range(3)] == [403] * 3
        assert await tab("") == 101, "none of them counts as a stranger"
        assert await tab(person.cookie) == 101


async def test_sockets_of_a_person_count_across_sessions(world: World) -> None:
    acme = await world.organization()
    person, other = await world.person(acme), await world.person(acme)
    second = await world.sign_in(person.email)
    async with guarded(echo, sockets_per_session=2, sockets_per_person=3) as port:

        async def tab(cookie: str) -> tuple[int, socket.socket]:
            opened = await asyncio.to_thread(connected, port, handshake("t", cookie))
            return await asyncio.to_thread(status, opened), opened

        cookies = [person.cookie, person.cookie, person.cookie, second, second, other.cookie]
        tabs = [await tab(cookie) for cookie in cookies]
        assert [code for code, _ in tabs] == [101, 101, 403, 101, 403, 101]
        tabs[0][1].close()
        async with asyncio.timeout(60):
            while (again := await tab(second))[0] != 101:
                again[1].close()
        for _, opened in [*tabs, again]:
            opened.close()


async def test_stranger_socket_is_closed_at_its_deadline(world: World) -> None:
    person = await world.person(await world.organization())
    async with guarded(echo, stranger_seconds=0.3) as port:
        with await asyncio.to_thread(connected, port, handshake("t", person.cookie)) as known:
            with await asyncio.to_thread(connected, port, handshake("t")) as stranger:
                assert b" 101 " in (await whole(stranger)).splitlines()[0]
            assert await asyncio.to_thread(status, known) == 101
            known.settimeout(0.1)
            with pytest.raises(TimeoutError):
                await asyncio.to_thread(drained, known)


def connection(file: int, address: str | None, idle: float) -> Connection:
    return Connection(file, address, idle)


def test_address_with_too_many_connections_loses_its_longest_idle_ones() -> None:
    many = [connection(n, "198.51.100.7", float(n)) for n in range(10)]
    few = [connection(100 + n, "198.51.100.8", 900.0) for n in range(3)]
    proxied = [connection(200 + n, None, 900.0) for n in range(20)]
    closed = surplus([*many, *few, *proxied], capacity=1_000, per_address=4)
    assert sorted(one.file for one in closed) == [4, 5, 6, 7, 8, 9]


def test_nearly_full_server_closes_the_longest_idle_connections() -> None:
    busy = [connection(n, None, 0.1) for n in range(60)]
    idle = [connection(100 + n, None, 10.0 + n) for n in range(30)]
    closed = surplus([*busy, *idle], capacity=100, per_address=4)
    assert sorted(one.file for one in closed) == list(range(115, 130))
    assert surplus(busy, capacity=100, per_address=4) == []


async def test_connections_of_one_address_are_counted_and_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection_guard, "_is_exempt", lambda peer, proxies: any(peer in str(p) for p in proxies))
    async with served(echo) as url:
        port = urlsplit(url).port or 0
        opened = [await asyncio.to_thread(connected, port) for _ in range(8)]
        closed = 0
        async with asyncio.timeout(60):
            while closed < 5:  # a closed connection may be counted until the server has released it
                closed += await asyncio.to_thread(connection_guard.sweep, port, 1_000, [], 3)
        ended = 0
        for one in opened:
            one.settimeout(0.5)
            try:
                ended += one.recv(1) == b""
            except TimeoutError:
                continue
            except ConnectionError:
                ended += 1
        assert ended == 5
        async with httpx.AsyncClient(trust_env=False) as http:
            assert (await http.get(f"{url}/sign-in")).status_code == 200
        for one in opened:
            one.close()


def until(connection: socket.socket, text: bytes) -> None:
    """Read up to a text."""
    got = b""
    while text not in got:
        part = connection.recv(1_000)
        assert part, got
        got += part


def idle_of(port: int) -> dict[int, float]:
    """Return the idle seconds of the connections to a port, by their clients' ports."""
    found = {}
    for one, own in connection_guard._held(port, []):
        with own:
            found[own.getpeername()[1]] = one.idle
    return found


async def test_event_stream_in_use_is_closed_after_idle_connections() -> None:
    sent = asyncio.Event()

    async def streaming(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        if scope["path"] != "/stream":
            await send({"type": "http.response.body", "body": b""})
            return
        await send({"type": "http.response.body", "body": b"first", "more_body": True})
        await sent.wait()
        await send({"type": "http.response.body", "body": b"second", "more_body": True})
        await receive()
        await receive()

    async with served(streaming) as url:
        port = urlsplit(url).port or 0
        stream = await asyncio.to_thread(connected, port, b"GET /stream HTTP/1.1\r\nHost: x\r\n\r\n")
        await asyncio.to_thread(until, stream, b"first")
        silent = await asyncio.to_thread(connected, port)
        with stream, silent:
            async with asyncio.timeout(60):
                while idle_of(port).get(silent.getsockname()[1], 0.0) < 0.2:  # noqa: ASYNC110 - the kernel counts
                    await asyncio.sleep(0)
            sent.set()
            await asyncio.to_thread(until, stream, b"second")
            idle = idle_of(port)
            assert idle[stream.getsockname()[1]] < idle[silent.getsockname()[1]]


def test_proxies_and_local_connections_are_not_counted_by_address() -> None:
    assert connection_guard._is_exempt("127.0.0.1", [])
    assert connection_guard._is_exempt("::1", [])
    assert connection_guard._is_exempt("10.0.0.1", [ip_network("10.0.0.0/8")])
    assert not connection_guard._is_exempt("198.51.100.7", [ip_network("10.0.0.0/8")])
