"""`tabs_500`: what five hundred open tabs of the console cost the server, beside as many of a bare Reflex page.

A browser opens the page once, and what it sent over its socket is sent again by each of the others. The tabs stay open,
answer the server's pings, and read what it sends.
"""

import asyncio
import itertools
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

import aiohttp
import httpx
import psutil
from playwright.async_api import WebSocket, async_playwright

from tests.bench.bare_page import bare_page
from tests.e2e.conftest import Person, Signum
from tests.support.browser import FLAGS, chromium

TABS = 500
ROLES, SESSIONS = ("admin", "compliance_officer", "viewer"), 2
"""Whose tabs they are, each with so many browsers: a browser may have a hundred."""
WARM = 20
"""Tabs that are open before: they load what all share."""
OPENING = 2
"""Tabs that open at a time."""
BETWEEN = 0.1
"""Seconds between the messages of a tab."""
SETTLED = 15.0
"""Seconds after the last tab has opened that are not counted."""
SECONDS = 60.0


@dataclass(frozen=True)
class Spoken:
    """What a browser's tab sent: the URL of its socket, the token in it, and its messages."""

    url: str
    token: str
    messages: tuple[str, ...]


@dataclass(frozen=True)
class Cost:
    """Kilobytes of memory of one tab, and the percentage of a core that all of them use."""

    memory: float
    cpu: float


def measure(home: Path, pids: Callable[[], Iterable[int]], pss: Callable[[int], int]) -> list[dict[str, Any]]:
    """Return a row for memory and one for CPU. `pids` are the processes of the server, `pss` a process's memory."""
    signum = Signum(home)
    people = [signum.person(role) for role in ROLES]
    cookies = [_signed_in(signum.url, person) for person in people for _ in range(SESSIONS)]
    ours = asyncio.run(_cost(f"{signum.url}/o/{signum.organization}/overview", cookies, pids, pss))
    with bare_page() as bare:
        floor = asyncio.run(_cost(bare.url, [""], lambda: [bare.pid, *_below(bare.pid)], pss))
    return [
        {"name": "tabs_500_memory", "value": round(ours.memory, 1), "unit": "kB", "floor": round(floor.memory, 1)}
        | {"ratio_floor": round(ours.memory / floor.memory, 2)},
        {"name": "tabs_500_cpu", "value": round(ours.cpu, 2), "unit": "%", "floor": round(floor.cpu, 2)}
        | {"ratio_floor": round(ours.cpu / max(floor.cpu, 0.01), 2)},
    ]


def _below(pid: int) -> list[int]:
    return [child.pid for child in psutil.Process(pid).children(recursive=True)]


def _signed_in(url: str, person: Person) -> str:
    """Sign in, and return the cookies."""
    form = {"email": person.email, "password": person.password}
    answer = httpx.post(f"{url}/session", data=form, headers={"Origin": url}, trust_env=False)
    return "; ".join(f"{name}={value}" for name, value in answer.cookies.items())


async def _cost(
    page: str, cookies: Sequence[str], pids: Callable[[], Iterable[int]], pss: Callable[[int], int]
) -> Cost:
    spoken, sessions = await _spoken(page, cookies[0]), itertools.cycle(cookies)
    async with aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0), cookie_jar=aiohttp.DummyCookieJar()
    ) as session:
        room = asyncio.Semaphore(OPENING)
        async with asyncio.TaskGroup() as group:
            tabs = list[asyncio.Task[None]]()
            before = 0
            for count in (WARM, TABS):
                opened = asyncio.Barrier(count + 1)
                tabs += [group.create_task(_tab(session, spoken, next(sessions), room, opened)) for _ in range(count)]
                await opened.wait()
                await asyncio.sleep(SETTLED)
                before = before or sum(pss(pid) for pid in pids())
            began, used = time.monotonic(), _used(pids())
            await asyncio.sleep(SECONDS)
            cpu = (_used(pids()) - used) / (time.monotonic() - began) * 100
            after = sum(pss(pid) for pid in pids())
            for tab in tabs:
                tab.cancel()
    return Cost((after - before) / TABS, cpu)


def _used(pids: Iterable[int]) -> float:
    times = [psutil.Process(pid).cpu_times() for pid in pids if psutil.pid_exists(pid)]
    return float(sum(one.user + one.system for one in times))


async def _spoken(page: str, cookies: str) -> Spoken:
    """Open a page in a browser, and return what its tab sent."""
    origin = "{0.scheme}://{0.netloc}".format(urlsplit(page))
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        context = await browser.new_context(viewport={"width": 1440, "height": 900})
        pairs = [pair.partition("=") for pair in cookies.split("; ") if pair]
        await context.add_cookies([{"name": name, "value": value, "url": origin} for name, _, value in pairs])
        tab, sockets = await context.new_page(), list[WebSocket]()
        sent: list[str] = []

        def heard(socket: WebSocket) -> None:
            sockets.append(socket)
            socket.on("framesent", lambda frame: sent.append(str(frame)))

        tab.on("websocket", heard)
        await tab.goto(page)
        await tab.locator("h1").first.wait_for()
        await tab.wait_for_load_state("networkidle")
        await asyncio.sleep(2)
        await browser.close()
    parts = urlsplit(sockets[0].url)
    return Spoken(sockets[0].url, parse_qs(parts.query)["token"][0], tuple(m for m in sent if m != "3"))


async def _tab(
    session: aiohttp.ClientSession, spoken: Spoken, cookies: str, room: asyncio.Semaphore, opened: asyncio.Barrier
) -> None:
    token = str(uuid4())
    url = spoken.url.replace(spoken.token, token)
    headers = {"Cookie": cookies, "Origin": url.replace("ws", "http", 1).partition("/_event")[0]}
    await room.acquire()
    async with await _connected(session, url, headers) as socket, asyncio.TaskGroup() as group:
        group.create_task(_read(socket))
        for message in spoken.messages:
            await socket.send_str(message.replace(spoken.token, token))
            await asyncio.sleep(BETWEEN)
        room.release()
        await opened.wait()


async def _connected(
    session: aiohttp.ClientSession, url: str, headers: dict[str, str]
) -> aiohttp.ClientWebSocketResponse:
    """Connect, again after a refusal of a busy server, as a browser does."""
    while True:
        try:
            return await session.ws_connect(url, headers=headers, compress=15, max_msg_size=0)
        except aiohttp.WSServerHandshakeError:
            await asyncio.sleep(1)


async def _read(socket: aiohttp.ClientWebSocketResponse) -> None:
    """Read what the server sends, and answer the pings of engine.io."""
    async for message in socket:
        if message.data == "2":
            await socket.send_str("3")
    raise ConnectionError("the server closed a tab")
