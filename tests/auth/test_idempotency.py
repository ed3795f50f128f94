"""Twenty requests at once with one Idempotency-Key: one thing is made, and nobody is told anything else."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
import pytest_asyncio

from backend import runtime
from backend.settings import settings
from tests.conftest import World
from tests.firm import SEPOLIA, Firm
from tests.issuance import Issuance, asset_body

AT_ONCE = 20
RUNNING = "/errors/idempotency-conflict"


@pytest_asyncio.fixture
async def http(api: Any) -> AsyncIterator[httpx.AsyncClient]:
    """Plain HTTP: the client would try a 409 again."""
    transport = runtime.local_transport(api)
    async with httpx.AsyncClient(transport=transport, base_url=settings().origin) as client:
        yield client


async def once(http: httpx.AsyncClient, headers: dict[str, str], path: str, body: Any) -> dict[str, Any]:
    """What twenty at once and one after them make of a request: the one thing."""
    headers = headers | {"idempotency-key": f"once {path}"}
    answers = await asyncio.gather(*(http.post(path, headers=headers, json=body) for _ in range(AT_ONCE)))
    late = await http.post(path, headers=headers, json=body)
    told = [a for a in (*answers, late) if a.status_code != 409]
    first = [a for a in told if "idempotency-replayed" not in a.headers]
    assert len(first) == 1, [a.text for a in first]
    assert first[0].status_code in (201, 202), first[0].text
    assert late in told
    for answer in told:
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
async def test_twenty_at_once_make_one(world: World, http: httpx.AsyncClient, path: str, body: Any) -> None:
    firm = await Firm.found(world)
    before = await listed(firm, path)
    made = await once(http, {"cookie": firm.admin.cookie, "origin": settings().origin}, f"/v1{firm.base}{path}", body)
    assert await listed(firm, path) - before == {made["id"]}


async def test_twenty_at_once_write_one_party_down(world: World, http: httpx.AsyncClient) -> None:
    firm = await Firm.found(world)
    made = await once(http, firm.key, "/v1/identity/parties", {"name": "Ann", "country": "DEU"})
    parties = (await firm.admin.call("GET", "/identity/parties", params={"organization_id": str(firm.id)}))["parties"]
    assert [p["id"] for p in parties] == [made["id"]]


async def test_twenty_at_once_start_one_deployment(world: World, http: httpx.AsyncClient) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    before = await listed(firm, "/requests")
    made = await once(http, firm.key, f"/v1{firm.base}/assets", asset_body())
    await firm.succeed(made["requestId"])
    assert await listed(firm, "/assets") == {made["assetId"]}
    assert await listed(firm, "/requests") - before == {made["requestId"]}
    asset = await firm.get(f"/assets/{made['assetId']}")
    assert asset["status"] == "active"


async def test_another_body_among_them_is_a_problem_and_makes_nothing(world: World, http: httpx.AsyncClient) -> None:
    firm = await Firm.found(world)
    headers = firm.key | {"idempotency-key": "mixed"}
    answers = await asyncio.gather(
        *(
            http.post("/v1/identity/parties", headers=headers, json={"name": f"P{n % 2}", "country": "DEU"})
            for n in range(AT_ONCE)
        )
    )
    assert {a.status_code for a in answers} <= {201, 409, 422}
    assert all(a.json()["type"].endswith(RUNNING) for a in answers if a.status_code != 201)
    assert len({a.json()["id"] for a in answers if a.status_code == 201}) == 1
    assert len((await firm.admin.call("GET", "/identity/parties"))["parties"]) == 1


async def listed(firm: Firm, path: str) -> set[str]:
    """The ids of a list."""
    answer = await firm.get(path)
    return {record["id"] for name, records in answer.items() if name != "nextCursor" for record in records}
