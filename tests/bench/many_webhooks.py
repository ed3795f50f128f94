"""`webhooks_10k`: ten thousand events, from the transactions that publish them to the answers of a receiver.

Beside bare httpx that posts as many bodies to the same receiver, as many at a time.
"""

import asyncio
import multiprocessing
import os
import time
from multiprocessing.connection import Connection
from typing import Any
from uuid import UUID, uuid4

import httpx
import orjson
import psycopg

from backend.client import SignumClient
from backend.core import db
from backend.core.changes import publish
from backend.engine import fair_partitions
from tests.bench import in_process
from tests.conftest import World

EVENTS = int(os.environ.get("BENCH_EVENTS", "10000"))
ENDPOINTS = 10
"""Of as many organizations, with one receiver each."""
TOGETHER = 50
"""Events of one transaction."""
PATIENCE = 1_200.0
_LEFT = "select count(*) filter (where status <> 'succeeded'), count(*) from webhook_deliveries"
_BODY = orjson.dumps(
    {
        "type": "party.verified",
        "timestamp": "2026-01-01T00:00:00.000000Z",
        "data": {"object": "party", "id": str(uuid4()), "organization_id": str(uuid4()), "status": "created"},
    }
)


def measure() -> list[dict[str, Any]]:
    """Return the row."""
    return in_process.run(_measured)


async def _measured(url: str) -> list[dict[str, Any]]:
    ours, theirs = multiprocessing.Pipe()
    receiver = multiprocessing.get_context("spawn").Process(target=_receive, args=(theirs,), daemon=True)
    receiver.start()
    sink = f"http://127.0.0.1:{ours.recv()}/hooks"
    try:
        floor = await _bare(sink)
        async with in_process.api() as transport:
            value = await _delivered(World(SignumClient(transport=transport)), sink, url)
    finally:
        receiver.terminate()
    row = {"name": "webhooks_10k", "value": round(value, 3), "unit": "s", "floor": round(floor, 3), "events": EVENTS}
    row["ratio_floor"] = round(value / floor, 2)
    print(f"webhooks_10k {value:10.2f} s   {EVENTS} events; {row['ratio_floor']} x bare httpx")  # noqa: T201
    return [row]


async def _bare(sink: str) -> float:
    """Return the seconds that httpx takes alone."""
    began, turns = time.perf_counter(), asyncio.Semaphore(ENDPOINTS * fair_partitions.EACH)
    async with httpx.AsyncClient(trust_env=False, timeout=60) as client:

        async def post() -> None:
            async with turns:
                (await client.post(sink, content=_BODY)).raise_for_status()

        await asyncio.gather(*(post() for _ in range(EVENTS)))
    return time.perf_counter() - began


async def _delivered(world: World, sink: str, url: str) -> float:
    """Return the seconds from the first event to the last answer that is recorded."""
    organizations = [await _with_endpoint(world, sink) for _ in range(ENDPOINTS)]
    began = time.perf_counter()
    await asyncio.gather(*(_published(organization, EVENTS // ENDPOINTS) for organization in organizations))
    async with await psycopg.AsyncConnection.connect(url.replace("+psycopg", ""), autocommit=True) as owner:
        while time.perf_counter() - began < PATIENCE:
            left, written = await (await owner.execute(_LEFT)).fetchone() or (0, 0)
            if not left and written == EVENTS:
                return time.perf_counter() - began
            await asyncio.sleep(0.2)
    raise SystemExit(f"webhooks_10k: the deliveries took longer than {PATIENCE:.0f} s")


async def _with_endpoint(world: World, sink: str) -> UUID:
    organization = await world.organization()
    admin = await world.person(organization)
    body = {"url": sink, "event_types": ["party.verified"]}
    await admin.call("POST", f"/orgs/{organization}/webhooks", json=body)
    return organization


async def _published(organization: UUID, count: int) -> None:
    for start in range(0, count, TOGETHER):
        async with db.step(organization) as session:
            for _ in range(min(TOGETHER, count - start)):
                await publish(session, organization, "party.verified", ("party", uuid4()), None, {"status": "created"})


def _receive(pipe: Connection) -> None:
    """Answer every request with 200; send the port."""
    asyncio.run(_serve(pipe))


async def _serve(pipe: Connection) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                length = head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0]
                await reader.readexactly(int(length))
                writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok")
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0, backlog=1024)
    pipe.send(server.sockets[0].getsockname()[1])
    await server.serve_forever()
