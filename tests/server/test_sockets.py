"""Unfinished messages on the console's socket: how many bytes are held, and which connections are cut."""

import asyncio
import os
import socket
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from typing import Any
from urllib.parse import urlsplit

import pytest

from backend.server.request_guard import Limits, RequestGuard
from backend.server.socket_intake import Intake, Watch, connections_to
from tests.conftest import World
from tests.server.flood import connected, handshake, status
from tests.support.server import served

TEXT, CONTINUED, LAST = 0x01, 0x00, 0x80
BOUNDS = {"message_bytes": 200_000, "stranger_message_bytes": 100_000, "unfinished_bytes": 200_000}
PATIENCE = 60


def frame(kind: int, size: int) -> bytes:
    """A masked frame of the letter a."""
    head = struct.pack("!BB", kind, 0x80 | size) if size < 126 else struct.pack("!BBH", kind, 0xFE, size)
    return head + b"\0\0\0\0" + b"a" * size


async def counting(scope: Any, receive: Any, send: Any) -> None:
    """Respond to every message with its length."""
    if scope["type"] != "websocket":
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})
        return
    await receive()
    await send({"type": "websocket.accept"})
    while (message := await receive())["type"] != "websocket.disconnect":
        await send({"type": "websocket.send", "text": f"{len(message['text']):>9}"})


@asynccontextmanager
async def guarded() -> AsyncIterator[tuple[RequestGuard, int]]:
    guard = RequestGuard(counting, Limits(**BOUNDS), [])
    async with served(guard) as url:
        yield guard, urlsplit(url).port or 0


async def opened(port: int, cookie: str = "") -> socket.socket:
    tab = await asyncio.to_thread(connected, port, handshake("t", cookie))
    assert await asyncio.to_thread(status, tab) == 101
    return tab


async def answer(tab: socket.socket) -> bytes:
    """Return the next frame's text, or an empty text at the end."""

    def read() -> bytes:
        tab.settimeout(PATIENCE)
        got = b""
        while len(got) < 11:
            try:
                part = tab.recv(11 - len(got))
            except ConnectionError:
                return b""
            if not part:
                return got
            got += part
        return got[2:].strip()

    return await asyncio.to_thread(read)


async def sent(tab: socket.socket, *frames: bytes) -> None:
    """Send; the tests expect the connection to be cut during this."""

    def send() -> None:
        try:
            tab.sendall(b"".join(frames))
        except ConnectionError:
            return

    await asyncio.to_thread(send)


@pytest.mark.parametrize(("signed_in", "bound"), [(False, 300_000), (True, 400_000)])
async def test_socket_with_an_oversized_unfinished_message_is_closed(world: World, signed_in: bool, bound: int) -> None:
    cookie = (await world.person(await world.organization())).cookie if signed_in else ""
    async with guarded() as (guard, port):
        with closing(await opened(port, cookie)) as tab:
            [most] = guard.watch._watched.values()
            assert most == bound
            count = bound // 50_000 + 3
            await sent(tab, frame(TEXT, 50_000), *[frame(CONTINUED, 50_000)] * count)
            assert await answer(tab) == b""
        async with asyncio.timeout(PATIENCE):
            while guard.watch._watched:  # noqa: ASYNC110  (the server has no other signal)
                await asyncio.sleep(0)


async def test_message_in_fragments_within_the_limit_is_delivered() -> None:
    async with guarded() as (guard, port):
        with closing(await opened(port)) as tab:
            [intake] = guard.watch._watched
            for _ in range(20):
                await sent(tab, frame(TEXT, 40_000), frame(CONTINUED, 40_000), frame(CONTINUED | LAST, 10_000))
                assert await answer(tab) == b"90000"
            assert guard.watch.check() == 0
            assert intake.unfinished <= 20 * 3 * 14


@pytest.mark.parametrize("signed_in", [False, True])
async def test_message_above_the_limit_closes_the_socket(world: World, signed_in: bool) -> None:
    cookie = (await world.person(await world.organization())).cookie if signed_in else ""
    async with guarded() as (_, port):
        with closing(await opened(port, cookie)) as tab:
            await sent(tab, frame(TEXT, 60_000), frame(CONTINUED | LAST, 60_000))
            got = await answer(tab)
            assert got == b"120000" if signed_in else got[:4] == b"\x88\x02" + struct.pack("!H", 1009)


async def test_intake_counts_read_but_undelivered_bytes() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
        own, peer = server.accept()
        with own:
            client.sendall(b"h" * 500)
            assert len(own.recv(500, socket.MSG_WAITALL)) == 500
            client.sendall(b"early")
            assert own.recv(5, socket.MSG_PEEK | socket.MSG_WAITALL) == b"early"
            found = connections_to([peer, ("198.51.100.1", 1)])
            assert list(found) == [peer]
            intake = Intake(found[peer])
            assert intake.unfinished == 0
            client.sendall(b"a" * 50_000)
            own.recv(40_000, socket.MSG_WAITALL)
            assert intake.unfinished == 40_000
            intake.take(30_000)
            assert intake.unfinished == 10_000 - 8
            intake.cut()
            client.settimeout(PATIENCE)
            assert client.recv(1) == b""
            intake.close()


async def test_closed_connection_is_not_found_and_leaks_no_descriptor() -> None:
    before, times = len(os.listdir("/dev/fd")), 50
    for _ in range(times):
        assert await Watch().begin(("198.51.100.1", 1), 1) is None
    assert len(os.listdir("/dev/fd")) < before + times  # other parts of the process open and close some
