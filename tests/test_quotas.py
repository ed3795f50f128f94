"""What one organization may keep: API keys, OAuth clients, webhook endpoints, documents, and organizations below it."""

import asyncio
from typing import Any
from uuid import UUID

import pytest
from limits import RateLimitItemPerDay

from backend import quotas
from backend.auth import rate_limit
from backend.client import ApiProblem
from backend.demo.papers import pdf
from backend.settings import settings
from backend.webhooks import rules as webhooks
from tests.conftest import Actor, World
from tests.firm import Firm

KEY = {"name": "export", "scopes": ["orgs:read"]}
CLIENT = {"name": "Portal", "redirect_uris": ["https://portal.example/callback"]}


async def tried(who: Actor, path: str, body: Any) -> int:
    """The status of a POST."""
    try:
        await who.call("POST", path, json=body)
    except ApiProblem as problem:
        return problem.status
    return 201


async def first_id(who: Actor, path: str, name: str) -> UUID:
    return UUID((await who.call("GET", path))[name][0]["id"])


@pytest.mark.parametrize(
    ("quota", "path", "name", "body"),
    [("API_KEYS", "api-keys", "api_keys", KEY), ("OAUTH_CLIENTS", "oauth-clients", "oauth_clients", CLIENT)],
)
async def test_organization_that_has_as_many_as_it_may_removes_one_first(
    world: World, monkeypatch: pytest.MonkeyPatch, quota: str, path: str, name: str, body: Any
) -> None:
    monkeypatch.setattr(quotas, quota, 3)
    acme = await world.organization()
    admin = await world.person(acme)
    where = f"/orgs/{acme}/{path}"
    made = await asyncio.gather(*(tried(admin, where, body) for _ in range(5)))
    assert sorted(made) == [201, 201, 201, 409, 409]
    await admin.call("DELETE", f"{where}/{await first_id(admin, where, name)}")
    assert [await tried(admin, where, body), await tried(admin, where, body)] == [201, 409]
    other = await world.organization("Other")
    assert await tried(await world.person(other), f"/orgs/{other}/{path}", body) == 201


async def test_webhook_endpoints_made_at_once_stay_within_their_number(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webhooks, "MAX_ENDPOINTS", 2)
    acme = await world.organization()
    admin = await world.person(acme)
    body = {"url": "https://hooks.example.com/signum", "event_types": ["asset.created"]}
    made = await asyncio.gather(*(tried(admin, f"/orgs/{acme}/webhooks", body) for _ in range(4)))
    assert sorted(made) == [201, 201, 409, 409]


async def test_documents_beyond_the_room_of_an_organization_are_refused(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    firm = await Firm.found(world)
    party, papers = await firm.party(), [pdf([str(number)]) for number in range(3)]
    monkeypatch.setattr(settings(), "document_bytes", sum(map(len, papers[:2])))

    async def upload(content: bytes, kind: str) -> Any:
        path, headers = f"/identity/parties/{party['id']}/documents", {"content-type": "application/pdf"}
        return await firm.admin.call("POST", path, content=content, headers=headers, params={"kind": kind})

    for number in range(2):
        await upload(papers[number], "passport")
    with pytest.raises(ApiProblem, match="SIGNUM_DOCUMENT_BYTES") as refused:
        await upload(papers[2], "passport")
    assert refused.value.status == 409
    other = await firm.party()
    path, headers = f"/identity/parties/{other['id']}/documents", {"content-type": "application/pdf"}
    await firm.admin.call("POST", path, content=papers[0], headers=headers, params={"kind": "passport"})
    listed = await firm.admin.call("GET", f"/identity/parties/{party['id']}/documents")
    assert len(listed["documents"]) == 2


async def test_organizations_below_one_root_are_limited_each_day(
    world: World, limits: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rate_limit, "ORGANIZATIONS_BELOW", RateLimitItemPerDay(2))
    top = await world.organization()
    admin = await world.person(top)
    unit = (await admin.call("POST", f"/orgs/{top}/sub-orgs", json={"name": "Unit"}))["id"]
    assert await tried(admin, f"/orgs/{unit}/sub-orgs", {"name": "Below"}) == 201
    assert await tried(admin, f"/orgs/{unit}/sub-orgs", {"name": "Too many"}) == 429
    other = await world.organization("Other")
    assert await tried(await world.person(other), f"/orgs/{other}/sub-orgs", {"name": "Unit"}) == 201
