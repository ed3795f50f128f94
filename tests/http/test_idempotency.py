"""Twenty concurrent requests with one Idempotency-Key: one record is created, and all responses name it."""

import asyncio
import hashlib
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any, cast
from uuid import uuid4

import httpx
import pytest
import pytest_asyncio
import sqlalchemy as sa

from backend.auth import idempotency
from backend.auth.principal import Context
from backend.auth.scopes import Scope
from backend.core import db
from backend.core.encryption import mac
from backend.core.errors import Unavailable
from backend.core.settings import settings
from backend.members import addition
from backend.server import runtime
from tests.conftest import PASSWORD, World
from tests.support.firm import SEPOLIA, Firm
from tests.support.issuance import Issuance, asset_body
from tests.support.keyrings import ring

CONCURRENT = 20
RUNNING = "/errors/idempotency-conflict"


@pytest_asyncio.fixture
async def http(api: Any) -> AsyncIterator[httpx.AsyncClient]:
    """Plain HTTP client: the Python client would retry a 409."""
    transport = runtime.local_transport(api)
    async with httpx.AsyncClient(transport=transport, base_url=settings().origin) as client:
        yield client


async def once(http: httpx.AsyncClient, headers: dict[str, str], path: str, body: Any) -> dict[str, Any]:
    """Check that twenty concurrent requests and one after them create one record; return it."""
    headers = headers | {"idempotency-key": f"once {path}"}
    answers = await asyncio.gather(*(http.post(path, headers=headers, json=body) for _ in range(CONCURRENT)))
    late = await http.post(path, headers=headers, json=body)
    reply = [a for a in (*answers, late) if a.status_code != 409]
    first = [a for a in reply if "idempotency-replayed" not in a.headers]
    assert len(first) == 1, [a.text for a in first]
    assert first[0].status_code in (201, 202), first[0].text
    assert late in reply
    for answer in reply:
        assert (answer.status_code, answer.headers.get("location")) == (
            first[0].status_code,
            first[0].headers.get("location"),
        )
        assert {k: v for k, v in answer.json().items() if k not in ("key", "secret")} == {
            k: v for k, v in first[0].json().items() if k not in ("key", "secret")
        }
    for answer in answers:
        if answer.status_code == 409:
            assert answer.headers["content-type"] == "application/problem+json"
            assert answer.json()["type"].endswith(RUNNING), answer.text
    made: dict[str, Any] = first[0].json()
    return made


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/wallets", {"label": "Custody"}),
        ("/sub-orgs", {"name": "Unit"}),
        ("/invitations", {"email": "once@example.com", "role": "viewer"}),
        ("/api-keys", {"name": "Once", "scopes": ["orgs:read"]}),
        ("/webhooks", {"url": "http://localhost:1024/"}),
    ],
)
async def test_twenty_concurrent_repeats_create_one_record(
    world: World, http: httpx.AsyncClient, path: str, body: Any
) -> None:
    firm = await Firm.found(world)
    before = await listed(firm, path)
    made = await once(http, {"cookie": firm.admin.cookie, "origin": settings().origin}, f"/v1{firm.base}{path}", body)
    assert await listed(firm, path) - before == {made["id"]}


async def test_twenty_concurrent_repeats_create_one_party(world: World, http: httpx.AsyncClient) -> None:
    firm = await Firm.found(world)
    made = await once(http, firm.key, "/v1/identity/parties", {"name": "Ann", "country": "DEU"})
    parties = (await firm.admin.call("GET", "/identity/parties", params={"organization_id": str(firm.id)}))["parties"]
    assert [p["id"] for p in parties] == [made["id"]]


@pytest.mark.long
async def test_twenty_concurrent_repeats_start_one_deployment(world: World, http: httpx.AsyncClient) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    before = await listed(firm, "/requests")
    made = await once(http, firm.key, f"/v1{firm.base}/assets", asset_body())
    await firm.succeed(made["requestId"])
    assert await listed(firm, "/assets") == {made["assetId"]}
    assert await listed(firm, "/requests") - before == {made["requestId"]}
    asset = await firm.get(f"/assets/{made['assetId']}")
    assert asset["status"] == "active"


async def test_concurrent_repeat_with_another_body_is_a_problem_and_creates_nothing(
    world: World, http: httpx.AsyncClient
) -> None:
    firm = await Firm.found(world)
    headers = firm.key | {"idempotency-key": "mixed"}
    answers = await asyncio.gather(
        *(
            http.post("/v1/identity/parties", headers=headers, json={"name": f"P{n % 2}", "country": "DEU"})
            for n in range(CONCURRENT)
        )
    )
    assert {a.status_code for a in answers} <= {201, 409, 422}
    assert all(a.json()["type"].endswith(RUNNING) for a in answers if a.status_code != 201)
    assert len({a.json()["id"] for a in answers if a.status_code == 201}) == 1
    assert len((await firm.admin.call("GET", "/identity/parties"))["parties"]) == 1


async def listed(firm: Firm, path: str) -> set[str]:
    """Return the ids of a list."""
    answer = await firm.get(path)
    return {record["id"] for name, records in answer.items() if name != "nextCursor" for record in records}


async def asked(
    http: httpx.AsyncClient, headers: dict[str, str], key: str, path: str, body: Any, status: int
) -> httpx.Response:
    """A request with a key, and its result."""
    answer = await http.post(path, headers=headers | {"idempotency-key": key}, json=body)
    assert answer.status_code == status, answer.text
    return answer


async def test_refusal_after_execution_is_replayed(world: World, http: httpx.AsyncClient) -> None:
    """Not found, impossible, in conflict: a repetition gets the same response, even after a change."""
    acme = await world.organization()
    headers, members = await world.key(acme), f"/v1/orgs/{acme}/members"
    address = "0x52908400098527886E0F7030069857D2E4169EE7"
    made = await asked(http, headers, "first", members, {"wallet_address": address}, 201)
    second = await asked(http, headers, "second", members, {"wallet_address": address}, 409)
    assert (await http.delete(f"{members}/{made.json()['id']}", headers=headers)).status_code == 204
    again = await asked(http, headers, "second", members, {"wallet_address": address}, 409)
    assert again.headers["idempotency-replayed"] == "true"
    assert (again.content, again.headers["content-type"]) == (second.content, "application/problem+json")
    assert again.headers["x-request-id"] != second.headers["x-request-id"]
    await asked(http, headers, "second", members, {"wallet_address": address, "role": "viewer"}, 422)
    await asked(http, headers, "third", members, {"wallet_address": address}, 201)
    unknown = f"/v1/orgs/{acme}/wallets/{acme}"
    one, two = [
        await http.patch(unknown, headers=headers | {"idempotency-key": "gone"}, json={"label": "X"}) for _ in range(2)
    ]
    assert (one.status_code, two.status_code, two.content) == (404, 404, one.content)
    assert "idempotency-replayed" not in one.headers
    assert two.headers["idempotency-replayed"] == "true"
    neither = [await asked(http, headers, "neither", members, {}, 400) for _ in range(2)]
    assert [a.headers.get("idempotency-replayed") for a in neither] == [None, "true"]


async def test_refusal_before_execution_is_not_replayed(world: World, http: httpx.AsyncClient) -> None:
    acme, other = await world.organization(), await world.organization()
    headers, members = await world.key(acme, Scope.MEMBERS_WRITE), f"/v1/orgs/{acme}/members"
    good = {"wallet_address": "0x52908400098527886E0F7030069857D2E4169EE7"}
    for body, status in (({"wallet_address": "0x12"}, 422), (good | {"role": "admin"}, 403)):
        for _ in range(2):
            refused = await asked(http, headers, "same", members, body, status)
            assert "idempotency-replayed" not in refused.headers
    foreign = await world.key(other)
    await asked(http, foreign, "same", members, good, 403)
    await asked(http, {"x-api-key": "sgn_no"}, "same", members, good, 401)
    await asked(http, headers, "same", members, good, 201)


async def test_server_failure_is_not_replayed(
    world: World, http: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    acme = await world.organization()
    headers, members = await world.key(acme), f"/v1/orgs/{acme}/members"
    body = {"wallet_address": "0x52908400098527886E0F7030069857D2E4169EE7"}

    async def broken(*_: Any) -> None:
        raise Unavailable("The chain does not answer now.")

    with monkeypatch.context() as patched:
        patched.setattr(addition, "add", broken)
        await asked(http, headers, "again", members, body, 503)
    answer = await asked(http, headers, "again", members, body, 201)
    assert "idempotency-replayed" not in answer.headers


async def test_refusal_stores_only_its_response(world: World, http: httpx.AsyncClient) -> None:
    """The rows of a refused operation are rolled back, including its log."""
    acme = await world.organization()
    admin = await world.person(acme)
    headers = {"cookie": admin.cookie, "origin": settings().origin}
    body = {"email": "twice@example.com", "role": "viewer"}
    path = f"/v1/orgs/{acme}/invitations"
    await asked(http, headers, "one", path, body, 201)
    for _ in range(2):
        await asked(http, headers, "two", path, body, 409)
    assert len((await admin.call("GET", f"/orgs/{acme}/invitations"))["invitations"]) == 1
    log = (await admin.call("GET", f"/orgs/{acme}/audit", params={"action": "invitation.created"}))["audit"]
    assert len(log) == 1
    assert (await admin.call("GET", f"/orgs/{acme}/audit/verify"))["whole"]


@pytest.mark.long
async def test_refresh_token_reuse_with_an_idempotency_key_is_a_401(world: World, http: httpx.AsyncClient) -> None:
    """That operation ends its own transaction before it refuses."""
    person = await world.person(await world.organization())
    login = await http.post("/v1/auth/login", json={"email": person.email, "password": PASSWORD})
    body = {"refresh_token": login.json()["refresh_token"]}
    await asked(http, {}, "refresh 1", "/v1/auth/refresh", body, 200)
    for _ in range(2):
        refused = await asked(http, {}, "refresh 2", "/v1/auth/refresh", body, 401)
        assert "idempotency-replayed" not in refused.headers


async def test_idempotency_key_used_by_two_people_has_separate_responses(world: World, http: httpx.AsyncClient) -> None:
    firm = await Firm.found(world)
    other = await world.person(firm.id)
    made = [
        await actor.call("POST", "/identity/parties", json=body, headers=firm.key, idempotency_key="same")
        for actor, body in ((firm.admin, {"name": "Ann", "country": "DEU"}), (other, {"name": "Ann", "country": "DEU"}))
    ]
    assert made[0]["id"] != made[1]["id"]
    again = await other.call(
        "POST", "/identity/parties", json={"name": "Ann", "country": "DEU"}, headers=firm.key, idempotency_key="same"
    )
    assert again["id"] == made[1]["id"]


async def kept(key: str) -> int:
    """Return how many answers are stored for a key, of any caller."""
    async with db.worker() as session:
        return int(
            await session.scalar(sa.text("select count(*) from idempotency_keys where key = :k"), {"k": key}) or 0
        )


async def test_idempotency_key_without_credential_stores_no_response(http: httpx.AsyncClient) -> None:
    key, body = f"stranger {uuid4()}", {"token": "unknown"}
    for _ in range(2):
        refused = await http.post("/v1/invitations/preview", json=body, headers={"idempotency-key": key})
        assert refused.status_code == 404
        assert "idempotency-replayed" not in refused.headers
    assert await kept(key) == 0


async def test_response_for_key_and_person_together_is_found(world: World) -> None:
    firm = await Firm.found(world)
    key = f"both {uuid4()}"
    body = {"name": "Ann", "country": "DEU"}
    await firm.admin.call("POST", "/identity/parties", json=body, headers=firm.key, idempotency_key=key)
    assert await kept(key) == 1
    [key_id] = [k["id"] for k in (await firm.get("/api-keys"))["api_keys"]]
    async with db.transaction() as session:
        person = SimpleNamespace(user_id=firm.admin.user_id)
        context = Context(session, cast(Any, person), cast(Any, SimpleNamespace(key_id=key_id)))
        sent = SimpleNamespace(
            headers={"idempotency-key": key},
            method="POST",
            url=SimpleNamespace(path="/v1/identity/parties", query=""),
        )
        assert await idempotency.is_answered(cast(Any, sent), context)


async def digests(key: str) -> list[str]:
    """Return what is stored of the bodies that came with a key."""
    async with db.worker() as session:
        found = await session.scalars(sa.text("select digest from idempotency_keys where key = :k"), {"k": key})
        return list(found)


@pytest.mark.long
async def test_request_digest_of_a_password_is_keyed(world: World, http: httpx.AsyncClient) -> None:
    acme = await world.organization()
    people = [await world.person(acme), await world.person(acme)]
    key, raw = f"proof {uuid4()}", b'{"password":"%s"}' % PASSWORD.encode()
    answers = []
    for person in (*people, people[0]):
        headers = {"cookie": person.cookie, "origin": settings().origin, "content-type": "application/json"}
        path, sent = "/v1/auth/factors/verify", headers | {"idempotency-key": key}
        answers.append(await http.post(path, headers=sent, content=raw))
        other = await http.post(path, headers=sent, content=raw + b" ")
        assert (other.status_code, other.json()["type"].endswith(RUNNING)) == (422, True)
    assert [(a.status_code, a.headers.get("idempotency-replayed")) for a in answers] == [
        (200, None),
        (200, None),
        (200, "true"),
    ]
    kept_digests = await digests(key)
    assert len(set(kept_digests)) == 2, "the same password of two people looks different"
    plain = hashlib.sha256(raw)
    assert not {plain.hexdigest(), hashlib.sha256(plain.hexdigest().encode()).hexdigest()} & set(kept_digests)


def test_request_mac_depends_on_key_content_and_path() -> None:
    one, other = ring(bytes(32)), ring(b"\1" * 32)
    said = [("a", "p", one), ("b", "p", one), ("a", "q", one), ("p", "a", one), ("a", "p", other)]
    assert len({mac(content, place, lambda ring=ring: ring) for content, place, ring in said}) == 5
    assert mac("a", "p", lambda: one) == mac("a", "p", lambda: ring(bytes(32))), "every process computes the same"
