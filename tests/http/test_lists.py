"""Every list: `q`, sorts with an index, filters by time, an estimated count, and clear refusals."""

import csv
import io
import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import httpx
import pytest
import sqlalchemy as sa
from fastapi import FastAPI
from fastapi.routing import APIRoute, iter_route_contexts
from sqlalchemy.engine import make_url
from sqlmodel import SQLModel

from backend.api import create_api
from backend.core import db
from backend.lists import estimates
from backend.lists.pages import Listing, Page, Parameters
from backend.parties.models import PartyRow
from tests.conftest import World
from tests.http.conftest import Ground, paged_lists
from tests.openapi.operations import CASES, DOCUMENT, Case
from tests.support.firm import Firm

PARTIES = "/v1/identity/parties"
FIXED = {
    "get_cap_table": "largest first, computed from indexed events",
    "get_daily_limits": "one entry per action",
    "get_tree": "by name, after the organization itself",
    "list_access": "by distance, then by name",
    "list_asset_activity": "newest first, read from several tables",
    "list_asset_paths": "every path, read from the chains",
    "list_chains": "every chain",
    "list_connected_applications": "newest first, computed from consents, sessions and keys",
    "list_event_types": "the catalogue's order",
    "list_factors": "all of a person, a few",
    "list_holders": "largest first, computed from transfers",
    "list_linked_wallets": "all of a person, at most 20",
    "list_organization_chains": "every chain",
    "list_organizations": "newest first, computed from the person's roles",
    "list_pending_memberships": "newest first, computed from the person's wallets",
    "list_presets": "every framework",
    "list_held_recipients": "in the order in which they were given",
    "list_recipients": "in the order in which they were given",
    "list_sub_organizations": "newest first, without those that refuse the caller's address",
}
"""Lists that no index could sort, with their order. A new list has a sort, or a line here."""
ROWS = 3_000
"""Rows of the organization in each table."""
SHARE = 4
"""One row in this many belongs to it."""


def lists() -> list[Case]:
    """Return every operation that lists records: pages, and short lists without them."""
    read = [case for case in CASES if case.method == "get" and not case.path.endswith(".csv")]
    found = {str(case): case for case in read if str(case).startswith("list_") or str(case) in FIXED}
    found |= {str(case): case for case in paged_lists()}
    return list(found.values())


def parameters(case: Case) -> dict[str, Any]:
    """Return the query parameters of an operation by name."""
    return {p["name"]: p for p in case.entry.get("parameters", []) if p.get("in") == "query"}


def values(case: Case, name: str) -> list[str]:
    """Return the values that a query parameter can have; none where the operation lacks it."""
    found: list[str] = parameters(case).get(name, {"schema": {}})["schema"].get("enum", [])
    return found


def sorted_lists() -> list[Any]:
    """Return every list with each of its sorts and both orders."""
    return [
        pytest.param(case, sort, order, id=f"{case}-{sort}-{order}")
        for case in lists()
        for sort in values(case, "sort")
        for order in ("asc", "desc")
    ]


@pytest.mark.parametrize("case", lists(), ids=str)
def test_list_has_q_csv_and_a_declared_sort(case: Case) -> None:
    names = parameters(case)
    export = DOCUMENT["paths"][f"{case.path.rstrip('/')}.csv"]["get"]
    assert "q" in names
    assert "text/csv" in export["responses"]["200"]["content"]
    assert {"422"} <= case.entry["responses"].keys()
    assert ("cursor" in names) == ("count" in names)
    if str(case) in FIXED:
        assert not {"sort", "order", "created_after", "updated_after"} & names.keys()
    else:
        assert values(case, "sort"), "declare a sort with an index, or explain its order in FIXED"
        assert values(case, "order") == ["asc", "desc"]
        assert {"created_after", "created_before"} <= names.keys()
        assert ("updated_at" in values(case, "sort")) == ("updated_after" in names)


def listings(api: FastAPI) -> Iterator[tuple[str, Listing]]:
    """Yield the declaration of each list."""
    for route in iter_route_contexts(api.routes):
        if isinstance(route.original_route, APIRoute):
            for dependency in route.original_route.dependant.dependencies:
                if isinstance(dependency.call, Parameters) and not str(route.path).endswith(".csv"):
                    yield str(route.name), dependency.call.listing


@pytest.mark.long
def test_declared_sort_has_an_index() -> None:
    found = dict(listings(create_api()))
    assert len(found) > 30
    for name, listing in found.items():
        for sort, key in {} if listing.is_fixed else listing.sorts.items():
            table = listing.tie.table
            tail = [str(key.compile()), str(listing.tie)] if key is not listing.tie else [str(key)]
            known = [[str(e.compile()) for e in index.expressions] for index in table.indexes]
            known.append([str(c) for c in table.primary_key.columns])
            plain = [[e.replace(f"{table.name}.", "") for e in columns] for columns in known]
            wanted = [e.replace(f"{table.name}.", "") for e in tail]
            assert any(columns[1:] == wanted for columns in plain), f"{name}: no index for sort={sort}"


def records(answer: httpx.Response) -> list[dict[str, Any]]:
    """Return the records of a page; lists of sums, such as those per chain, precede them."""
    assert answer.status_code == 200, answer.text
    found: list[list[dict[str, Any]]] = [value for value in answer.json().values() if isinstance(value, list)]
    return found[-1]


@pytest.mark.long
@pytest.mark.parametrize(("case", "sort", "order"), sorted_lists())
async def test_sorted_list_is_in_order_and_paged_once_each(
    ground: Ground, http: httpx.AsyncClient, case: Case, sort: str, order: str
) -> None:
    async def page(**more: str) -> httpx.Response:
        params = ground.params(case) | {"sort": sort, "order": order} | more
        return await http.get(ground.path(case), params=params, headers=ground.headers)

    whole = records(await page(limit="100"))
    keys = [r[sort].lower() if isinstance(r[sort], str) else r[sort] for r in whole if sort in r]
    assert keys == sorted(keys, reverse=order == "desc")
    walked: list[Any] = []
    cursor: str | None = ""
    while cursor is not None and len(walked) <= len(whole):
        answer = await page(limit="1", **({"cursor": cursor} if cursor else {}))
        walked += records(answer)
        cursor = answer.json()["nextCursor"]
    assert walked == whole
    export = await http.get(
        f"{ground.path(case)}.csv", params=ground.params(case) | {"sort": sort, "order": order}, headers=ground.headers
    )
    rows = list(csv.DictReader(io.StringIO(export.text)))
    assert [row.get("id") or row.get("seq") for row in rows] == [str(r.get("id") or r.get("seq")) for r in whole]


def code_of(record: dict[str, Any]) -> str:
    """Return a text by which a record is found."""
    names = ("id", "hash", "address", "user_id", "type", "name", "action", "chain_eid")
    return str(next(record[name] for name in names if name in record))


@pytest.mark.long
@pytest.mark.parametrize("case", lists(), ids=str)
async def test_q_finds_a_record_and_nothing_for_another_text(
    ground: Ground, http: httpx.AsyncClient, case: Case
) -> None:
    async def found(q: str) -> list[dict[str, Any]]:
        params = ground.params(case) | {"q": q}
        answer = records(await http.get(ground.path(case), params=params, headers=ground.headers))
        export = await http.get(f"{ground.path(case).rstrip('/')}.csv", params=params, headers=ground.headers)
        assert len(list(csv.reader(io.StringIO(export.text)))) == len(answer) + 1
        return answer

    whole = records(await http.get(ground.path(case), params=ground.params(case), headers=ground.headers))
    assert await found("") == whole
    assert await found("nothing has this text") == []
    assert await found("%") == []
    assert await found("_%_") == []
    if whole:
        code = code_of(whole[-1])
        assert code in [code_of(record) for record in await found(code.upper())]


REFUSED = {
    "created_after": ["2026-01-31T12:00:00", "2026-02-30T12:00:00Z", "1767225600", "yesterday", "2026-01-31"],
    "created_before": ["2026-13-01T00:00:00Z", "0000-01-01T00:00:00Z"],
    "updated_after": ["2026-01-31T12:00:00", ""],
    "sort": ["created", "created_at desc", "", "id"],
    "order": ["up", "ASC", ""],
    "count": ["exact", "true", ""],
    "q": ["x" * 101, "a\nb", "\0", "\u202e"],
    "search": ["x"],
}


@pytest.mark.long
@pytest.mark.parametrize("case", lists(), ids=str)
async def test_invalid_or_unsupported_list_parameter_is_a_422(
    ground: Ground, http: httpx.AsyncClient, case: Case
) -> None:
    for name, texts in REFUSED.items():
        for text in texts:
            params = ground.params(case) | {name: text}
            answer = await http.get(ground.path(case), params=params, headers=ground.headers)
            assert answer.status_code == 422, f"{name}={text!r}: {answer.text}"
            problem = answer.json()
            assert problem["detail"].startswith(f"The query parameter {name} ")
            assert [error["pointer"] for error in problem["errors"]] == [f"/{name}"]
    if "created_after" in parameters(case):
        period = {"created_after": "2026-02-01T00:00:00Z", "created_before": "2026-02-01T01:00:00+01:00"}
        answer = await http.get(ground.path(case), params=ground.params(case) | period, headers=ground.headers)
        assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/created_before")


@pytest.mark.parametrize("case", [c for c in lists() if values(c, "sort")], ids=str)
async def test_time_filters_exclude_their_bounds(ground: Ground, http: httpx.AsyncClient, case: Case) -> None:
    async def count(**params: str) -> int:
        params = ground.params(case) | {"limit": "100"} | params
        return len(records(await http.get(ground.path(case), params=params, headers=ground.headers)))

    whole = await count()
    assert await count(created_after="2020-01-01T00:00:00Z", created_before="2120-01-01T00:00:00+02:00") == whole
    assert await count(created_after="2120-01-01T00:00:00Z") == 0
    assert await count(created_before="2020-01-01T00:00:00Z") == 0
    if "updated_after" in parameters(case):
        assert await count(updated_after="2020-01-01T00:00:00Z") == whole
        assert await count(updated_after="2120-01-01T00:00:00Z") == 0


@pytest.mark.parametrize("case", [c for c in lists() if "count" in parameters(c)], ids=str)
async def test_estimated_count_is_there_on_request_only(
    ground: Ground, http: httpx.AsyncClient, case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    params = ground.params(case) | {"limit": "1"}
    whole = records(await http.get(ground.path(case), params=params | {"limit": "100"}, headers=ground.headers))
    answer = await http.get(ground.path(case), params=params | {"count": "estimated"}, headers=ground.headers)
    own_node = 1 if str(case) == "get_tree" else 0
    assert answer.json()["estimatedCount"] == len(whole) - own_node
    none = await http.get(
        ground.path(case), params=params | {"count": "estimated", "q": "no such text"}, headers=ground.headers
    )
    assert none.json()["estimatedCount"] == 0
    for name in ("count", "count_text", "planned"):
        monkeypatch.delattr(estimates, name)
    plain = await http.get(ground.path(case), params=params, headers=ground.headers)
    assert "estimatedCount" not in plain.json()


async def parties(firm: Firm, count: int) -> None:
    """Insert parties, a minute apart."""
    at = db.now()
    rows = [
        PartyRow(
            organization_id=firm.id, name=f"P{n}", country="SWE", created_at=at - timedelta(minutes=n)
        ).model_dump()
        for n in range(count)
    ]
    async with db.worker() as session:
        await session.execute(sa.insert(PartyRow), rows)


async def test_estimated_count_says_nothing_about_other_tenants(
    world: World, http: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    small, large = await Firm.found(world), await Firm.found(world, "Large")
    await parties(small, 3)
    await parties(large, 2_000)
    async with db.worker() as session:
        await session.execute(sa.text("select count(*) from parties"))

    async def count(firm: Firm) -> int:
        params = {"count": "estimated", "limit": "1"}
        return int((await http.get(PARTIES, params=params, headers=firm.key)).json()["estimatedCount"])

    assert (await count(small), await count(large)) == (3, 2_000)
    monkeypatch.setattr(estimates, "EXACT", 100)
    assert await count(small) == 3
    assert await count(large) >= 101


async def test_cursor_of_another_sort_is_a_422(world: World, http: httpx.AsyncClient) -> None:
    firm = await Firm.found(world)
    await parties(firm, 3)

    async def page(**params: str) -> httpx.Response:
        return await http.get(PARTIES, params={"limit": "1", **params}, headers=firm.key)

    cursor = (await page(sort="name", order="asc")).json()["nextCursor"]
    assert (await page(sort="name", order="asc", cursor=cursor)).status_code == 200
    for other in ({}, {"sort": "name"}, {"sort": "updated_at", "order": "asc"}):
        answer = await page(**other, cursor=cursor)
        assert answer.status_code == 422
        assert answer.json()["detail"] == (
            "The query parameter cursor belongs to sort=name and order=asc. "
            "Send these, or start again without a cursor."
        )
    assert (await page(cursor="x")).status_code == 400


@pytest.mark.parametrize("case", [c for c in lists() if "cursor" in parameters(c)], ids=str)
async def test_cursor_of_another_list_is_a_422(ground: Ground, http: httpx.AsyncClient, case: Case) -> None:
    async def page(path: str, **params: str) -> httpx.Response:
        return await http.get(path, params=ground.params(case) | params, headers=ground.headers)

    own, organization = ground.path(case), f"/v1/orgs/{ground.ids['orgId']}"
    others = {f"{organization}/{name}" for name in ("wallets", "members", "sub-orgs", "access")} - {own}
    cursors = [(await page(other, limit="1")).json()["nextCursor"] for other in sorted(others)]
    assert None not in cursors
    a_bridge = "2026-01-31T12:00:00.000000Z"
    for cursor in cursors if case.path.endswith("/bridges") else [*cursors, a_bridge]:
        answer = await page(own, cursor=cursor)
        assert answer.status_code == 422, answer.text
        assert answer.json()["detail"] == (
            "The query parameter cursor belongs to another list. Start again without a cursor."
        )
        assert answer.json()["errors"][0]["pointer"] == "/cursor"


async def test_bridges_cursor_is_a_time_in_the_default_order_only(world: World, http: httpx.AsyncClient) -> None:
    firm = await Firm.found(world)
    path, time = f"/v1/orgs/{firm.id}/bridges", "2026-01-31T12:00:00.000000Z"
    assert (await http.get(path, params={"cursor": time}, headers=firm.key)).status_code == 200
    for params in ({"order": "asc"}, {"sort": "updated_at"}):
        answer = await http.get(path, params=params | {"cursor": time}, headers=firm.key)
        assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/cursor")
    assert (await http.get(path, params={"cursor": "2026-01-31T12:00:00"}, headers=firm.key)).status_code == 400


async def test_search_text_has_no_wildcards(world: World, http: httpx.AsyncClient) -> None:
    firm = await Firm.found(world)
    for name in ("100% Stahl", "100 Stahl", "a_b", "aXb", "back\\slash"):
        await firm.party(None, name=name)

    async def found(q: str) -> set[str]:
        return {p["name"] for p in records(await http.get(PARTIES, params={"q": q}, headers=firm.key))}

    assert await found("0%") == {"100% Stahl"}
    assert await found("A_B") == {"a_b"}
    assert await found("\\") == {"back\\slash"}
    assert await found("stahl") == {"100% Stahl", "100 Stahl"}


def cell(table: sa.Table, column: sa.Column[Any], known: dict[str, str]) -> str:
    """Return the SQL of a made-up value in row `n`. Rows that refer to each other have the same number."""
    target = next((key.column.table.name for key in column.foreign_keys), None)
    if column.name in known:
        return f"case when n % {SHARE} = 0 then '{known[column.name]}'::uuid else md5('other' || n % 9)::uuid end"
    if target or (column.primary_key and isinstance(column.type, sa.Uuid)):
        return f"md5('{target or table.name}' || n)::uuid"
    if isinstance(column.type, sa.Enum):
        return f"'{column.type.enums[0]}'"
    kinds = {
        sa.Uuid: "gen_random_uuid()",
        sa.DateTime: "now() - n * interval '1 second'",
        sa.Boolean: "false",
        sa.Integer: "n",
        sa.Numeric: "n",
        sa.ARRAY: "'{}'",
        sa.JSON: "'[]'",
        sa.LargeBinary: "''",
    }
    kind = column.type.impl if isinstance(column.type, sa.types.TypeDecorator) else column.type
    return next((sql for known_type, sql in kinds.items() if isinstance(kind, known_type)), f"'{column.name[:8]}' || n")


def tables(api: FastAPI) -> list[sa.Table]:
    """Return the tables of the lists, and those that they refer to."""
    own = {listing.tie.table for _, listing in listings(api) if not listing.is_fixed}
    named = {key.column.table for table in own for key in table.foreign_keys}
    return [table for table in SQLModel.metadata.sorted_tables if table in own | named]


def fill(connection: sa.Connection, wanted: list[sa.Table], known: dict[str, str]) -> None:
    """Insert made-up rows into tables, a share of them of one organization, and count them for the planner."""
    connection.execute(sa.text("set local session_replication_role = replica"))  # rows without what they refer to
    for table in wanted:
        columns = [c for c in table.columns if c.computed is None]
        names = ", ".join(f'"{c.name}"' for c in columns)
        cells = ", ".join(cell(table, c, known) for c in columns)
        rows = f"select {cells} from generate_series(100000, {100_000 + SHARE * ROWS}) n"
        connection.execute(sa.text(f"insert into {table.name} ({names}) {rows} on conflict do nothing"))
        connection.execute(sa.text(f"analyze {table.name}"))


@pytest.fixture(scope="module")
def filled(api: FastAPI, ground: Ground, database_url: str) -> Iterator[sa.Connection]:
    """A transaction with thousands of rows in every table of the firm, as its requests see them. It is rolled back."""
    engine = sa.create_engine(make_url(database_url).set(drivername="postgresql+psycopg"))
    ids = ground.ids
    known = {"organization_id": ids["orgId"], "asset_id": ids["assetId"], "market_id": ids["marketId"]}
    known |= {"party_id": ids["partyId"], "endpoint_id": ids["webhookId"]}
    with engine.connect() as connection, connection.begin() as transaction:
        fill(connection, tables(api), known)
        connection.execute(sa.text("set local role signum_app"))
        # Whether sorting a few rows is cheaper depends on what other tests left: the plan shows whether it is needed.
        connection.execute(sa.text("set local enable_sort = off"))
        connection.execute(sa.text("set local enable_incremental_sort = off"))
        connection.execute(
            sa.text("select set_config('app.organization_ids', :org, true), set_config('app.user_id', :person, true)"),
            {"org": ids["orgId"], "person": str(ground.firm.admin.user_id)},
        )
        yield connection
        transaction.rollback()
    engine.dispose()


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the nodes that order the rows of a plan: those of subplans, such as a name by subquery, do not."""
    yield plan
    for inner in plan.get("Plans", []):
        if inner.get("Parent Relationship") not in ("SubPlan", "InitPlan"):
            yield from nodes(inner)


@pytest.mark.long
@pytest.mark.parametrize(("case", "sort", "order"), sorted_lists())
async def test_sort_of_thousands_of_rows_uses_an_index(
    ground: Ground,
    http: httpx.AsyncClient,
    filled: sa.Connection,
    case: Case,
    sort: str,
    order: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[sa.Select[Any]] = []
    own = Page._sorted
    monkeypatch.setattr(Page, "_sorted", lambda page, query: asked.append(own(page, query)) or asked[-1])
    params = ground.params(case) | {"sort": sort, "order": order, "limit": "50"}
    answer = await http.get(ground.path(case), params=params, headers=ground.headers)
    assert answer.status_code == 200, answer.text
    plan = filled.execute(estimates.Explain(asked[0])).scalar_one()[0]["Plan"]
    kinds = [node["Node Type"] for node in nodes(plan)]
    assert not {"Sort", "Incremental Sort"} & set(kinds), json.dumps(plan, indent=1)
    assert any("Index" in kind for kind in kinds)
