"""Allocation of scarce room for request bodies, through the API behind its guard, on real sockets."""

import asyncio
import re
import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from ipaddress import ip_network
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import httpx
import pytest

from backend.auth.secrets import api_key
from backend.core.settings import settings
from backend.server import request_bodies
from backend.server.request_guard import Limits, RequestGuard
from tests.conftest import World
from tests.server.flood import connected, status
from tests.support.server import served

SMALL = 65_536
MEGABYTE = 1_048_576
PATIENCE = 60
REFUSED = re.compile(rb"HTTP/1.1 429 .*\r\nretry-after: 5\r\n", re.DOTALL)
EVERYBODY = "/v1/auth/login"
"""An operation without a credential."""


def head(path: str, length: int | None, address: str = "198.51.100.1", **headers: str) -> bytes:
    """The head of a POST of JSON; chunked without a length."""
    size = "Transfer-Encoding: chunked" if length is None else f"Content-Length: {length}"
    named = {"Host": "localhost", "Content-Type": "application/json", "X-Forwarded-For": address} | headers
    lines = [f"{name}: {value}" for name, value in named.items()]
    return "\r\n".join([f"POST {path} HTTP/1.1", *lines, size, "", ""]).encode()


def chunk(size: int) -> bytes:
    """A part of a chunked body."""
    return b"%x\r\n" % size + b" " * size + b"\r\n"


class Place:
    """The guarded API and connections to it."""

    def __init__(self, guard: RequestGuard, url: str, stack: AsyncExitStack) -> None:
        self.guard, self.url, self._stack = guard, url, stack
        self.port = urlsplit(url).port or 0

    async def sent(self, first: bytes) -> socket.socket:
        """A connection that has sent some bytes and stays open until the test ends."""
        opened = await asyncio.to_thread(connected, self.port, first)
        self._stack.callback(opened.close)
        return opened

    async def post(self, path: str, body: bytes, address: str, **headers: str) -> httpx.Response:
        """Return the response to a whole request, on a separate connection."""
        named = {"x-forwarded-for": address, "content-type": "application/json", "origin": settings().origin}
        async with httpx.AsyncClient(trust_env=False, timeout=PATIENCE) as http:
            return await http.post(f"{self.url}{path}", content=body, headers=named | headers)

    async def refusal(self, path: str, length: int, address: str, **headers: str) -> bytes:
        """Return the response to a body that is refused while it arrives."""
        first = head(path, length, address, Origin=settings().origin, **headers)
        with await self.sent(first + b" " * length) as connection:
            return await answer(connection)

    async def holds(self, count: int) -> None:
        """Wait until the bodies in memory have a number of bytes."""
        async with asyncio.timeout(PATIENCE):
            while self.guard.bodies.held != count:
                await self.post(EVERYBODY, b"", "203.0.113.200")


@asynccontextmanager
async def place(api: Any, **limits: int) -> AsyncIterator[Place]:
    """The API behind its guard."""
    guard = RequestGuard(api, Limits(**limits))
    async with served(guard) as url, AsyncExitStack() as stack:
        yield Place(guard, url, stack)


@pytest.fixture(autouse=True)
def proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """X-Forwarded-For of this machine is trusted."""
    monkeypatch.setattr(settings(), "trusted_proxies", [ip_network("127.0.0.0/8")])


@pytest.fixture
def small_body_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Room for 1 MiB in all: 256 KiB for callers without a credential, 768 KiB for the others, of which a principal has
    192 KiB and a root 384 KiB."""
    monkeypatch.setattr(settings(), "body_bytes", MEGABYTE)
    monkeypatch.setattr(settings(), "body_bytes_each", MEGABYTE)


async def answer(connection: socket.socket) -> bytes:
    """Return everything up to the server's close, even if the server leaves some sent bytes unread."""

    def read() -> bytes:
        parts = []
        with suppress(ConnectionError):
            while part := connection.recv(SMALL):
                parts.append(part)
        return b"".join(parts)

    return await asyncio.to_thread(read)


def padded(body: bytes, size: int) -> bytes:
    """JSON of a given size."""
    return body + b" " * (size - len(body))


FALSE = {
    "nothing": {},
    "key": {"X-Api-Key": api_key()},
    "text": {"X-Api-Key": "sgn_x"},
    "token": {"Authorization": "Bearer made.up.token"},
    "basic": {"Authorization": "Basic eDp5"},
    "cookie": {"Cookie": "signum_session=made-up"},
}


@pytest.mark.parametrize("sent", FALSE.values(), ids=FALSE)
@pytest.mark.parametrize("path", [f"/v1/orgs/{uuid4()}/wallets", EVERYBODY, "/session", "/oauth/decide"])
async def test_large_body_without_a_valid_credential_is_refused_unread(
    world: World, api: Any, sent: dict[str, str], path: str
) -> None:
    """No byte of it is sent, and no 100 Continue invites it."""
    async with place(api) as here:
        kind = "application/json" if path.startswith("/v1/") else "application/x-www-form-urlencoded"
        more = {"Content-Type": kind, "Expect": "100-continue", "Origin": settings().origin}
        first = head(path, 1_000_000, **more, **sent)
        with await here.sent(first) as connection:
            said = await answer(connection)
    assert said.startswith(b"HTTP/1.1 401 ")
    assert b"\r\nwww-authenticate: Bearer" in said
    assert b"application/problem+json" in said


async def test_chunked_body_without_a_valid_credential_ends_at_its_limit(world: World, api: Any) -> None:
    async with place(api) as here:
        with await here.sent(head(EVERYBODY, None) + chunk(SMALL) + chunk(1)) as connection:
            assert (await answer(connection)).startswith(b"HTTP/1.1 401 ")
        with await here.sent(head(EVERYBODY, None) + chunk(SMALL) + b"0\r\n\r\n") as connection:
            assert await asyncio.to_thread(status, connection) == 400


async def test_request_after_a_refused_body_is_not_answered(world: World, api: Any) -> None:
    """The following bytes could be the body or a second request."""
    second = b"GET /v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n"
    async with place(api) as here:
        with await here.sent(head(EVERYBODY, 1_000_000) + second * 100) as connection:
            said = await answer(connection)
    assert said.count(b"HTTP/1.1 ") == 1
    assert said.startswith(b"HTTP/1.1 401 ")


@pytest.mark.long
async def test_large_body_with_a_valid_credential_is_read(world: World, api: Any) -> None:
    acme = await world.organization()
    person, key = await world.person(acme), await world.key(acme)
    path, body = f"/v1/orgs/{acme}/wallets", padded(b'{"label": "Large"}', 1_000_000)
    async with place(api) as here:
        for credential in (key, {"cookie": person.cookie}):
            made = await here.post(path, body, "198.51.100.1", **credential)
            assert made.status_code == 201, made.text
        first = head(path, None, **key, Connection="close")
        text = b"%x\r\n" % len(body) + body + b"\r\n0\r\n\r\n"
        with await here.sent(first) as connection:
            await asyncio.to_thread(connection.sendall, text)
            assert (await answer(connection)).startswith(b"HTTP/1.1 201 ")


async def test_credential_of_one_request_does_not_apply_to_the_next_on_the_connection(world: World, api: Any) -> None:
    acme = await world.organization()
    path, body = f"/v1/orgs/{acme}/wallets", padded(b'{"label": "Large"}', 100_000)
    async with place(api) as here:
        both = head(path, 100_000, **await world.key(acme)) + body + head(path, 100_000)
        with await here.sent(both) as connection:
            said = await answer(connection)
    assert re.findall(rb"HTTP/1.1 (\d+) ", said) == [b"201", b"401"]


async def test_large_body_by_cookie_from_another_origin_is_refused_unread(world: World, api: Any) -> None:
    person = await world.person(acme := await world.organization())
    elsewhere = {"Cookie": person.cookie, "Origin": "https://evil.example"}
    async with place(api) as here:
        with await here.sent(head(f"/v1/orgs/{acme}/wallets", 1_000_000, **elsewhere)) as connection:
            assert (await answer(connection)).startswith(b"HTTP/1.1 403 ")


@pytest.mark.parametrize(
    "kinds", [["text/csvx"], ["image/gif"], ["application/json", "text/csv"], ["application/json", "image/png"]]
)
@pytest.mark.parametrize(
    "rest", [f"orgs/{uuid4()}/assets/{uuid4()}/distributions", f"identity/parties/{uuid4()}/documents"]
)
async def test_file_of_an_undocumented_type_has_the_normal_body_limit(
    world: World, api: Any, kinds: list[str], rest: str
) -> None:
    first = head(f"/v1/{rest}", 8_000_000).replace(
        b"Content-Type: application/json", "\r\n".join(f"Content-Type: {kind}" for kind in kinds).encode()
    )
    async with place(api) as here:
        with await here.sent(first) as connection:
            assert await asyncio.to_thread(status, connection) == 413


@pytest.mark.long
async def test_bodies_without_a_valid_credential_do_not_block_other_writes(
    world: World, api: Any, small_body_limits: None
) -> None:
    acme = await world.organization()
    person, key = await world.person(acme), await world.key(acme)
    path, mine = f"/v1/orgs/{acme}/wallets", b'{"label": "Mine"}'
    sent = list(FALSE.values())
    async with place(api) as here:
        for number in range(4):
            said = await here.refusal(path, 200_000, f"203.0.113.{number}", **sent[number])
            assert said.startswith(b"HTTP/1.1 401 ")
        for number in range(4):
            await here.sent(head(EVERYBODY, SMALL, f"203.0.113.{number}", **sent[number]) + b" " * (SMALL - 1))
        await here.holds(4 * (SMALL - 1))
        refused = await here.post(EVERYBODY, b" " * 100, "203.0.113.200")
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "5")
        for address in ("203.0.113.1", "198.51.100.1"):
            for credential in (key, {"cookie": person.cookie}):
                for body in (mine, padded(mine, 100_000)):
                    made = await here.post(path, body, address, **credential)
                    assert made.status_code == 201, made.text
        refused = await here.post(path, mine, "198.51.100.1", **{"x-api-key": api_key()})
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "5")


@pytest.mark.long
async def test_bodies_of_one_address_do_not_block_signed_in_people(world: World, api: Any) -> None:
    acme = await world.organization()
    person, key = await world.person(acme), await world.key(acme)
    path, body = f"/v1/orgs/{acme}/wallets", b'{"label": "Mine"}'
    async with place(api, bodies_per_address=3) as here:
        for _ in range(3):
            await here.sent(head(EVERYBODY, 1_000) + b" ")
        await here.holds(3)
        assert (await here.post(EVERYBODY, b"{}", "198.51.100.1")).status_code == 429
        for credential in (key, {"cookie": person.cookie}):
            assert (await here.post(path, body, "198.51.100.1", **credential)).status_code == 201
        refused = await here.post(path, body, "198.51.100.1", **{"x-api-key": api_key()})
        assert refused.status_code == 429


async def test_bodies_above_the_total_limit_do_not_block_signed_in_people(world: World, api: Any) -> None:
    acme = await world.organization()
    key = await world.key(acme)
    async with place(api, bodies=3) as here:
        for number in range(3):
            await here.sent(head(EVERYBODY, 1_000, f"203.0.113.{number}") + b" ")
        await here.holds(3)
        assert (await here.post(EVERYBODY, b"{}", "203.0.113.200")).status_code == 429
        made = await here.post(f"/v1/orgs/{acme}/wallets", b'{"label": "Mine"}', "198.51.100.1", **key)
        assert made.status_code == 201


async def test_body_memory_of_a_principal_is_limited_across_addresses(
    world: World, api: Any, small_body_limits: None
) -> None:
    acme = await world.organization()
    person = await world.person(acme)
    key, sibling = await world.key(acme, created_by=person.user_id), await world.key(acme, created_by=person.user_id)
    path, body = f"/v1/orgs/{acme}/wallets", padded(b'{"label": "Mine"}', 100_000)
    async with place(api) as here:
        for number in range(2):
            await here.sent(head(path, 100_000, f"203.0.113.{number}", **key) + b" " * 90_000)
        await here.holds(180_000)
        for same in (key, sibling, {"Cookie": person.cookie}):
            assert REFUSED.match(await here.refusal(path, 100_000, "203.0.113.9", **same))
        assert (await here.post(path, body, "203.0.113.1", **await world.key(acme))).status_code == 201


@pytest.mark.long
async def test_body_memory_of_a_hierarchy_is_limited_across_keys_and_people(
    world: World, api: Any, small_body_limits: None
) -> None:
    root = await world.organization()
    below = await world.organization(parent=root)
    elsewhere = await world.organization()
    person = await world.person(below)
    holders = [await world.key(root), await world.key(below), await world.key(below), {"cookie": person.cookie}]
    body = padded(b'{"label": "Mine"}', 150_000)
    async with place(api) as here:
        for number, holder in enumerate(holders[:3]):
            mine = head(EVERYBODY, 150_000, f"203.0.113.{number}", **holder)
            await here.sent(mine + b" " * 120_000)
        await here.holds(360_000)
        for holder in (await world.key(root), holders[3]):
            assert REFUSED.match(await here.refusal(f"/v1/orgs/{below}/wallets", 150_000, "198.51.100.1", **holder))
        key = await world.key(elsewhere)
        assert (await here.post(f"/v1/orgs/{elsewhere}/wallets", body, "198.51.100.1", **key)).status_code == 201


async def test_body_memory_is_released_after_responses_refusals_and_disconnects(
    world: World, api: Any, small_body_limits: None
) -> None:
    acme = await world.organization()
    key = await world.key(acme)
    path = f"/v1/orgs/{acme}/wallets"
    async with place(api) as here:
        assert (await here.post(path, padded(b'{"label": "1"}', 100_000), "198.51.100.1", **key)).status_code == 201
        assert (await here.refusal(path, 100_000, "198.51.100.1")).startswith(b"HTTP/1.1 401 ")
        with await here.sent(head(path, 150_000, **key) + b" " * 120_000):
            await here.holds(120_000)
            assert REFUSED.match(await here.refusal(path, 100_000, "198.51.100.1", **key))
        with await here.sent(head(EVERYBODY, 60_000) + b" " * 100):
            await here.holds(100)
        await here.holds(0)
        for room in (here.guard.bodies.open, here.guard.bodies.known):
            for shares in (room.bodies, room.memory):
                assert (shares.narrow.names, shares.wide.names, shares.wide.held) == ({}, {}, shares.narrow.held)


async def test_small_body_credential_is_looked_up_only_by_its_operation(
    world: World, api: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_up = []
    own = request_bodies.holder_of

    async def counted(request: object) -> object:
        looked_up.append(request)
        return await own(request)  # type: ignore[arg-type]

    monkeypatch.setattr(request_bodies, "holder_of", counted)
    acme = await world.organization()
    key, path = await world.key(acme), f"/v1/orgs/{acme}/wallets"
    async with place(api) as here:
        for size, times in ((SMALL, 0), (SMALL + 1, 1), (MEGABYTE, 2)):
            made = await here.post(path, padded(b'{"label": "Mine"}', size), "198.51.100.1", **key)
            assert (made.status_code, len(looked_up)) == (201, times)
