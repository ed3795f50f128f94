"""Sensitive operations in a browser need a fresh factor; an organization can require a factor of all its people."""

from typing import Any
from urllib.parse import urlencode
from uuid import UUID, uuid4

import httpx
import pytest
from eth_account import Account

from backend.auth.scopes import Scope
from backend.core.settings import settings
from backend.users.schemas import Role
from tests.auth.test_wallet_sign_in import begin, signed, text_of
from tests.conftest import PASSWORD, Actor, World
from tests.factors.steps import App, grow_stale, problem_of, set_up
from tests.oauth.application import register

WALLET = "0x" + "1b" * 20
CONTROL = {"chain_eid": 40161, "amount": "1", "reason": "A test"}
TRANSFER = {
    "asset_id": "01a203ce-1063-7732-b24e-eaaa9544c377",
    "chain_eid": 40161,
    "from_wallet_id": "01a203ce-1063-7732-b24e-eaaa9544c377",
    "to_address": WALLET,
    "amount": "1",
}
ORDER = {"side": "sell", "price": "1", "amount": "1", "wallet_id": "01a203ce-1063-7732-b24e-eaaa9544c377"}
SENSITIVE: list[tuple[str, str, dict[str, Any] | None]] = [
    ("POST", "api-keys", {"name": "k", "scopes": ["orgs:read"]}),
    ("DELETE", "api-keys/{id}", None),
    ("POST", "oauth-clients", {"name": "a", "redirect_uris": ["https://a.example/cb"], "scopes": ["openid"]}),
    ("DELETE", "oauth-clients/{id}", None),
    ("POST", "members", {"wallet_address": WALLET}),
    ("PATCH", "members/{id}", {"role": "viewer"}),
    ("DELETE", "members/{id}", None),
    ("POST", "invitations", {"email": "ann@example.com", "role": "viewer"}),
    ("PATCH", "", {"approvals": ["token.mint"]}),
    ("PATCH", "", {"require_second_factor": True}),
    ("PATCH", "", {"approver_wait_hours": 48}),
    ("PATCH", "", {"network": "mainnet"}),
    ("PATCH", "assets/{id}/daily-limits", {"mint": "1"}),
    ("POST", "sub-orgs/{id}/move", {"newParentId": "01a203ce-1063-7732-b24e-eaaa9544c377"}),
    ("PATCH", "", {"member_requirements": {"kyc_required": True}}),
    ("POST", "approvals", {"approvals": ["token.mint"]}),
    ("POST", "approvals/{id}/approve", None),
    ("POST", "wallets", {"label": "Treasury"}),
    ("PATCH", "wallets/{id}", {"is_default": True}),
    ("DELETE", "wallets/{id}", None),
    ("POST", "assets/{id}/mint", CONTROL | {"to_address": WALLET}),
    ("POST", "assets/{id}/burn", CONTROL | {"address": WALLET}),
    ("POST", "assets/{id}/forced-transfer", CONTROL | {"from_address": WALLET, "to_address": WALLET}),
    ("PATCH", "assets/{id}", {"max_holders": 9}),
    ("POST", "transfers", TRANSFER),
    ("POST", "assets/{id}/bridge", {"source_chain_eid": 40161, "destination_chain_eid": 40245, "amount": "1"}),
    ("POST", "assets/{id}/distributions/{id}/activate", None),
    ("POST", "assets/{id}/markets", {"chain_eid": 40161, "market_factory_address": WALLET}),
    ("POST", "assets/{id}/markets/{id}/orders", ORDER),
    ("POST", "webhooks", {"url": "https://hooks.example/in"}),
    ("PATCH", "webhooks/{id}", {"url": "https://hooks.example/in"}),
    ("POST", "webhooks/{id}/rotate-secret", None),
    ("POST", "requests/{id}/retry", None),
    ("POST", "assets/{id}/recover", {"chain_eid": 40161, "lost_address": WALLET, "new_address": WALLET, "reason": "a"}),
]


def path_of(organization: UUID, path: str) -> str:
    """A path below an organization, with an id that does not exist."""
    return f"/orgs/{organization}/{path.replace('{id}', str(uuid4()))}".rstrip("/")


async def admin_with_app(world: World) -> tuple[UUID, Actor, App]:
    """An admin of a new organization whose last factor proof is old."""
    acme = await world.organization()
    person = await world.person(acme)
    app = await set_up(person)
    await grow_stale(person)
    return acme, person, app


@pytest.mark.long
@pytest.mark.parametrize(("method", "path", "body"), SENSITIVE, ids=[f"{m} {p}" for m, p, _ in SENSITIVE])
async def test_sensitive_operation_in_a_browser_requires_a_fresh_factor(
    world: World, method: str, path: str, body: dict[str, Any] | None
) -> None:
    acme, person, _ = await admin_with_app(world)
    refused = await problem_of(person.call(method, path_of(acme, path), json=body))
    assert (refused.status, refused.rule) == (403, "fresh_factor")
    assert refused.body["resolution"] == {
        "method": "POST",
        "path": "/auth/factors/verify",
        "href": f"{settings().base_url}/auth/factors/verify",
        "description": "Confirm a second factor, then repeat the request.",
        "body": {
            "type": "object",
            "required": ["code"],
            "properties": {"code": {"type": "string", "examples": ["123456"]}},
        },
    }


async def test_membership_is_accepted_with_a_fresh_factor(world: World) -> None:
    _, person, app = await admin_with_app(world)
    other = await world.organization()
    attacker = await world.person(other)
    body = {"user_id": str(person.user_id), "role": "admin"}
    membership = await attacker.call("POST", f"/orgs/{other}/members", json=body)
    path = f"/memberships/{membership['id']}/accept"
    assert (await problem_of(person.call("POST", path))).rule == "fresh_factor"
    await person.call("POST", "/auth/factors/verify", json={"code": app.code(1)})
    assert (await person.call("POST", path))["status"] == "active"


async def test_sensitive_operation_passes_for_five_minutes_after_a_factor(world: World) -> None:
    acme, person, app = await admin_with_app(world)
    body = {"name": "k", "scopes": ["orgs:read"]}
    # The same idempotency key: a refusal for lack of a factor is not stored.
    again: dict[str, Any] = {"json": body, "idempotency_key": "once"}
    assert (await problem_of(person.call("POST", f"/orgs/{acme}/api-keys", **again))).rule == "fresh_factor"
    await person.call("POST", "/auth/factors/verify", json={"code": app.code(1)})
    key = await person.call("POST", f"/orgs/{acme}/api-keys", **again)
    assert key["key"].startswith("sgn_")
    await grow_stale(person)
    assert (await problem_of(person.call("DELETE", f"/orgs/{acme}/api-keys/{key['id']}"))).rule == "fresh_factor"


async def test_wrong_code_leaves_the_factor_stale(world: World) -> None:
    acme, person, _ = await admin_with_app(world)
    wrong = await problem_of(person.call("POST", "/auth/factors/verify", json={"code": "000000"}))
    assert wrong.by_field()["code"]
    refused = await problem_of(person.call("POST", f"/orgs/{acme}/wallets", json={"label": "Treasury"}))
    assert refused.rule == "fresh_factor"


async def test_everyday_operations_and_dry_runs_need_no_factor(world: World) -> None:
    acme, person, _ = await admin_with_app(world)
    await person.call("PATCH", f"/orgs/{acme}", json={"name": "Acme Two"})
    plan = await person.call("PATCH", f"/orgs/{acme}", json={"approvals": ["token.mint"]}, params={"dry_run": "true"})
    assert plan["steps"]
    body = {"approvals": ["token.mint"]}
    for value in ("false", "maybe"):
        refused = await problem_of(person.call("POST", f"/orgs/{acme}/approvals", json=body, params={"dry_run": value}))
        assert (refused.status, refused.rule) == (403, "fresh_factor"), "only a dry run needs none"


@pytest.mark.long
async def test_keys_and_programs_need_no_factor(world: World) -> None:
    acme, person, app = await admin_with_app(world)
    body = {"name": "k", "scopes": ["orgs:read"]}
    key = await world.key(acme, created_by=person.user_id)
    await world.client.call("POST", f"/orgs/{acme}/api-keys", json=body, headers=key)
    login = {"email": person.email, "password": PASSWORD, "code": app.code(1)}
    tokens = await world.client.call("POST", "/auth/login", json=login)
    await world.client.call("POST", f"/orgs/{acme}/api-keys", json=body, token=tokens["access_token"])


async def test_key_beside_a_browser_session_does_not_replace_the_factor(world: World) -> None:
    acme, person, _ = await admin_with_app(world)
    key = await world.key(acme, Scope.WALLETS_WRITE)
    call = person.call("POST", f"/orgs/{acme}/wallets", json={"label": "Treasury"}, headers=key)
    assert (await problem_of(call)).rule == "fresh_factor"


async def test_wallet_is_linked_with_a_fresh_factor_and_signs_in_with_a_code(world: World) -> None:
    _, person, app = await admin_with_app(world)
    account = Account.create()

    async def sign(**more: Any) -> dict[str, Any]:
        return signed(account, text_of(await begin(world), account.address)) | more

    stale = await problem_of(person.call("POST", "/auth/siwe/verify", json=await sign(link=True)))
    assert stale.rule == "fresh_factor"
    await person.call("POST", "/auth/factors/verify", json={"code": app.code(1)})
    await person.call("POST", "/auth/siwe/verify", json=await sign(link=True))
    missing = await problem_of(world.client.call("POST", "/auth/siwe/verify", json=await sign()))
    assert (missing.status, missing.rule) == (401, "second_factor")
    code = app.recovery_codes[0]
    tokens = await world.client.call("POST", "/auth/siwe/verify", json=await sign(code=code))
    assert tokens["user"]["email"] == person.email


@pytest.mark.long
async def test_approval_succeeds_when_a_factor_is_required(world: World) -> None:
    acme = await world.organization()
    first, second = await world.person(acme), await world.person(acme)
    for person in (first, second):
        await set_up(person)
    await first.call("PATCH", f"/orgs/{acme}", json={"require_second_factor": True, "approvals": ["token.mint"]})
    asked = await first.call("POST", f"/orgs/{acme}/approvals", json={"approvals": []})
    decided = await second.call("POST", f"/orgs/{acme}/approvals/{asked['approvalId']}/approve")
    assert decided["status"] == "approved"


@pytest.mark.long
async def test_organization_that_requires_a_factor_refuses_people_without_one(world: World) -> None:
    acme = await world.organization()
    below = await world.organization("Below", acme)
    admin, member = await world.person(acme), await world.person(acme, Role.MEMBER)
    local, key = await world.person(below), await world.key(acme)
    alone = await problem_of(admin.call("PATCH", f"/orgs/{acme}", json={"require_second_factor": True}))
    assert (alone.status, alone.dependencyChain) == (409, ["second_factor"]), "no one can lock themselves out"

    await set_up(admin)
    changed = await admin.call("PATCH", f"/orgs/{acme}", json={"require_second_factor": True})
    assert changed["require_second_factor"]
    tokens = await world.client.call("POST", "/auth/login", json={"email": member.email, "password": PASSWORD})
    for call in (
        member.call("GET", f"/orgs/{acme}"),
        member.call("GET", f"/orgs/{acme}/assets"),
        world.client.call("GET", f"/orgs/{acme}/assets", token=tokens["access_token"]),
        local.call("GET", f"/orgs/{below}"),
    ):
        refused = await problem_of(call)
        assert (refused.status, refused.rule) == (403, "second_factor_required")
    assert (await admin.call("GET", f"/orgs/{below}"))["name"] == "Below"
    await world.client.call("GET", f"/orgs/{acme}/assets", headers=key)

    await set_up(member)
    assert (await member.call("GET", f"/orgs/{acme}"))["id"] == str(acme)


async def test_factor_requirement_is_lifted_only_with_a_fresh_factor(world: World) -> None:
    acme, person, app = await admin_with_app(world)
    await person.call("POST", "/auth/factors/verify", json={"code": app.code(1)})
    await person.call("PATCH", f"/orgs/{acme}", json={"require_second_factor": True})
    await grow_stale(person)
    refused = await problem_of(person.call("PATCH", f"/orgs/{acme}", json={"require_second_factor": False}))
    assert refused.rule == "fresh_factor"
    null = await problem_of(person.call("PATCH", f"/orgs/{acme}", json={"require_second_factor": None}))
    assert null.status == 422


async def test_application_gets_a_write_scope_only_with_a_fresh_factor(world: World, http: httpx.AsyncClient) -> None:
    acme, person, app = await admin_with_app(world)
    application = await register(world, http, acme, scopes=["openid", "orgs:read", "members:write"])
    writes, reads = application.request("openid members:write"), application.request("openid orgs:read")
    asked = await application.send(person, reads)
    assert asked.headers["location"].startswith("/oauth/consent?")
    asked = await application.send(person, writes)
    assert asked.headers["location"].startswith("/sign-in?next="), "signing in requires the factor"
    refused = await problem_of(person.call("POST", "/oauth/consent", json={**writes, "approve": True}))
    assert (refused.status, refused.rule) == (403, "fresh_factor")
    form = {"query": urlencode(writes), "decision": "approve"}
    sent = await http.post("/oauth/decide", data=form, headers={"cookie": person.cookie, "origin": settings().origin})
    assert sent.headers["location"].startswith("/sign-in?next=")

    await person.call("POST", "/auth/factors/verify", json={"code": app.code(1)})
    tokens = await application.sign_in(person, "openid members:write")
    await grow_stale(person)
    body = {"wallet_address": WALLET}
    added = await world.client.call("POST", f"/orgs/{acme}/members", json=body, token=tokens["access_token"])
    assert added["status"] == "pending", "the application itself needs none"
