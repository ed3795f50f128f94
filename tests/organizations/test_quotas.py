"""Quotas of an organization: API keys, OAuth clients, webhook endpoints, documents, and organizations below it."""

import asyncio
from typing import Any
from uuid import UUID

import pytest
from limits import RateLimitItemPerDay

from backend.client import ApiProblem
from backend.core.settings import settings
from backend.limits import rate_limits
from backend.organizations import quotas
from backend.webhooks import rules as webhooks
from tests.conftest import Actor, World
from tests.support.firm import Firm
from tests.support.specimens import pdf

KEY = {"name": "export", "scopes": ["orgs:read"]}
CLIENT = {"name": "Portal", "redirect_uris": ["https://portal.example/callback"]}


async def tried(who: Actor, path: str, body: Any) -> int:
    """Return the status of a POST."""
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
async def test_organization_at_a_quota_must_remove_one_first(
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


async def test_webhook_endpoints_created_concurrently_stay_within_the_quota(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webhooks, "MAX_ENDPOINTS", 2)
    acme = await world.organization()
    admin = await world.person(acme)
    body = {"url": "https://hooks.example.com/signum", "event_types": ["asset.created"]}
    made = await asyncio.gather(*(tried(admin, f"/orgs/{acme}/webhooks", body) for _ in range(4)))
    assert sorted(made) == [201, 201, 409, 409]


async def test_endpoints_above_one_organization_stay_within_the_quota(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quotas, "ENDPOINTS_ABOVE", 3)
    top = await world.organization("Top")
    middle = await world.organization("Middle", top)
    leaf, beside = await world.organization("Leaf", middle), await world.organization("Beside", top)
    admin = await world.person(top)

    async def added(organization: UUID, include_descendants: bool = True) -> int:
        body = {"url": "https://hooks.example.com/signum", "include_descendants": include_descendants}
        return await tried(admin, f"/orgs/{organization}/webhooks", body)

    made = await asyncio.gather(*(added(organization) for organization in (leaf, middle, leaf, middle)))
    assert sorted(made) == [201, 201, 201, 409]
    assert [await added(top), await added(top, False), await added(beside)] == [409, 201, 201]


async def test_endpoint_that_starts_to_include_descendants_counts_for_the_quota(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quotas, "ENDPOINTS_ABOVE", 1)
    top = await world.organization("Top")
    leaf = await world.organization("Leaf", top)
    admin, body = await world.person(top), {"url": "https://hooks.example.com/signum"}
    await admin.call("POST", f"/orgs/{top}/webhooks", json=body | {"include_descendants": True})
    made = await admin.call("POST", f"/orgs/{leaf}/webhooks", json=body)
    with pytest.raises(ApiProblem, match="more than 1 webhook endpoints") as refused:
        await admin.call("PATCH", f"/orgs/{leaf}/webhooks/{made['id']}", json={"include_descendants": True})
    assert refused.value.status == 409


async def test_move_below_too_many_endpoints_is_refused(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quotas, "ENDPOINTS_ABOVE", 1)
    top = await world.organization("Top")
    one, other = await world.organization("One", top), await world.organization("Other", top)
    unit = await world.organization("Unit", one)
    admin, body = await world.person(top), {"url": "https://hooks.example.com/signum", "include_descendants": True}
    for organization in (unit, other):
        await admin.call("POST", f"/orgs/{organization}/webhooks", json=body)
    path = f"/orgs/{one}/sub-orgs/{unit}/move"
    with pytest.raises(ApiProblem, match="more than 1 webhook endpoints") as refused:
        await admin.call("POST", path, json={"newParentId": str(other)})
    assert refused.value.status == 409


async def test_documents_above_the_storage_quota_are_refused(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
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


async def test_documents_of_a_hierarchy_stay_within_its_own_quota(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    founder = await world.person(await world.organization("Employer"))
    root, other = [(await founder.call("POST", "/orgs", json={"name": name}))["id"] for name in ("One", "Two")]
    units = [(await founder.call("POST", f"/orgs/{root}/sub-orgs", json={"name": "Unit"}))["id"] for _ in range(2)]
    papers = [pdf([str(number)]) for number in range(3)]
    monkeypatch.setattr(settings(), "document_bytes", max(map(len, papers)))
    monkeypatch.setattr(quotas, "DOCUMENT_SHARES", 2)

    async def upload(who: Actor, organization: UUID | str, content: bytes) -> int:
        facts = {"name": "Ada", "country": "SGP", "organization_id": str(organization)}
        party = await who.call("POST", "/identity/parties", json=facts)
        headers, params = {"content-type": "application/pdf"}, {"kind": "passport"}
        try:
            path = f"/identity/parties/{party['id']}/documents"
            await who.call("POST", path, content=content, headers=headers, params=params)
        except ApiProblem as problem:
            return problem.status
        return 201

    made = [await upload(founder, where, paper) for where, paper in zip([root, *units], papers, strict=True)]
    assert made == [201, 201, 409]
    assert await upload(founder, other, papers[2]) == 201, "another root of the same founder has its own quota"


async def test_organizations_below_one_root_are_limited_per_day(
    world: World, limits: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rate_limits, "ORGANIZATIONS_BELOW", RateLimitItemPerDay(2))
    top = await world.organization()
    admin = await world.person(top)
    unit = (await admin.call("POST", f"/orgs/{top}/sub-orgs", json={"name": "Unit"}))["id"]
    assert await tried(admin, f"/orgs/{unit}/sub-orgs", {"name": "Below"}) == 201
    assert await tried(admin, f"/orgs/{unit}/sub-orgs", {"name": "Too many"}) == 429
    other = await world.organization("Other")
    assert await tried(await world.person(other), f"/orgs/{other}/sub-orgs", {"name": "Unit"}) == 201
