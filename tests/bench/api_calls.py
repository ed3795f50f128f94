"""`list_assets`, `create_party`, `accept_update`, `accept_transfer`: calls with an API key beside bare FastAPI.

The bare application does the same with nothing around it, on the same database: it reads the same 50 assets, or inserts
the same party and commits. Both are called in this process, alternately, so the ratio is that of the work.
"""

import asyncio
import json
import statistics
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any
from uuid import uuid4

import httpx
import psycopg
from fastapi import FastAPI, Request, Response

from backend.client import SignumClient
from backend.core.settings import settings
from tests.bench import in_process
from tests.conftest import World
from tests.support.firm import SEPOLIA
from tests.support.issuance import UNIT, Issuance

CONCURRENCY = 16
ROUNDS = 12
"""Each has CONCURRENCY calls of either side, after one that is not counted."""
ASSETS = 50
_LIST = "select row_to_json(a) from assets a where organization_id = %s order by created_at desc limit 50"
_INSERT = """
  insert into parties (id, organization_id, kind, name, email, country, status, kyc_level, accredited, created_at,
    updated_at)
  select gen_random_uuid(), organization_id, kind, %s, %s, country, 'created', 0, false, now(), now()
  from parties where id = %s
"""
Call = Callable[[], Awaitable[httpx.Response]]


class Pool:
    """Open connections, each used by one call at a time."""

    def __init__(self) -> None:
        self._idle = asyncio.Queue[psycopg.AsyncConnection[Any]]()

    async def fill(self, url: str) -> "Pool":
        """Open a connection for each concurrent call."""
        for _ in range(CONCURRENCY):
            self._idle.put_nowait(await psycopg.AsyncConnection.connect(url))
        return self

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[psycopg.AsyncConnection[Any]]:
        """Lend a connection for a transaction, and commit it."""
        connection = await self._idle.get()
        try:
            yield connection
            await connection.commit()
        finally:
            self._idle.put_nowait(connection)


def bare(pool: Pool, organization: str, party: str) -> FastAPI:
    """Return the application with nothing around the statements."""
    app = FastAPI()

    @app.get("/assets")
    async def assets() -> Response:
        async with pool.connection() as connection:
            rows = await (await connection.execute(_LIST, (organization,))).fetchall()
        return Response(json.dumps([row[0] for row in rows]), media_type="application/json")

    @app.post("/parties", status_code=201)
    async def parties(request: Request) -> Response:
        body = await request.json()
        async with pool.connection() as connection:
            await connection.execute(_INSERT, (body["name"], body["email"], party))
        return Response(json.dumps(body), 201, media_type="application/json")

    return app


def measure() -> list[dict[str, Any]]:
    """Return a row for each call, in milliseconds per call."""
    return in_process.run(_measured)


async def _measured(url: str) -> list[dict[str, Any]]:
    async with in_process.api() as transport:
        firm = await Issuance.ready(World(SignumClient(transport=transport)), SEPOLIA)
        asset = await firm.asset(initial_supply=str(10**6 * UNIT))
        bodies = [{"name": f"Fund {i}", "symbol": f"F{i}", "chain_eid": SEPOLIA} for i in range(ASSETS)]
        for accepted in [await firm.post("/assets", body) for body in bodies]:
            await firm.succeed(accepted["requestId"])
        holder, treasury = await firm.trader(), await firm.treasury()
        party = await firm.verified("0x" + "22" * 20)
        sent = {
            "asset_id": asset["id"], "chain_eid": SEPOLIA, "from_wallet_id": treasury["id"],
            "to_address": holder["address"], "amount": str(UNIT),
        }  # fmt: skip
        pool = await Pool().fill(url.replace("+psycopg", ""))
        async with (
            httpx.AsyncClient(transport=transport, base_url=settings().origin, headers=firm.key, timeout=300) as signum,
            httpx.AsyncClient(
                transport=httpx.ASGITransport(bare(pool, str(firm.id), str(party["id"]))), base_url="http://bare"
            ) as floor,
        ):
            base = f"/v1/orgs/{firm.id}"

            def person() -> dict[str, str]:
                name = uuid4().hex
                return {"name": name, "email": f"{name}@example.com"}

            def listed() -> Awaitable[httpx.Response]:
                return signum.get(f"{base}/assets", params={"limit": str(ASSETS)})

            def created() -> Awaitable[httpx.Response]:
                body = person() | {"organization_id": str(firm.id), "country": "SWE"}
                return signum.post("/v1/identity/parties", json=body)

            def updated() -> Awaitable[httpx.Response]:
                return signum.patch(f"{base}/assets/{asset['id']}", json={"name": f"Fund {uuid4().hex[:8]}"})

            def transferred() -> Awaitable[httpx.Response]:
                return signum.post(f"{base}/transfers", json=sent)

            def read() -> Awaitable[httpx.Response]:
                return floor.get("/assets")

            def inserted() -> Awaitable[httpx.Response]:
                return floor.post("/parties", json=person())

            return [
                await _compared("list_assets", listed, read, CONCURRENCY),
                await _compared("create_party", created, inserted, CONCURRENCY),
                await _compared("accept_update", updated, inserted, 1),
                await _compared("accept_transfer", transferred, inserted, 1),
            ]


async def _compared(name: str, ours: Call, floor: Call, width: int) -> dict[str, Any]:
    took: dict[Call, list[float]] = {ours: [], floor: []}
    for number in range(ROUNDS + 1):
        for call, times in took.items():
            began = time.perf_counter()
            answers = await asyncio.gather(*(call() for _ in range(width)))
            if number:
                times.append((time.perf_counter() - began) * 1000 / width)
            for answer in answers:
                if not answer.is_success:
                    raise SystemExit(f"{name}: {answer.text}")
    value, least = (statistics.median(times) for times in took.values())
    spread = max(took[ours]) - min(took[ours])
    print(f"{name:<24}{value:10.2f} ms   {value / least:6.2f} x bare FastAPI with the same SQL")  # noqa: T201
    return {
        "name": name, "value": round(value, 3), "unit": "ms", "floor": round(least, 3),
        "ratio_floor": round(value / least, 2), "spread": round(spread, 3),
    }  # fmt: skip
