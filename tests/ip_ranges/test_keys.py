"""An API key's allowed IP ranges apply beside those of its organization."""

from typing import Any
from uuid import UUID

import httpx

from backend.core.settings import settings
from tests.conftest import World
from tests.factors.steps import problem_of
from tests.ip_ranges.steps import HOME, OFFICE, at, client_at, restrict, transport_at


async def make(world: World, organization: UUID, *ranges: str) -> dict[str, Any]:
    """A key that can create keys, with some ranges."""
    body = {"name": "Export", "scopes": ["orgs:read", "api-keys:write"], "allowed_ip_ranges": ranges}
    return dict(await (await world.person(organization)).call("POST", f"/orgs/{organization}/api-keys", json=body))


async def test_key_works_only_from_its_ranges(world: World, api: Any) -> None:
    acme = await world.organization()
    made = await make(world, acme, "203.0.113.0/24", "2001:DB8::/32")
    assert made["allowed_ip_ranges"] == ["203.0.113.0/24", "2001:db8::/32"]
    key = {"x-api-key": made["key"]}
    assert (await client_at(api, OFFICE).call("GET", f"/orgs/{acme}", headers=key))["id"] == str(acme)
    refused = await problem_of(client_at(api, HOME).call("GET", f"/orgs/{acme}", headers=key))
    assert (refused.status, refused.rule, refused.body["address"]) == (403, "ip_address", HOME)
    assert refused.detail == (
        f"Your IP address {HOME} is not in the allowed IP ranges of the API key Export. "
        "Use an allowed address, or create another key that allows yours."
    )
    person = at(api, HOME, await world.person(acme))
    both = person.call("GET", f"/orgs/{acme}", headers=key)
    assert (await problem_of(both)).rule == "ip_address", "also beside a session"
    listed = (await person.call("GET", f"/orgs/{acme}/api-keys"))["api_keys"]
    assert listed[0]["allowed_ip_ranges"] == made["allowed_ip_ranges"]
    entry = (await person.call("GET", f"/orgs/{acme}/audit"))["audit"][0]
    assert entry["after"]["allowed_ip_ranges"] == made["allowed_ip_ranges"]


async def test_organization_ranges_apply_in_addition_to_key_ranges(world: World, api: Any) -> None:
    acme = await world.organization()
    key = {"x-api-key": (await make(world, acme, OFFICE, HOME))["key"]}
    await restrict(acme, OFFICE)
    assert await client_at(api, OFFICE).call("GET", f"/orgs/{acme}", headers=key)
    refused = await problem_of(client_at(api, HOME).call("GET", f"/orgs/{acme}", headers=key))
    assert "ranges of Acme" in refused.detail


async def test_key_token_is_issued_and_works_only_from_its_ranges(world: World, api: Any) -> None:
    acme = await world.organization()
    made = await make(world, acme, OFFICE)
    form = {"grant_type": "client_credentials", "client_id": made["id"], "client_secret": made["key"]}
    tokens = []
    for address in (OFFICE, HOME):
        async with httpx.AsyncClient(transport=transport_at(api, address), base_url=settings().origin) as http:
            tokens.append(await http.post("/v1/oauth/token", data=form))
    assert [t.status_code for t in tokens] == [200, 403]
    assert tokens[1].json()["rule"] == "ip_address"
    token = tokens[0].json()["access_token"]
    assert await client_at(api, OFFICE).call("GET", f"/orgs/{acme}", token=token)
    assert (await problem_of(client_at(api, HOME).call("GET", f"/orgs/{acme}", token=token))).rule == "ip_address"


async def test_key_created_by_a_key_allows_no_further_addresses(world: World, api: Any) -> None:
    acme = await world.organization()
    first = {"x-api-key": (await make(world, acme, "203.0.113.0/24"))["key"]}
    body = {"name": "Second", "scopes": ["orgs:read"]}
    office, path = client_at(api, OFFICE), f"/orgs/{acme}/api-keys"

    async def second(**more: Any) -> Any:
        return await office.call("POST", path, json=body | more, headers=first)

    assert (await second())["allowed_ip_ranges"] == ["203.0.113.0/24"], "it inherits them"
    assert (await second(allowed_ip_ranges=None))["allowed_ip_ranges"] == ["203.0.113.0/24"]
    assert (await second(allowed_ip_ranges=[OFFICE]))["allowed_ip_ranges"] == [OFFICE]
    for wider in (["203.0.0.0/16"], [OFFICE, HOME]):
        refused = await problem_of(second(allowed_ip_ranges=wider))
        assert refused.status == 403
        assert "is not within 203.0.113.0/24" in refused.detail
