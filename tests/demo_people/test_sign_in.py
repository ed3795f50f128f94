"""Signing in as a person of the demo with one click: only in a browser on the machine of an embedded installation."""

import json
from collections.abc import AsyncIterator, Iterator, Mapping
from datetime import datetime, timedelta
from ipaddress import ip_network
from typing import Any
from uuid import uuid4

import httpx
import pytest
import pytest_asyncio
import sqlalchemy as sa

from backend.core import db
from backend.core.readiness import readiness
from backend.core.settings import Settings, settings
from backend.demo_people import service
from backend.parties.models import PartyRow
from backend.parties.schemas import PartyKind
from backend.users.schemas import Role
from tests.conftest import Actor, World
from tests.factors.steps import set_up

OWN = {"origin": settings().origin}
OUTSIDE = [
    pytest.param({"rpc_urls": {40161: ["https://rpc.example"]}}, id="public chains"),
    pytest.param({"host": "0.0.0.0"}, id="another HOST"),
    pytest.param({"host": "192.168.1.4"}, id="an address of a network as HOST"),
    pytest.param({"database_url": "postgresql://signum@db.example/signum"}, id="DATABASE_URL"),
    pytest.param({"database_url_web": "postgresql://w", "database_url_worker": "postgresql://w"}, id="login roles"),
    pytest.param({"demo": False}, id="SIGNUM_DEMO=0"),
    pytest.param({"public_url": "https://signum.example"}, id="a public URL"),
    pytest.param({"trusted_proxies": [ip_network("127.0.0.0/8")]}, id="a trusted proxy"),
]
PASSED_ON = [
    {"x-forwarded-for": "127.0.0.1"},
    {"x-forwarded-host": "localhost"},
    {"x-forwarded-proto": "http"},
    {"forwarded": "for=127.0.0.1"},
    {"host": "signum.example"},
    {"host": "10.0.0.5:8000"},
    {"origin": "http://evil.example"},
    {"origin": "null"},
]


def browser(api: Any, peer: str = "127.0.0.1") -> httpx.AsyncClient:
    """A browser whose connection has a peer."""
    transport = httpx.ASGITransport(app=api, raise_app_exceptions=False, client=(peer, 50_000))
    return httpx.AsyncClient(transport=transport, base_url=settings().origin)


@pytest.fixture
def local(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An installation with a demo, and without a finished one at first."""
    monkeypatch.setattr(settings(), "demo", True)
    yield
    (settings().home / "demo.json").unlink(missing_ok=True)


@pytest_asyncio.fixture
async def people(world: World, local: None) -> dict[Role, Actor]:
    """The demo's people, one of each role."""
    org = await world.organization("Northwind")
    found = {role: await world.person(org, role) for role in Role}
    users = [{"email": one.email, "password": "unused", "role": str(role)} for role, one in found.items()]
    content = {"organization_id": str(org), "users": users}
    (settings().home / "demo.json").write_text(json.dumps(content))
    async with db.worker() as session:
        for name in ("Marta Lindqvist", "Harbor Point Advisors"):
            session.add(PartyRow(organization_id=org, kind=PartyKind.PERSON, name=name, country="SWE"))
    return found


@pytest_asyncio.fixture
async def visitor(api: Any) -> AsyncIterator[httpx.AsyncClient]:
    async with browser(api) as client:
        yield client


async def refused(client: httpx.AsyncClient, headers: Mapping[str, str]) -> None:
    """Neither the people nor their sign-in exist, with the answer of any unknown address."""
    unknown = (await client.get("/v1/no-such-address")).json()
    for answer in (
        await client.get("/v1/demo", headers=headers),
        await client.post("/session/demo", data={"person": "admin"}, headers={**OWN, **headers}),
    ):
        assert answer.status_code == 404
        assert {**answer.json(), "instance": ""} == {**unknown, "instance": ""}
        assert "set-cookie" not in answer.headers


async def test_people_are_named_with_what_waits_for_them(visitor: httpx.AsyncClient, people: dict[Role, Actor]) -> None:
    demo = (await visitor.get("/v1/demo")).json()
    assert demo["is_ready"]
    assert [(one["role"], one["task"]) for one in demo["people"]] == [
        ("admin", "Issues a new asset"),
        ("compliance_officer", "Reviews two investors"),
        ("client", "Follows holdings and income"),
    ]
    assert demo["start_over_path"] is None, "this process cannot restart itself"


@pytest.mark.parametrize("role", [Role.ADMIN, Role.COMPLIANCE_OFFICER, Role.CLIENT])
async def test_one_click_signs_in(visitor: httpx.AsyncClient, people: dict[Role, Actor], role: Role) -> None:
    answer = await visitor.post("/session/demo", data={"person": role, "next": "/account"}, headers=OWN)
    assert (answer.status_code, answer.headers["location"]) == (303, "/account")
    me = (await visitor.get("/v1/auth/me")).json()
    assert me["user"]["email"] == people[role].email
    assert not me["should_add_second_factor"], "no one signs in with a password of the demo"


async def test_one_click_proves_the_person_for_the_length_of_a_demo(
    visitor: httpx.AsyncClient, people: dict[Role, Actor]
) -> None:
    """The console does not ask for a password in the middle of a demo: it is only in a file."""
    await visitor.post("/session/demo", data={"person": "admin"}, headers=OWN)
    async with db.worker() as session:
        at = {"at": db.now() - timedelta(minutes=30), "user": people[Role.ADMIN].user_id}
        await session.execute(sa.text("update sessions set created_at = :at where user_id = :user"), at)
    fresh_until = (await visitor.get("/v1/auth/factors")).json()["fresh_until"]
    assert datetime.fromisoformat(fresh_until) > db.now() + timedelta(hours=1)


@pytest.mark.parametrize("person", ["member", "viewer", "root", "", "💥"])
async def test_other_people_cannot_be_chosen(
    visitor: httpx.AsyncClient, people: dict[Role, Actor], person: str
) -> None:
    answer = await visitor.post("/session/demo", data={"person": person}, headers=OWN)
    assert answer.status_code == 404
    assert "set-cookie" not in answer.headers


async def test_next_page_is_on_this_site(visitor: httpx.AsyncClient, people: dict[Role, Actor]) -> None:
    answer = await visitor.post("/session/demo", data={"person": "admin", "next": "//evil.example"}, headers=OWN)
    assert answer.headers["location"] == "/"


@pytest.mark.parametrize("page", ["/o/{}/chains?start-over=yes", "/o/{}", "/i/{}/documents"])
async def test_page_of_an_organization_that_is_gone_is_not_returned_to(
    visitor: httpx.AsyncClient, people: dict[Role, Actor], page: str
) -> None:
    """As after a reset; "/" leads to the person's own organization."""
    data = {"person": "admin", "next": page.format(uuid4())}
    answer = await visitor.post("/session/demo", data=data, headers=OWN)
    assert answer.headers["location"] == "/"


@pytest.mark.parametrize("role", [Role.ADMIN, Role.CLIENT])
async def test_page_of_the_persons_own_organization_is_returned_to(
    visitor: httpx.AsyncClient, people: dict[Role, Actor], role: Role
) -> None:
    async with db.worker() as session:
        query = sa.text("select id, organization_id from members where user_id = :user")
        member = (await session.execute(query, {"user": people[role].user_id})).one()
    place = f"/i/{member.id}" if role is Role.CLIENT else f"/o/{member.organization_id}"
    data = {"person": role, "next": f"{place}/account?a=1"}
    answer = await visitor.post("/session/demo", data=data, headers=OWN)
    assert answer.headers["location"] == f"{place}/account?a=1"


async def test_second_factor_is_asked_for(visitor: httpx.AsyncClient, people: dict[Role, Actor]) -> None:
    await set_up(people[Role.ADMIN])
    answer = await visitor.post("/session/demo", data={"person": "admin"}, headers=OWN)
    assert answer.headers["location"].startswith("/sign-in/factor")
    assert (await visitor.get("/v1/auth/me")).status_code == 401


@pytest.mark.parametrize("changes", OUTSIDE)
async def test_demo_is_offered_by_local_installations_only(
    visitor: httpx.AsyncClient, people: dict[Role, Actor], changes: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Settings(**{"demo": True, "home": settings().home, "port": settings().port, **changes})
    monkeypatch.setattr(service, "settings", lambda: other)
    await refused(visitor, {"origin": other.origin})


@pytest.mark.parametrize("headers", PASSED_ON)
async def test_demo_is_not_offered_to_a_forwarded_or_foreign_request(
    visitor: httpx.AsyncClient, people: dict[Role, Actor], headers: dict[str, str]
) -> None:
    await refused(visitor, headers)


@pytest.mark.parametrize("peer", ["10.0.0.5", "192.168.1.4", "2001:db8::1"])
async def test_demo_is_not_offered_to_other_machines(api: Any, people: dict[Role, Actor], peer: str) -> None:
    async with browser(api, peer) as client:
        await refused(client, {})


async def test_sign_in_needs_a_page_of_this_server(visitor: httpx.AsyncClient, people: dict[Role, Actor]) -> None:
    answer = await visitor.post("/session/demo", data={"person": "admin"})
    assert answer.status_code == 404
    assert "set-cookie" not in answer.headers


async def test_progress_is_shown_while_the_demo_is_created(
    visitor: httpx.AsyncClient, local: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readiness(), "waiting", ["demo data"])
    readiness().at("March 2026", 40)
    demo = (await visitor.get("/v1/demo")).json()
    assert (demo["is_ready"], demo["doing"], demo["percent"], demo["people"]) == (False, "March 2026", 40, [])
    early = await visitor.post("/session/demo", data={"person": "admin"}, headers=OWN)
    assert early.status_code == 404


async def test_demo_is_not_offered_where_another_organization_came_first(
    visitor: httpx.AsyncClient, local: None
) -> None:
    await refused(visitor, {})


def test_only_a_local_demo_is_offered() -> None:
    assert Settings(host="localhost", demo=True).is_local_demo
    assert not Settings(host="::", demo=True).is_local_demo
