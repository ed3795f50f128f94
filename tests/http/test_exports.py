"""Lists: paged completely even if all rows have the same time, and as CSV with the list's own scope and filters."""

import csv
import io
from datetime import timedelta
from typing import Any
from uuid import uuid4

import httpx
import pytest
import sqlalchemy as sa
from sqlalchemy.engine import make_url
from sqlmodel import SQLModel

from backend.auth.scopes import Scope
from backend.core import db
from backend.exports import csv_lists
from backend.parties.models import PartyRow
from tests.conftest import World
from tests.http.conftest import Ground, paged_lists
from tests.openapi.operations import DOCUMENT, Case
from tests.support.firm import Firm

PARTIES = "/v1/identity/parties"


def table(answer: httpx.Response) -> list[dict[str, str]]:
    """Return the records of a CSV."""
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    return list(csv.DictReader(io.StringIO(answer.text)))


def test_lists_have_a_csv_export() -> None:
    paths = DOCUMENT["paths"]
    assert len(paged_lists()) > 20
    for case in paged_lists():
        sibling = paths[f"{case.path}.csv"]["get"]
        assert sibling["security"] == case.entry["security"]
        assert list(sibling["responses"]["200"]["content"]) == ["text/csv"]
        names = {p["name"] for p in case.entry.get("parameters", [])} - {"limit", "cursor", "count"}
        assert {p["name"] for p in sibling.get("parameters", [])} == names


@pytest.mark.long
@pytest.mark.parametrize("case", paged_lists(), ids=str)
async def test_csv_export_has_every_record_of_its_list(
    ground: Ground, http: httpx.AsyncClient, case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(csv_lists, "ROWS", 2)
    params = ground.params(case)
    headers = {"cookie": ground.firm.admin.cookie}
    listed = await http.get(ground.path(case), params=params | {"limit": "100"}, headers=headers)
    assert listed.status_code == 200, listed.text
    *_, records = [v for v in listed.json().values() if isinstance(v, list)]
    answer = await http.get(f"{ground.path(case)}.csv", params=params, headers=headers)
    rows = table(answer)
    assert answer.headers["content-disposition"].startswith("attachment; filename=")
    assert len(rows) == len(records)
    for row, record in zip(rows, records, strict=True):
        for name in row.keys() & record.keys():
            if isinstance(record[name], str):
                assert row[name] in (record[name], f"'{record[name]}")
            elif record[name] is None:
                assert row[name] == ""
        for name in ("id", "user_id"):
            assert row.get(name, "") == str(record.get(name, ""))


@pytest.fixture(scope="module")
def same_creation_time(ground: Ground, database_url: str) -> Ground:
    """All rows of the organization, and the organizations below it, have the same time: only ids distinguish them."""
    tables = [t for t in SQLModel.metadata.sorted_tables if {"organization_id", "created_at"} <= set(t.columns.keys())]
    engine = sa.create_engine(make_url(database_url).set(drivername="postgresql+psycopg"))
    values = {"time": db.now(), "org": ground.ids["orgId"]}
    with engine.begin() as connection:
        for table in (t.name for t in tables if not t.name.startswith("audit")):
            connection.execute(sa.text(f"update {table} set created_at = :time where organization_id = :org"), values)
        connection.execute(
            sa.text("update organizations set created_at = :time where id = :org or parent_id = :org"), values
        )
        connection.execute(
            sa.text(
                "update sessions set created_at = :time where user_id in"
                " (select user_id from members where organization_id = :org)"
            ),
            values,
        )
    engine.dispose()
    return ground


@pytest.mark.long
@pytest.mark.parametrize("limit", [1, 2])
@pytest.mark.parametrize("case", paged_lists(), ids=str)
async def test_list_rows_created_at_the_same_time_are_paged_once_each(
    same_creation_time: Ground, http: httpx.AsyncClient, case: Case, limit: int
) -> None:
    params = same_creation_time.params(case)
    headers = {"cookie": same_creation_time.firm.admin.cookie}

    async def page(**more: str) -> tuple[list[Any], str | None]:
        answer = await http.get(same_creation_time.path(case), params=params | more, headers=headers)
        assert answer.status_code == 200, answer.text
        records = next(v for k, v in answer.json().items() if isinstance(v, list))
        return records, answer.json()["nextCursor"]

    whole, _ = await page(limit="100")
    walked, cursor = await page(limit=str(limit))
    while cursor is not None:
        assert len(walked) <= len(whole), "paging does not end"
        rows, cursor = await page(limit=str(limit), cursor=cursor)
        walked += rows
    assert walked == whole


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("=1+1", "'=1+1"),
        ("-5 %", "'-5 %"),
        ("\t=1+1", "'\t'=1+1"),
        ("a;=1+1", "a;'=1+1"),
        ('a; "=1+1', "a;' \"=1+1"),
        ("a\tb\t@SUM(1)", "a\tb\t'@SUM(1)"),
        ("a\r\n+1", "a\r\n'+1"),
        ("\uff1d1+1", "'\uff1d1+1"),
        ("a;\uff0b1", "a;'\uff0b1"),
        ("\ufe631", "'\ufe631"),
        ("\u22125", "'\u22125"),
        ("  =1+1", "'  =1+1"),
        ("Northwind - a harbour; 5 % = 1/20", "Northwind - a harbour; 5 % = 1/20"),
        ("a@example.com", "a@example.com"),
    ],
)
def test_csv_cell_is_never_a_formula(text: str, written: str) -> None:
    assert csv_lists.cell(text) == written


async def test_csv_formula_after_a_semicolon_is_text(world: World, http: httpx.AsyncClient) -> None:
    firm = await Firm.found(world)
    await firm.party(name="a;=1+1")
    answer = await http.get(
        f"{PARTIES}.csv", params={"organization_id": str(firm.id)}, headers={"cookie": firm.admin.cookie}
    )
    assert [row["name"] for row in table(answer)] == ["a;'=1+1"]


async def test_csv_export_applies_filters_scopes_and_organizations(world: World, http: httpx.AsyncClient) -> None:
    firm, other = await Firm.found(world), await Firm.found(world, "Other")
    await firm.party(name="Ann"), await firm.verified(None)
    mine = {"cookie": firm.admin.cookie}
    of_firm = {"organization_id": str(firm.id)}
    rows = table(await http.get(f"{PARTIES}.csv", params={**of_firm, "status": "verified"}, headers=mine))
    assert [r["name"] for r in rows] == ["Marta Lindqvist"]
    assert (await http.get(f"{PARTIES}.csv", params={**of_firm, "status": "x"}, headers=mine)).status_code == 400
    foreign = await http.get(f"{PARTIES}.csv", params=of_firm, headers={"cookie": other.admin.cookie})
    assert foreign.status_code == 403
    narrow = await world.key(firm.id, Scope.ORGS_READ)
    assert (await http.get(f"{PARTIES}.csv", headers=narrow)).json()["scope"] == "attestations:read"
    assert (await http.get(f"{PARTIES}.csv")).status_code == 401
    missing = f"/v1/orgs/{firm.id}/assets/{uuid4()}/holders.csv"
    assert (await http.get(missing, headers=mine)).status_code == 404


@pytest.mark.long
async def test_csv_rows_created_at_the_same_time_are_exported_once_each(world: World, http: httpx.AsyncClient) -> None:
    firm = await Firm.found(world)
    at = db.now()
    async with db.worker() as session:
        rows = [
            PartyRow(organization_id=firm.id, name=f"P{n}", country="SWE", created_at=at).model_dump()
            for n in range(250)
        ]
        await session.execute(sa.insert(PartyRow), rows)
    seen: list[str] = []
    params = {"organization_id": str(firm.id), "limit": "7"}
    while True:
        answer = (await http.get(PARTIES, params=params, headers=firm.key)).json()
        seen += [p["id"] for p in answer["parties"]]
        if answer["nextCursor"] is None:
            break
        params["cursor"] = answer["nextCursor"]
    assert seen == sorted((str(r["id"]) for r in rows), reverse=True)


async def test_csv_export_escapes_formulas_and_quotes(world: World, http: httpx.AsyncClient) -> None:
    firm = await Firm.found(world)
    names = ['=HYPERLINK("http://evil.example","x")', "+1", "-2+3", "@SUM(A1)", 'Plain, with "quotes"', "Åsa", "O'Neil"]
    for name in names:
        await firm.party(name=name)
    rows = table(await http.get(f"{PARTIES}.csv", headers=firm.key))
    assert [r["name"] for r in reversed(rows)] == [*(f"'{n}" for n in names[:4]), *names[4:]]


@pytest.mark.long
async def test_csv_export_of_thousands_is_complete_while_the_list_grows(world: World, http: httpx.AsyncClient) -> None:
    firm = await Firm.found(world)
    begun = db.now()
    async with db.worker() as session:
        rows = [
            PartyRow(
                organization_id=firm.id, name=f"P{n}", country="SWE", created_at=begun - timedelta(seconds=n // 7)
            ).model_dump()
            for n in range(1_203)
        ]
        await session.execute(sa.insert(PartyRow), rows)
    read: list[str] = []
    async with http.stream("GET", f"{PARTIES}.csv", headers=firm.key) as answer:
        async for line in answer.aiter_lines():
            if len(read) == 3:
                await firm.party(name="Late")
            read.append(line)
    ids = [row["id"] for row in csv.DictReader(read)]
    assert sorted(ids) == sorted(str(r["id"]) for r in rows)


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (None, ""),
        (True, "true"),
        (-5, "-5"),
        ("-5", "'-5"),
        (["a", "b"], "a; b"),
        (["=a"], "'=a"),
        ([], ""),
        ([{"a": 1}], '[{"a":1}]'),
        ({"a": None}, '{"a":null}'),
        ("a\r\nb", "a\r\nb"),
    ],
)
def test_csv_cell_formats_values(value: Any, written: str) -> None:
    assert csv_lists.cell(value) == written


def test_csv_rows_follow_rfc_4180() -> None:
    assert csv_lists.written([["a", 'b"c', "d,e", "f\ng"]]) == 'a,"b""c","d,e","f\ng"\r\n'


def test_csv_nested_fields_have_their_own_columns() -> None:
    from backend.members.schemas import Member

    names = {".".join(path) for path in csv_lists.columns(Member)}
    assert {"id", "role", "user.id", "user.email"} <= names
