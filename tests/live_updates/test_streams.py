"""Many streams, limits, slow readers, heartbeats and the end of a server."""

import asyncio
import os
from contextlib import AsyncExitStack
from typing import Any
from uuid import uuid4

import httpx
import pytest
import sqlalchemy as sa

from backend.core import db
from backend.core.changes import publish
from backend.core.runtime import runtime
from backend.live_updates import hints, streams
from backend.live_updates.streams import Open
from backend.server.connection_guard import raise_file_limit
from backend.users.schemas import Role
from tests.conftest import World
from tests.live_updates.reader import Stream, streaming
from tests.support.firm import Firm
from tests.support.server import served

STREAMS, AT_A_TIME = 1_000, 25


@pytest.fixture
async def firm(world: World) -> Firm:
    return await Firm.found(world)


async def until(condition: Any) -> None:
    """Wait until a condition holds."""
    async with asyncio.timeout(30):
        while not condition():  # noqa: ASYNC110  (the count has no event)
            await asyncio.sleep(0.01)


@pytest.mark.long
@pytest.mark.nightly
async def test_one_process_serves_a_thousand_streams(world: World, firm: Firm, http: httpx.AsyncClient) -> None:
    raise_file_limit()
    cookies = [(await world.person(firm.id, Role.VIEWER)).cookie for _ in range(8)]
    async with AsyncExitStack() as held:
        before, opened = (0, 0), list[Stream]()
        for number in range(0, STREAMS, AT_A_TIME):
            batch = (
                held.enter_async_context(
                    streaming(http, f"/orgs/{firm.id}/events", cookie=cookies[(number + n) % len(cookies)])
                )
                for n in range(AT_A_TIME)
            )
            opened += await asyncio.gather(*batch)
            if len(opened) == AT_A_TIME:
                before = threads(), await connections()  # the pools for other work have started
        assert [stream.response.status_code for stream in opened] == [200] * STREAMS
        assert threads() - before[0] < 20
        assert await connections() - before[1] < 20
        made = await firm.post("/wallets", {"label": "Treasury"})
        events = await asyncio.gather(*(stream.next() for stream in opened))
        assert {event["data"]["id"] for event in events} == {made["id"]}
        assert (await http.get("/v1/health")).json() == {"status": "ok"}
        later = await firm.post("/wallets", {"label": "Later"})
        assert (await opened[0].next())["data"]["id"] == later["id"]
    await until(lambda: runtime.loop_part(Open).shares.narrow.held == 0)


def threads() -> int:
    return len(os.listdir("/proc/self/task"))


async def connections() -> int:
    query = "select count(*) from pg_stat_activity where backend_type = 'client backend'"
    async with db.worker() as session:
        return int(await session.scalar(sa.text(query)) or 0)


async def test_caller_with_too_many_streams_gets_a_429_and_a_full_process_a_503(
    firm: Firm, http: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    shares = runtime.loop_part(Open).shares
    monkeypatch.setattr(shares.narrow, "each", 1)
    path = f"/orgs/{firm.id}/events"
    async with streaming(http, path, **firm.key):
        async with streaming(http, path, **firm.key) as refused:
            assert refused.response.status_code == 429
            assert refused.response.headers["retry-after"] == "30"
        monkeypatch.setattr(shares.narrow, "in_all", 1)
        async with streaming(http, path, cookie=firm.admin.cookie) as full:
            assert full.response.status_code == 503
            assert full.response.headers["content-type"] == "application/problem+json"
    await until(lambda: shares.narrow.held == 0)
    async with streaming(http, path, **firm.key) as free:
        assert free.response.status_code == 200


async def test_few_hierarchies_with_many_streams_leave_some_to_the_others(
    world: World, firm: Firm, http: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    shares, origin = runtime.loop_part(Open).shares, await world.organization("Origin")
    monkeypatch.setattr(shares.narrow, "in_all", 4)
    monkeypatch.setattr(shares, "kept", 2)
    monkeypatch.setattr(shares, "few", 1)
    second, other = await Firm.found(world), await Firm.found(world)
    async with db.worker() as session:
        query = sa.text("update organizations set origin_id = :origin where id = any(:ids)")
        await session.execute(query, {"origin": origin, "ids": [firm.id, second.id]})
    async with AsyncExitStack() as held:

        async def status(of: Firm) -> int:
            stream = await held.enter_async_context(streaming(http, f"/orgs/{of.id}/events", **of.key))
            return stream.response.status_code

        assert [await status(firm) for _ in range(3)] == [200, 200, 503]
        assert await status(second) == 503, "a root of the same origin"
        assert [await status(other) for _ in range(2)] == [200, 503]


async def test_quiet_stream_has_heartbeats_that_move_the_place_to_resume_from(
    world: World, firm: Firm, http: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An event that the caller may not read moves the place too: it is not scanned again."""
    monkeypatch.setattr(runtime.loop_part(Open).limits, "heartbeat_seconds", 0.05)
    person = await world.person(firm.id, Role.VIEWER)
    async with streaming(http, f"/orgs/{firm.id}/events", cookie=person.cookie) as stream:
        await stream.part()
        before = int(stream.last_event_id or 0)
        await firm.post("/api-keys", {"name": "Hidden", "scopes": ["orgs:read"]})
        async with asyncio.timeout(30):
            while int(stream.last_event_id or 0) == before:
                part = await stream.part()
                assert part is not None
                assert part.data == []
        assert b": heartbeat\n" in stream.text


@pytest.mark.long
async def test_reader_that_takes_nothing_is_cut_off_and_resumes(
    firm: Firm, url: str, http: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = runtime.loop_part(Open)
    monkeypatch.setattr(opened.limits, "send_seconds", 0.2)
    host, port = url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port), limit=1_024)
    head = f"GET /v1/orgs/{firm.id}/events HTTP/1.1\r\nHost: {host}\r\nX-Api-Key: {firm.key['x-api-key']}\r\n\r\n"
    writer.write(head.encode())
    await reader.readuntil(b"connected\n")
    async with streaming(http, f"/orgs/{firm.id}/events", **firm.key) as other:
        async with asyncio.timeout(60):
            while opened.shares.narrow.held == 2:
                await publish_large(firm)
                last = await other.next()
        assert last["type"] == "asset.updated"
    writer.close()


async def publish_large(firm: Firm) -> None:
    """Publish an event of 1 MB."""
    fields = dict.fromkeys((f"{n}{'x' * 10_000}" for n in range(100)), "")
    async with db.step(firm.id) as session:
        await publish(session, firm.id, "asset.updated", ("asset", uuid4()), fields, fields)


async def test_stopping_server_ends_streams_with_a_retry(world: World, firm: Firm, api: Any) -> None:
    opened = runtime.loop_part(Open)
    path = f"/orgs/{firm.id}/events"
    async with (
        served(api) as url,
        httpx.AsyncClient(base_url=url, trust_env=False) as http,
        streaming(http, path, **firm.key) as stream,
    ):
        try:
            streams.stop()
            end = await stream.part()
            assert end is not None
            assert 2_000 <= (end.retry or 0) <= 5_000
            assert await stream.part() is None
            async with streaming(http, path, **firm.key) as late:
                assert late.response.status_code == 503
        finally:
            opened.is_stopping = False


async def test_stream_ends_after_its_longest_time(
    firm: Firm, http: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits = runtime.loop_part(Open).limits
    monkeypatch.setattr(limits, "longest_seconds", 0.2)
    monkeypatch.setattr(limits, "heartbeat_seconds", 0.1)
    async with streaming(http, f"/orgs/{firm.id}/events", **firm.key) as stream:
        assert await stream.rest() == []
    assert b"Connect again" in stream.text


async def test_change_during_a_lost_listener_is_not_missed(firm: Firm, http: httpx.AsyncClient) -> None:
    """The database ends the connection that listens; the next one reads everything that has changed since."""
    async with streaming(http, f"/orgs/{firm.id}/events", **firm.key) as stream:
        async with db.worker() as session:
            ended = "select pg_terminate_backend(pid) from pg_stat_activity where application_name = :name"
            await session.execute(sa.text(ended), {"name": hints.NAME})
        made = await firm.post("/wallets", {"label": "Meantime"})
        assert (await stream.next())["data"]["id"] == made["id"]
