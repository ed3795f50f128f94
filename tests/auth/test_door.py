"""The door as a stranger tries it: odd input, odd methods, faults of ours, many guesses at once."""

import asyncio
import base64
import secrets
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
import pytest_asyncio
import sqlalchemy as sa

from backend import db, runtime
from backend.auth import password_checks, rate_limit
from backend.auth.route import _has_nul
from backend.auth.scopes import Scope
from backend.client import ApiProblem
from backend.organizations import listing
from backend.settings import settings
from tests.conftest import PASSWORD, World


@pytest_asyncio.fixture
async def http(api: Any) -> AsyncIterator[httpx.AsyncClient]:
    """Plain HTTP, with nothing between."""
    transport = runtime.local_transport(api)
    async with httpx.AsyncClient(transport=transport, base_url=settings().origin) as client:
        yield client


def cursor(text: str) -> str:
    """A cursor nobody handed out."""
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


async def test_a_wrong_method_is_told_every_right_one(world: World, http: httpx.AsyncClient) -> None:
    acme = await world.organization()
    for path, allowed in (
        ("/v1/orgs", {"GET", "HEAD", "POST"}),
        (f"/v1/orgs/{acme}/members/{acme}", {"PATCH", "DELETE"}),
        ("/session", {"POST"}),
    ):
        answer = await http.put(path)
        assert answer.status_code == 405
        assert set(answer.headers["allow"].split(", ")) == allowed
        assert answer.json()["instance"] == f"urn:uuid:{answer.headers['x-request-id']}"


async def test_head_is_get_without_a_body(world: World, http: httpx.AsyncClient) -> None:
    acme = await world.organization()
    key = await world.key(acme, Scope.ORGS_READ)
    for path in ("/v1/health", f"/v1/orgs/{acme}"):
        answer = await http.head(path, headers=key)
        assert (answer.status_code, answer.content) == (200, b"")
        assert int(answer.headers["content-length"]) > 2
    refused = await http.head(f"/v1/orgs/{acme}")
    assert (refused.status_code, refused.content) == (401, b"")


async def test_private_answers_are_not_stored_and_not_guessed_at(world: World, http: httpx.AsyncClient) -> None:
    acme = await world.organization()
    key = await world.key(acme)
    for path in (f"/v1/orgs/{acme}", f"/v1/orgs/{acme}/members.csv", f"/v1/orgs/{acme}/nothing", "/v1/health"):
        answer = await http.get(path, headers=key)
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers.get_list("cache-control") == ["no-store"]
    too_large = await http.post("/v1/orgs", headers=key, content=b"x" * 1_048_577)
    assert (too_large.status_code, too_large.headers["cache-control"]) == (413, "no-store")
    public = await http.get("/.well-known/openid-configuration")
    assert public.headers.get_list("cache-control") == ["public, max-age=300"]
    assert public.headers["x-content-type-options"] == "nosniff"


async def test_private_answers_are_not_shared_with_other_origins(world: World, http: httpx.AsyncClient) -> None:
    acme = await world.organization()
    person = await world.person(acme)
    evil = {"origin": "https://evil.example"}
    read = await http.get(f"/v1/orgs/{acme}", headers=evil | {"cookie": person.cookie})
    asked = {"access-control-request-method": "PATCH", "access-control-request-headers": "content-type"}
    preflight = await http.options(f"/v1/orgs/{acme}", headers=evil | asked)
    refused = await http.patch(f"/v1/orgs/{acme}", headers=evil | {"cookie": person.cookie}, json={"name": "Evil"})
    for answer in (read, preflight, refused):
        assert not [name for name in answer.headers if name.startswith("access-control-")]
    assert (preflight.status_code, refused.status_code) == (405, 403)


@pytest.mark.parametrize("path", ["/v1/errors/%0A", "/v1/errors/conflict%0A", "/v1/%00", "/v1/a%7F"])
async def test_path_with_control_characters_is_not_found(http: httpx.AsyncClient, path: str) -> None:
    answer = await http.get(path)
    assert (answer.status_code, answer.headers["content-type"]) == (404, "application/problem+json")
    assert answer.json()["instance"] == f"urn:uuid:{answer.headers['x-request-id']}"


async def test_what_a_database_cannot_hold_is_a_clear_answer(world: World, http: httpx.AsyncClient) -> None:
    acme = await world.organization()
    key = await world.key(acme)
    again = {**key, "idempotency-key": "once"}
    party = {"name": "Ann", "country": "DEU"}
    assert (await http.get("/v1/identity/parties?search=%00", headers=key)).status_code == 400
    nul = await http.post("/v1/identity/parties/%00/reject", headers=again, json={"reason": "No"})
    assert nul.status_code == 404
    long = f"/v1/identity/parties?x={secrets.token_hex(3000)}"
    made = [await http.post(long, headers=again, json=party) for _ in range(2)]
    assert [m.status_code for m in made] == [201, 201]
    assert made[0].json()["id"] == made[1].json()["id"]
    form = {"email": "a\0b", "password": "x"}
    signed = await http.post("/session", data=form, headers={"origin": settings().origin})
    assert (signed.status_code, signed.headers["location"]) == (303, "/sign-in?error=invalid&next=%2F")


async def test_a_body_is_searched_for_nul_at_any_depth() -> None:
    value: Any = ["a\0b"]
    for _ in range(100_000):
        value = [value]
    assert _has_nul(value)
    assert _has_nul({"a": [{"b\0": 1}]})
    assert not _has_nul({"a": [1, None, "b", {"c": ["d"]}]})


async def test_a_scope_is_asked_for_before_the_request_is_read(world: World, http: httpx.AsyncClient) -> None:
    acme = await world.organization()
    key = await world.key(acme, Scope.ASSETS_READ)
    answers = [
        await http.post("/v1/identity/parties", headers=key, json={"nothing": "fits"}),
        await http.get("/v1/orgs?limit=0", headers=key),
    ]
    assert [a.status_code for a in answers] == [403, 403]
    assert all(a.json()["type"].endswith("/errors/insufficient-scope") for a in answers)


async def test_a_fault_of_ours_has_a_name_and_no_secrets(
    world: World, http: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = await world.key(await world.organization())
    faults = [RuntimeError("select secret"), sa.exc.OperationalError("select secret", {}, Exception("secret"))]
    for fault, status in zip(faults, (500, 503), strict=True):

        async def fail(*_: Any, fault: Exception = fault) -> None:
            raise fault

        monkeypatch.setattr(listing, "reached", fail)
        answer = await http.get("/v1/orgs", headers=key)
        assert answer.status_code == status
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.json()["instance"] == f"urn:uuid:{answer.headers['x-request-id']}"
        assert "secret" not in answer.text


async def test_many_guesses_at_once_learn_no_more_than_one_after_the_other(
    world: World, http: httpx.AsyncClient, limits: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    person = await world.person(await world.organization())
    monkeypatch.setattr(password_checks, "verify_password", lambda password, stored: password == PASSWORD)
    monkeypatch.setitem(rate_limit.PER_PRINCIPAL, "testnet", rate_limit.RateLimitItemPerSecond(1000))
    guesses = [*(f"guess {n}" for n in range(30)), PASSWORD]
    answers = await asyncio.gather(
        *(http.post("/v1/auth/login", json={"email": person.email, "password": g}) for g in guesses)
    )
    told = [a.status_code for a in answers]
    assert 200 not in told
    assert told.count(401) <= 5


async def test_open_operations_that_write_are_limited_by_address(http: httpx.AsyncClient, limits: None) -> None:
    answers = [await http.post("/v1/auth/refresh", json={"refresh_token": "none"}) for _ in range(40)]
    told = {a.status_code for a in answers}
    assert told <= {401, 429}
    assert "ratelimit-policy" in answers[0].headers


async def test_a_key_does_not_wait_for_another_request_of_its(world: World, http: httpx.AsyncClient) -> None:
    acme = await world.organization()
    key = await world.key(acme)
    async with db.worker() as slow:
        await slow.execute(sa.text("select 1 from api_keys where organization_id = :o for update"), {"o": acme})
        async with asyncio.timeout(60):
            assert (await http.get(f"/v1/orgs/{acme}", headers=key)).status_code == 200


async def test_a_made_up_cursor_of_the_cap_table(world: World, http: httpx.AsyncClient) -> None:
    from backend.assets.holders import _decoded
    from backend.errors import BadRequest

    for text in ("1|99999999999999999999|0x", f"{2**256}|1|0x", "1|1|0x\0", "1|-1|0x", "x"):
        with pytest.raises(BadRequest):
            _decoded(cursor(text))
    assert _decoded(cursor("1|40161|0xab")) == (1, 40161, "0xab")


async def test_a_used_refresh_token_sent_many_times_blocks_nobody(world: World, http: httpx.AsyncClient) -> None:
    person = await world.person(await world.organization())
    tokens = await world.client.call("POST", "/auth/login", json={"email": person.email, "password": PASSWORD})
    body = {"refresh_token": tokens["refresh_token"]}
    assert (await http.post("/v1/auth/refresh", json=body)).status_code == 200
    async with asyncio.timeout(60):
        answers = await asyncio.gather(*(http.post("/v1/auth/refresh", json=body) for _ in range(40)))
    assert {a.status_code for a in answers} == {401}


async def test_an_operation_without_a_dry_run_does_nothing_when_asked_for_one(world: World) -> None:
    acme = await world.organization()
    admin = await world.person(acme)
    with pytest.raises(ApiProblem) as refused:
        await admin.call("POST", f"/orgs/{acme}/api-keys?dry_run=true", json={"name": "k", "scopes": ["orgs:read"]})
    assert refused.value.status == 400
    assert (await admin.call("GET", f"/orgs/{acme}/api-keys"))["api_keys"] == []
