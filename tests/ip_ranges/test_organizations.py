"""An organization's allowed IP ranges apply to every caller, there and below."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest

from backend.core.runtime import runtime
from backend.core.settings import settings
from backend.limits import proxy_warning
from backend.limits.client_address import CONSOLE
from backend.users.schemas import Role
from tests.conftest import PASSWORD, World
from tests.factors.steps import grow_stale, problem_of, set_up
from tests.ip_ranges.steps import HOME, OFFICE, at, client_at, restrict, transport_at
from tests.oauth.application import register
from tests.support.firm import Firm

RANGES = ["203.0.113.0/24"]


def patch(organization: UUID, ranges: Any) -> tuple[str, str, dict[str, Any]]:
    """Set an organization's ranges."""
    return "PATCH", f"/orgs/{organization}", {"allowed_ip_ranges": ranges}


async def test_address_outside_the_ranges_is_refused_with_address_list_and_fix(world: World, api: Any) -> None:
    acme = await world.organization()
    office = at(api, OFFICE, await world.person(acme))
    method, path, body = patch(acme, ["203.0.113.0/24", "2001:DB8::/32"])
    changed = await office.call(method, path, json=body)
    assert changed["allowed_ip_ranges"] == ["203.0.113.0/24", "2001:db8::/32"]

    refused = await problem_of(at(api, HOME, office).call("GET", path))
    assert (refused.status, refused.rule, refused.body["address"]) == (403, "ip_address", HOME)
    assert refused.type.endswith("/errors/ip-address-not-allowed")
    assert refused.detail == (
        f"Your IP address {HOME} is not in the allowed IP ranges of Acme. "
        "Use an allowed address, or have an admin of Acme at an allowed address add yours."
    )
    assert refused.body["resolution"]["path"] == path
    for address in (OFFICE, f"::ffff:{OFFICE}", "2001:db8::7"):
        assert (await at(api, address, office).call("GET", path))["id"] == str(acme)
    assert (await problem_of(at(api, f"::ffff:{HOME}", office).call("GET", path))).body["address"] == HOME

    null = await problem_of(office.call("PATCH", path, json={"allowed_ip_ranges": None}))
    assert (null.status, list(null.by_field())) == (422, ["allowed_ip_ranges"])
    assert (await problem_of(at(api, HOME, office).call("GET", path))).rule == "ip_address", "null removed nothing"
    assert (await office.call("PATCH", path, json={"allowed_ip_ranges": []}))["allowed_ip_ranges"] == []
    assert (await at(api, HOME, office).call("GET", path))["id"] == str(acme)


async def test_ranges_apply_to_sessions_programs_keys_and_applications(world: World, api: Any) -> None:
    acme = await world.organization()
    person, key = await world.person(acme), await world.key(acme)
    login = {"email": person.email, "password": PASSWORD}
    token = (await world.client.call("POST", "/auth/login", json=login))["access_token"]
    async with httpx.AsyncClient(transport=transport_at(api, OFFICE), base_url=settings().origin) as http:
        application = await register(world, http, acme, scopes=["openid", "orgs:read"])
        tokens = await application.sign_in(person, "openid orgs:read")
        granted = tokens["access_token"]
        form = {"grant_type": "client_credentials", "client_id": str(acme), "client_secret": key["x-api-key"]}
        key_token = (await http.post("/v1/oauth/token", data=form)).json()["access_token"]
    await restrict(acme, *RANGES)

    credentials: list[dict[str, Any]] = [
        {"cookie": person.cookie},
        {"token": token},
        {"headers": key},
        {"cookie": person.cookie, "headers": key},
        {"token": granted},
        {"token": key_token},
    ]
    office, home = client_at(api, OFFICE), client_at(api, HOME)
    for credential in credentials:
        assert (await office.call("GET", f"/orgs/{acme}", **credential))["id"] == str(acme)
        for path in (f"/orgs/{acme}", f"/orgs/{acme}/summary", f"/orgs/{acme}/audit"):
            refused = await problem_of(home.call("GET", path, **credential))
            assert (refused.status, refused.rule) == (403, "ip_address")
    # Operations without an organization: people can continue, while keys and applications belong to an organization.
    assert (await home.call("GET", "/auth/me", cookie=person.cookie))["ip_address"] == HOME
    assert (await problem_of(home.call("GET", "/oauth/userinfo", token=granted))).rule == "ip_address"
    assert (await problem_of(home.call("GET", "/identity/parties", headers=key))).rule == "ip_address"


async def test_token_endpoint_issues_nothing_outside_the_ranges(world: World, api: Any) -> None:
    acme = await world.organization()
    person, key = await world.person(acme), await world.key(acme)
    async with (
        httpx.AsyncClient(transport=transport_at(api, OFFICE), base_url=settings().origin) as office,
        httpx.AsyncClient(transport=transport_at(api, HOME), base_url=settings().origin) as home,
    ):
        application = await register(world, office, acme, scopes=["openid", "orgs:read"])
        tokens = await application.sign_in(person, "openid orgs:read")
        code = await application.code(person, "openid")
        await restrict(acme, *RANGES)
        application.http = home
        secret = {"grant_type": "client_credentials", "client_id": str(acme), "client_secret": key["x-api-key"]}
        for answer in (
            await application.exchange(code),
            await application.refresh(tokens["refresh_token"]),
            await home.post("/v1/oauth/token", data=secret),
            await home.post("/v1/oauth/introspect", data={**secret, "token": tokens["access_token"]}),
        ):
            assert (answer.status_code, answer.json()["rule"]) == (403, "ip_address")
            assert answer.headers["content-type"] == "application/problem+json"
        application.http = office
        assert (await application.exchange(code)).status_code == 200, "a refusal does not use up a code"
        assert (await application.refresh(tokens["refresh_token"])).status_code == 200

    login = {"email": person.email, "password": PASSWORD, "org_id": str(acme)}
    refused = await problem_of(client_at(api, HOME).call("POST", "/auth/login", json=login))
    assert (refused.status, refused.rule) == (403, "ip_address")
    assert (await client_at(api, OFFICE).call("POST", "/auth/login", json=login))["access_token"]


async def test_address_must_be_allowed_by_every_organization_above(world: World, api: Any) -> None:
    group = await world.organization("Group")
    middle = await world.organization("Middle", group)
    below = await world.organization("Below", middle)
    local, key = await world.person(below), await world.key(below)
    await restrict(group, "203.0.113.0/24", "198.51.100.0/24")
    await restrict(below, OFFICE)
    office, home, abroad = (client_at(api, a) for a in (OFFICE, HOME, "192.0.2.1"))
    for credential in ({"cookie": local.cookie}, {"headers": key}):
        assert (await office.call("GET", f"/orgs/{below}", **credential))["name"] == "Below"
        assert "ranges of Below" in (await problem_of(home.call("GET", f"/orgs/{below}", **credential))).detail
    await restrict(below)
    refused = await problem_of(abroad.call("GET", f"/orgs/{below}", cookie=local.cookie))
    assert "ranges of Group" in refused.detail
    assert refused.body["resolution"]["path"] == f"/orgs/{group}"
    assert (await home.call("GET", f"/orgs/{below}", headers=key))["name"] == "Below"


async def test_ranges_are_not_revealed_to_strangers(world: World, api: Any) -> None:
    acme, other = await world.organization(), await world.organization("Other")
    await restrict(acme, *RANGES)
    stranger = at(api, HOME, await world.person(other))
    assert (await problem_of(stranger.call("GET", f"/orgs/{acme}"))).rule == ""
    client = at(api, HOME, await world.person(acme, Role.CLIENT))
    assert (await problem_of(client.call("GET", f"/orgs/{acme}"))).rule == ""


async def test_lists_omit_organizations_that_refuse_the_address(world: World, api: Any) -> None:
    firm = await Firm.found(world, "Group")
    open_, closed = await world.organization("Kite open", firm.id), await world.organization("Kite closed", firm.id)
    deep = await world.organization("Kite deep", closed)
    alone = await world.organization("Kite alone")
    person = await world.person(firm.id)
    await restrict(closed, OFFICE)

    async def seen(address: str) -> list[set[str]]:
        caller = at(api, address, person)
        listed = (await caller.call("GET", "/orgs"))["organizations"]
        below = (await caller.call("GET", f"/orgs/{firm.id}/sub-orgs"))["organizations"]
        tree = (await caller.call("GET", f"/orgs/{firm.id}/tree"))["nodes"]
        found = (await caller.call("GET", f"/orgs/{firm.id}/search", params={"q": "kite"}))["results"]
        return [{row["id"] for row in rows} - {str(firm.id)} for rows in (listed, below, tree, found)]

    every, near, first = {str(open_), str(closed), str(deep)}, {str(open_), str(closed)}, {str(open_)}
    assert await seen(OFFICE) == [every, near, near, every]
    assert await seen(HOME) == [first, first, first, first]
    node = at(api, HOME, person).call("GET", f"/orgs/{firm.id}/tree", params={"parent": str(deep)})
    assert (await problem_of(node)).rule == "ip_address"
    home = httpx.AsyncClient(transport=transport_at(api, HOME), base_url=settings().origin)
    csv = await home.get("/v1/orgs.csv", headers={"cookie": person.cookie})
    assert "Kite open" in csv.text
    assert "Kite closed" not in csv.text
    for path in (f"/v1/orgs/{closed}/members.csv", f"/v1/orgs/{deep}/audit.csv"):
        assert (await home.get(path, headers={"cookie": person.cookie})).json()["rule"] == "ip_address"
    await home.aclose()

    await restrict(alone, OFFICE)
    lonely = at(api, HOME, await world.person(alone))
    assert (await lonely.call("GET", "/orgs"))["organizations"] == []
    assert [o["id"] for o in (await lonely.call("GET", "/auth/me"))["organizations"]] == [str(alone)]


async def test_move_requires_an_address_allowed_on_every_side(world: World, api: Any) -> None:
    group = await world.organization("Group")
    target, moved = await world.organization("Target", group), await world.organization("Moved", group)
    person = await world.person(group)
    body = {"newParentId": str(target)}
    for refusing in (target, moved):
        await restrict(refusing, OFFICE)
        call = at(api, HOME, person).call("POST", f"/orgs/{group}/sub-orgs/{moved}/move", json=body)
        assert (await problem_of(call)).rule == "ip_address"
        await restrict(refusing)
    await restrict(target, OFFICE)
    move = await at(api, OFFICE, person).call("POST", f"/orgs/{group}/sub-orgs/{moved}/move", json=body)
    assert move["parent_id"] == str(target)
    assert (await problem_of(at(api, HOME, person).call("GET", f"/orgs/{moved}"))).rule == "ip_address"


async def test_list_without_the_callers_own_address_is_refused(world: World, api: Any) -> None:
    acme = await world.organization()
    person = await world.person(acme)
    method, path, body = patch(acme, [OFFICE])
    for call in (
        at(api, HOME, person).call(method, path, json=body),
        at(api, HOME, person).call(method, path, json=body, params={"dry_run": "true"}),
    ):
        refused = await problem_of(call)
        assert refused.status == 409
        assert f"Your IP address is {HOME}" in refused.detail
    assert (await person.call("GET", path))["allowed_ip_ranges"] == []
    both = await at(api, HOME, person).call(method, path, json={"allowed_ip_ranges": [OFFICE, HOME]})
    assert both["allowed_ip_ranges"] == [OFFICE, HOME]


@pytest.mark.parametrize(
    ("ranges", "pointer", "said"),
    [
        (["203.0.113.7", "10.0.0.1/8"], "/allowed_ip_ranges/1", "the network is 10.0.0.0/8"),
        (["office"], "/allowed_ip_ranges/0", "is not an IP address"),
        (["0.0.0.0/0"], "/allowed_ip_ranges/0", "leave the list empty"),
        (["203.0.113.7", "::ffff:203.0.113.7"], "/allowed_ip_ranges/1", "duplicate of 203.0.113.7"),
        ([f"10.0.0.{n}" for n in range(101)], "/allowed_ip_ranges", "at most 100"),
    ],
)
async def test_malformed_list_is_refused_at_the_entry(
    world: World, api: Any, ranges: list[str], pointer: str, said: str
) -> None:
    acme = await world.organization()
    person = at(api, OFFICE, await world.person(acme))
    key = {"name": "k", "scopes": ["orgs:read"], "allowed_ip_ranges": ranges}
    for call in (
        person.call("PATCH", f"/orgs/{acme}", json={"allowed_ip_ranges": ranges}),
        person.call("POST", f"/orgs/{acme}/api-keys", json=key),
    ):
        refused = await problem_of(call)
        assert (refused.status, [e["pointer"] for e in refused.errors]) == (422, [pointer])
        assert said in refused.errors[0]["detail"]


async def test_ranges_change_needs_a_fresh_factor_and_is_audited(world: World, api: Any) -> None:
    acme = await world.organization()
    person = at(api, OFFICE, await world.person(acme))
    app = await set_up(person)
    await grow_stale(person)
    method, path, body = patch(acme, RANGES)
    assert (await problem_of(person.call(method, path, json=body))).rule == "fresh_factor"
    await person.call("POST", "/auth/factors/verify", json={"code": app.code(1)})
    await person.call(method, path, json=body)
    entry = (await person.call("GET", f"/orgs/{acme}/audit"))["audit"][0]
    assert (entry["action"], entry["before"]["allowed_ip_ranges"]) == ("organization.updated", [])
    assert entry["after"]["allowed_ip_ranges"] == RANGES

    viewer = at(api, OFFICE, await world.person(acme, Role.VIEWER))
    assert (await problem_of(viewer.call(method, path, json=body))).body["scope"] == "orgs:write"


@pytest.fixture
def no_proxy_warning() -> Iterator[None]:
    """Forwarded addresses of a test leave no note for `GET /v1/ready`."""
    yield
    runtime.reset(proxy_warning.Sighting)


@pytest.mark.usefixtures("no_proxy_warning")
async def test_console_is_refused_by_the_browser_address(world: World, api: Any) -> None:
    acme = await world.organization()
    person = await world.person(acme)
    await restrict(acme, OFFICE)
    console = at(api, CONSOLE, person)
    response = {"headers": {"x-forwarded-for": OFFICE}}
    assert (await console.call("GET", f"/orgs/{acme}", **response))["id"] == str(acme)
    for forwarded in ({"x-forwarded-for": HOME}, {"x-forwarded-for": f"{OFFICE}, {HOME}"}):
        refused = await problem_of(console.call("GET", f"/orgs/{acme}", headers=forwarded))
        assert refused.body["address"] == HOME
    unknown = await problem_of(console.call("GET", f"/orgs/{acme}"))
    assert (unknown.rule, unknown.body["address"]) == ("ip_address", None)


async def test_devnet_follows_the_ranges_of_the_operator_organization(world: World, api: Any) -> None:
    root = await world.operator()
    admin = await world.person(root)
    await restrict(root, OFFICE)
    try:
        assert (await problem_of(at(api, HOME, admin).call("GET", "/devnet"))).rule == "ip_address"
        assert (await at(api, OFFICE, admin).call("GET", "/devnet"))["chains"]
    finally:
        await restrict(root)


@pytest.mark.long
async def test_operator_clears_the_ranges_of_an_organization(world: World, database_url: str) -> None:
    group = await world.organization("Group")
    acme = await world.organization("Acme", group)
    await restrict(group, "192.0.2.0/24", "127.0.0.1")
    await restrict(acme, OFFICE)
    env = os.environ | {"DATABASE_URL": database_url}
    admin = await world.person(acme)

    async def clear(organization: UUID) -> tuple[int, str]:
        """Run `signum ip-ranges clear` as an operator does; return exit code and output."""
        run = [sys.executable, "-m", "backend.cli", "ip-ranges", "clear", "--org", str(organization)]
        done = await asyncio.to_thread(
            subprocess.run, [*run, "--reason", "Office moved"], env=env, capture_output=True, text=True, timeout=120
        )
        return done.returncode, done.stdout + done.stderr

    assert (await problem_of(admin.call("GET", f"/orgs/{acme}"))).rule == "ip_address"
    code, said = await clear(acme)
    assert (code, said.splitlines()) == (
        0,
        [
            f"Acme now allows every IP address. It previously allowed {OFFICE}.",
            f"Group ({group}), above it, still allows only 192.0.2.0/24, 127.0.0.1.",
        ],
    )
    assert (await admin.call("GET", f"/orgs/{acme}"))["allowed_ip_ranges"] == []
    entry = (await admin.call("GET", f"/orgs/{acme}/audit"))["audit"][0]
    assert (entry["credential"], entry["after"]) == ("operator", {"allowed_ip_ranges": [], "reason": "Office moved"})
    assert (await clear(acme))[0] == 1
    assert "No organization has the ID" in (await clear(uuid4()))[1]
