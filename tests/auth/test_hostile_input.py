"""Hostile input from strangers: odd input, odd methods, internal errors, concurrent guesses."""

import asyncio
import base64
import secrets
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
import pytest_asyncio
import sqlalchemy as sa

from backend.auth.guard import _has_nul
from backend.auth.scopes import Scope
from backend.client import ApiProblem
from backend.core import db
from backend.core.pagination import encode_parts
from backend.core.settings import settings
from backend.limits import rate_limits
from backend.organizations import listing
from backend.server import runtime
from backend.sign_in import password_checks
from tests.conftest import PASSWORD, World


@pytest_asyncio.fixture
async def http(api: Any) -> AsyncIterator[httpx.AsyncClient]:
    """Plain HTTP client."""
    transport = runtime.local_transport(api)
    async with httpx.AsyncClient(transport=transport, base_url=settings().origin) as client:
        yield client


def cursor(text: str) -> str:
    """A forged cursor."""
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


async def test_method_not_allowed_response_lists_allowed_methods(world: World, http: httpx.AsyncClient) -> None:
    acme = await world.organization()
    for path, allowed in (
        ("/v1/orgs", {"GET", "HEAD", "POST"}),
        (f"/v1/orgs/{acme}/members/{acme}", {"GET", "HEAD", "PATCH", "DELETE"}),
        ("/session", {"POST"}),
    ):
        answer = await http.put(path)
        assert answer.status_code == 405
        assert set(answer.headers["allow"].split(", ")) == allowed
        assert answer.json()["instance"] == f"urn:uuid:{answer.headers['x-request-id']}"


async def test_head_response_equals_get_without_a_body(world: World, http: httpx.AsyncClient) -> None:
    acme = await world.organization()
    key = await world.key(acme, Scope.ORGS_READ)
    for path in ("/v1/health", f"/v1/orgs/{acme}"):
        answer = await http.head(path, headers=key)
        assert (answer.status_code, answer.content) == (200, b"")
        assert int(answer.headers["content-length"]) > 2
    refused = await http.head(f"/v1/orgs/{acme}")
    assert (refused.status_code, refused.content) == (401, b"")


async def test_private_responses_are_not_cacheable_or_sniffable(world: World, http: httpx.AsyncClient) -> None:
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


async def test_private_responses_are_not_shared_with_other_origins(world: World, http: httpx.AsyncClient) -> None:
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


async def test_nul_and_overlong_input_gets_a_clear_response(world: World, http: httpx.AsyncClient) -> None:
    acme = await world.organization()
    key = await world.key(acme)
    again = {**key, "idempotency-key": "once"}
    party = {"name": "Ann", "country": "DEU"}
    assert (await http.get("/v1/identity/parties?q=%00", headers=key)).status_code == 422
    nul = await http.post("/v1/identity/parties/%00/reject", headers=again, json={"reason": "No"})
    assert nul.status_code == 404
    long = f"/v1/identity/parties?x={secrets.token_hex(3000)}"
    made = [await http.post(long, headers=again, json=party) for _ in range(2)]
    assert [m.status_code for m in made] == [201, 201]
    assert made[0].json()["id"] == made[1].json()["id"]
    form = {"email": "a\0b", "password": "x"}
    signed = await http.post("/session", data=form, headers={"origin": settings().origin})
    assert (signed.status_code, signed.headers["location"]) == (303, "/sign-in?error=invalid&next=%2F")


async def test_nul_is_found_in_a_body_at_any_depth() -> None:
    value: Any = ["a\0b"]
    for _ in range(100_000):
        value = [value]
    assert _has_nul(value)
    assert _has_nul({"a": [{"b\0": 1}]})
    assert not _has_nul({"a": [1, None, "b", {"c": ["d"]}]})


async def test_scope_is_checked_before_the_body_is_read(world: World, http: httpx.AsyncClient) -> None:
    acme = await world.organization()
    key = await world.key(acme, Scope.ASSETS_READ)
    answers = [
        await http.post("/v1/identity/parties", headers=key, json={"nothing": "fits"}),
        await http.get("/v1/orgs?limit=0", headers=key),
    ]
    assert [a.status_code for a in answers] == [403, 403]
    assert all(a.json()["type"].endswith("/errors/insufficient-scope") for a in answers)


async def test_internal_error_has_an_id_and_no_secrets(
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


async def test_concurrent_guesses_reveal_as_little_as_sequential_ones(
    world: World, http: httpx.AsyncClient, limits: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    person = await world.person(await world.organization())
    monkeypatch.setattr(password_checks, "verify_password", lambda password, stored: password == PASSWORD)
    monkeypatch.setitem(rate_limits.PER_PRINCIPAL, "testnet", rate_limits.RateLimitItemPerSecond(1000))
    guesses = [*(f"guess {n}" for n in range(30)), PASSWORD]
    answers = await asyncio.gather(
        *(http.post("/v1/auth/login", json={"email": person.email, "password": g}) for g in guesses)
    )
    response = [a.status_code for a in answers]
    assert 200 not in response
    assert response.count(401) <= 5


async def test_rate_limit_headers_are_sent_only_where_limits_apply(
    world: World, http: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = await world.key(await world.organization())
    for is_on in (False, True):
        monkeypatch.setattr(rate_limits, "is_on", lambda is_on=is_on: is_on)
        answer = await http.get("/v1/orgs", headers=key)
        assert [name in answer.headers for name in ("ratelimit", "ratelimit-policy")] == [is_on, is_on]


async def test_public_write_operations_are_limited_by_address(http: httpx.AsyncClient, limits: None) -> None:
    answers = [await http.post("/v1/auth/refresh", json={"refresh_token": "none"}) for _ in range(40)]
    response = {a.status_code for a in answers}
    assert response <= {401, 429}
    assert "ratelimit-policy" in answers[0].headers


async def test_api_key_request_does_not_wait_for_a_locked_key_row(world: World, http: httpx.AsyncClient) -> None:
    acme = await world.organization()
    key = await world.key(acme)
    async with db.worker() as slow:
        await slow.execute(sa.text("select 1 from api_keys where organization_id = :o for update"), {"o": acme})
        async with asyncio.timeout(60):
            assert (await http.get(f"/v1/orgs/{acme}", headers=key)).status_code == 200


async def test_forged_cap_table_cursor_is_rejected(world: World, http: httpx.AsyncClient) -> None:
    from backend.assets.holders import LIST, _decoded
    from backend.core.errors import BadRequest

    for parts in (
        ("1", "99999999999999999999", "0x"),
        (str(2**256), "1", "0x"),
        ("1", "1", "0x\0"),
        ("1", "-1", "0x"),
        ("x", "1", "0x"),
        ("1", "1"),
    ):
        with pytest.raises(BadRequest):
            _decoded(LIST.whole(encode_parts("", *parts), 1))
    for text in ("x", "1|1|0x", "{}"):
        with pytest.raises(BadRequest):
            _decoded(LIST.whole(cursor(text), 1))
    assert _decoded(LIST.whole(encode_parts("", "1", "40161", "0xab"), 1)) == (1, 40161, "0xab")


@pytest.mark.long
async def test_used_refresh_token_sent_concurrently_blocks_no_other_request(
    world: World, http: httpx.AsyncClient
) -> None:
    person = await world.person(await world.organization())
    tokens = await world.client.call("POST", "/auth/login", json={"email": person.email, "password": PASSWORD})
    body = {"refresh_token": tokens["refresh_token"]}
    assert (await http.post("/v1/auth/refresh", json=body)).status_code == 200
    async with asyncio.timeout(60):
        answers = await asyncio.gather(*(http.post("/v1/auth/refresh", json=body) for _ in range(40)))
    assert {a.status_code for a in answers} == {401}


async def test_dry_run_of_an_operation_without_one_is_rejected(world: World) -> None:
    acme = await world.organization()
    admin = await world.person(acme)
    with pytest.raises(ApiProblem) as refused:
        await admin.call("POST", f"/orgs/{acme}/api-keys?dry_run=true", json={"name": "k", "scopes": ["orgs:read"]})
    assert refused.value.status == 400
    assert (await admin.call("GET", f"/orgs/{acme}/api-keys"))["api_keys"] == []
