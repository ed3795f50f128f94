"""`pages_1m`, `search_1m`, `holders_1m`, `cap_table_1m`, `summary_1m`, `orgs_200k`: the API of a large organization
beside a small one. `row_TABLE`: the bytes of a row with its indexes.

Both are on one database, under row-level security. The API runs in this process, and calls alternate between the two,
so the ratio is that of the work, also on a busy machine. BENCH_ROWS and BENCH_ORGANIZATIONS set smaller sizes.
"""

import asyncio
import os
import secrets
import statistics
import time
from datetime import UTC, datetime
from typing import Any

import httpx
import psycopg
from psycopg.sql import SQL, Identifier, Literal

from backend.client import SignumClient
from backend.core.pagination import encode_parts
from backend.core.settings import settings
from backend.lists.pages import mark_of
from tests.bench import in_process, transfer_blocks
from tests.bench import many_rows_sql as sql
from tests.bench.transfer_blocks import Blocks
from tests.conftest import World
from tests.support.firm import Firm

ROWS = int(os.environ.get("BENCH_ROWS", "1000000"))
ORGANIZATION_ROWS = int(os.environ.get("BENCH_ORGANIZATIONS", "200000"))
FEW = 1_000
"""Rows of the small organization in each table, and the organizations that the other person sees."""
CALLS = 15
LISTS = {
    "requests": ("/v1/orgs/{org}/requests", "created_at", "failed"),
    "parties": ("/v1/identity/parties?organization_id={org}", "created_at", "rejected"),
    "bridges": ("/v1/orgs/{org}/bridges", "created_at", "failed"),
    "transfers": ("/v1/orgs/{org}/transfers", "created_at", "failed"),
    "orders": ("/v1/orgs/{org}/assets/{asset}/markets/{market}/orders", "created_at", "failed"),
    "audit": ("/v1/orgs/{org}/audit", "seq", "member.remove"),
}
"""Path, sort and a rare value of the first filter of each list."""


class Place:
    """An organization with one asset and one market, and rows in each table."""

    def __init__(self, firm: Firm) -> None:
        self.firm = firm
        self.ids = {"org": str(firm.id), "asset": "", "market": "", "token": f"0x{secrets.token_hex(20)}"}

    def path(self, pattern: str) -> str:
        """Return a path of this organization."""
        return pattern.format(**self.ids)

    def fill(self, connection: psycopg.Connection[Any], blocks: Blocks, rows: int, subsidiaries: int) -> None:
        """Insert its rows, with triggers off, and the sums that matter."""
        for table, columns in sql.ONE.items():
            made = connection.execute(f"{sql.insert(table, columns, '1')} returning id".encode(), self.ids)
            self.ids |= {table: str((made.fetchone() or ("",))[0])}
            self.ids |= {"asset": self.ids["assets"], "market": self.ids.get("markets", "")}
        placed = {"first": blocks.first, "began": blocks.began, "blocks": transfer_blocks.NUMBER}
        for table, columns in sql.MANY.items():
            connection.execute(sql.insert(table, columns).encode(), {**self.ids, **placed, "rows": rows})
        for statement in sql.SUMS:
            connection.execute(statement, self.ids)
        below = sql.insert("organizations", sql.SUBSIDIARIES)
        connection.execute(below.encode(), {**self.ids, "rows": subsidiaries})
        connection.execute(sql.CHILDREN, {**self.ids, "rows": subsidiaries})


def measure() -> list[dict[str, Any]]:
    """Return a row for each figure, in milliseconds."""
    return in_process.run(_measured)


async def _measured(url: str) -> list[dict[str, Any]]:
    async with in_process.api() as transport:
        world = World(SignumClient(transport=transport))
        small, large = Place(await Firm.found(world, "Small")), Place(await Firm.found(world, "Large"))
        blocks = await transfer_blocks.mine([place.ids["token"] for place in (small, large)])
        began = time.perf_counter()
        await asyncio.to_thread(_fill, url, blocks, small, large)
        print(f"filled in {time.perf_counter() - began:.0f} s")  # noqa: T201
        async with httpx.AsyncClient(transport=transport, base_url=settings().origin, timeout=300) as http:
            rows = [row async for row in _rows(http, blocks, small, large)]
        return rows + await asyncio.to_thread(_sizes, url)


def _fill(url: str, blocks: Blocks, small: Place, large: Place) -> None:
    with psycopg.connect(url.replace("+psycopg", ""), autocommit=True) as connection:
        connection.execute("set session_replication_role = replica")
        small.fill(connection, blocks, FEW, FEW)
        large.fill(connection, blocks, ROWS, ORGANIZATION_ROWS)
        connection.execute("vacuum analyze")


def _sizes(url: str) -> list[dict[str, Any]]:
    """Return the bytes of a row of each table that was filled, those of its indexes and large values included."""
    with psycopg.connect(url.replace("+psycopg", "")) as connection:
        size = "select pg_total_relation_size({0}::regclass) / count(*) from {1}"
        return [
            {"name": f"row_{table}", "value": int((found.fetchone() or (0,))[0]), "unit": "bytes"}
            for table in (*sql.MANY, "organizations", "token_balances")
            for found in [connection.execute(SQL(size).format(Literal(table), Identifier(table)))]
        ]


async def _rows(http: httpx.AsyncClient, blocks: Blocks, small: Place, large: Place) -> Any:
    for name, (pattern, sort, rare) in LISTS.items():
        for page, query in {"first": {}, "last": None, "filtered": _filter(name, rare)}.items():
            paths = [
                (place, query if query is not None else await _last(http, place, pattern, sort))
                for place in (small, large)
            ]
            yield await _compared(f"pages_1m_{name}_{page}", http, pattern, paths)
    for name, words in {
        "hit": "investor 77",
        "code": "0x828c88f34ecb4c1ca8d89e018c6fad1a81dc9bdb",
        "miss": "nothing has this",
    }.items():
        query = {"q": words}
        yield await _compared(f"search_1m_{name}", http, "/v1/orgs/{org}/search", [(small, query), (large, query)])
    same: list[tuple[Place, dict[str, str]]] = [(small, {}), (large, {})]
    yield await _compared("holders_1m", http, "/v1/orgs/{org}/assets/{asset}/holders", same)
    query = {"block": str(blocks.middle), "chain_eid": sql.EID}
    at_block = [(small, query), (large, query)]
    yield await _compared("holders_1m_at_block", http, "/v1/orgs/{org}/assets/{asset}/holders", at_block)
    yield await _compared("cap_table_1m", http, "/v1/orgs/{org}/assets/{asset}/cap-table", same)
    query = {"as_of": datetime.fromtimestamp(blocks.middle_time, UTC).isoformat()}
    at_time = [(small, query), (large, query)]
    yield await _compared("cap_table_1m_at_time", http, "/v1/orgs/{org}/assets/{asset}/cap-table", at_time)
    yield await _compared("summary_1m", http, "/v1/orgs/{org}/summary", same)
    yield await _compared("orgs_200k_list", http, "/v1/orgs", same)
    query = {"q": "subsidiary 77"}
    yield await _compared("orgs_200k_search", http, "/v1/orgs", [(small, query), (large, query)])


def _filter(name: str, rare: str) -> dict[str, str]:
    return {"action" if name == "audit" else "status": rare}


async def _last(http: httpx.AsyncClient, place: Place, pattern: str, sort: str) -> dict[str, str]:
    """Return the cursor of the last page: what comes after the 51st row from the end."""
    answer = await http.get(
        place.path(pattern), params={"sort": sort, "order": "asc", "limit": "51"}, headers=_of(place)
    )
    records = [value for value in answer.raise_for_status().json().values() if isinstance(value, list)][-1]
    row = records[50]
    parts = ("seq", "desc", str(row["seq"]), str(row["seq"])) if sort == "seq" else (sort, "desc", row[sort], row["id"])
    mark = mark_of(place.path(pattern).partition("?")[0])
    return {"cursor": encode_parts(mark, *parts), "sort": sort}


def _of(place: Place) -> dict[str, str]:
    return {"cookie": place.firm.admin.cookie}


async def _compared(
    name: str, http: httpx.AsyncClient, pattern: str, calls: list[tuple[Place, dict[str, str]]]
) -> dict[str, Any]:
    took: list[list[float]] = [[], []]
    for _ in range(CALLS):
        for times, (place, query) in zip(took, calls, strict=True):
            began = time.perf_counter()
            answer = await http.get(place.path(pattern), params=query, headers=_of(place))
            times.append(time.perf_counter() - began)
            if answer.status_code != 200:
                raise SystemExit(f"{name}: {answer.text}")
            if sum(times) > 30:
                break
    floor, value = (statistics.median(times) * 1000 for times in took)
    row = {
        "name": name,
        "value": round(value, 2),
        "unit": "ms",
        "floor": round(floor, 2),
        "ratio_floor": round(value / floor, 2),
    }
    print(f"{name:<28}{value:10.2f} ms   {value / floor:8.2f} x an organization with {FEW} rows")  # noqa: T201
    return row
