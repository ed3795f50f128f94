"""People without a second factor give a fresh proof before a sensitive action in a browser."""

import asyncio
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

import httpx
import pytest
import pytest_asyncio
from eth_account import Account

from backend.auth.credentials import cookie_name
from backend.client import ApiProblem
from backend.core import db
from backend.core.settings import settings
from backend.limits import rate_limits
from backend.models import MemberRow, UserRow, UserWalletRow
from backend.sign_in.service import open_session
from backend.users.schemas import Role
from tests.conftest import PASSWORD, Actor, World
from tests.factors.steps import grow_stale, problem_of, set_up, sign_in_was
from tests.factors.test_first_factor import proof_of
from tests.factors.test_step_up import SENSITIVE, path_of
from tests.oauth.application import register

VERIFY = "/auth/factors/verify"
KEY: dict[str, Any] = {"name": "k", "scopes": ["orgs:read"]}
MINUTE = timedelta(minutes=1)


@pytest_asyncio.fixture
async def acme(world: World) -> UUID:
    return await world.organization()


@pytest_asyncio.fixture
async def person(world: World, acme: UUID) -> Actor:
    """An admin without a second factor who signed in six minutes ago."""
    admin = await world.person(acme)
    await sign_in_was(admin, 6 * MINUTE)
    return admin


async def wallet_person(world: World, organization: UUID) -> tuple[Actor, Any]:
    """An admin without a password whose browser signed in six minutes ago, and their wallet."""
    account = Account.create()
    async with db.worker() as session:
        user = UserRow(display_name="Wanda Wallet")
        session.add(user)
        await session.flush()
        session.add(UserWalletRow(user_id=user.id, address=account.address))
        session.add(MemberRow(organization_id=organization, user_id=user.id, role=Role.ADMIN))
        _, secret = await open_session(session, user, "browser", "tests", "127.0.0.1", timedelta(days=1))
    person = Actor(user.id, "", f"{cookie_name()}={secret}", world.client)
    await sign_in_was(person, 6 * MINUTE)
    return person, account


async def makes_a_key(person: Actor, acme: UUID) -> bool:
    """Return whether a browser session of the person creates a key; otherwise the fresh proof is missing."""
    try:
        await person.call("POST", f"/orgs/{acme}/api-keys", json=KEY)
    except ApiProblem as refused:
        if refused.rule != "fresh_proof":
            raise
        return False
    return True


@pytest.mark.parametrize(("method", "path", "body"), SENSITIVE, ids=[f"{m} {p}" for m, p, _ in SENSITIVE])
async def test_sensitive_operation_in_a_browser_requires_a_fresh_proof(
    person: Actor, acme: UUID, method: str, path: str, body: dict[str, Any] | None
) -> None:
    refused = await problem_of(person.call(method, path_of(acme, path), json=body))
    assert (refused.status, refused.rule) == (403, "fresh_proof")
    assert refused.body["resolution"] == {
        "method": "POST",
        "path": "/auth/factors/verify",
        "href": f"{settings().base_url}/auth/factors/verify",
        "description": "Send your password or a wallet signature, then repeat the request.",
        "body": {
            "type": "object",
            "required": ["password"],
            "properties": {"password": {"type": "string", "examples": ["correct horse battery"]}},
        },
    }


async def test_sign_in_counts_as_proof_for_five_minutes(person: Actor, acme: UUID) -> None:
    await sign_in_was(person, 2 * MINUTE)
    assert await makes_a_key(person, acme)
    await sign_in_was(person, 5 * MINUTE)
    assert not await makes_a_key(person, acme)


@pytest.mark.long
async def test_sign_in_in_another_session_does_not_prove_this_one(world: World, person: Actor, acme: UUID) -> None:
    elsewhere = Actor(person.user_id, person.email, await world.sign_in(person.email), person.client)
    await person.client.call("POST", "/auth/login", json={"email": person.email, "password": PASSWORD})
    assert not await makes_a_key(person, acme)
    assert await makes_a_key(elsewhere, acme)
    await elsewhere.call("POST", VERIFY, json={"password": PASSWORD})
    assert not await makes_a_key(person, acme)


async def test_password_proves_a_session_for_five_minutes(person: Actor, acme: UUID) -> None:
    # The same idempotency key: a refusal for lack of a proof is not stored.
    again: dict[str, Any] = {"json": KEY, "idempotency_key": "once"}
    refused = await problem_of(person.call("POST", f"/orgs/{acme}/api-keys", **again))
    assert refused.rule == "fresh_proof"
    proven = await person.call("POST", VERIFY, json={"password": PASSWORD})
    assert (await person.call("GET", "/auth/factors"))["fresh_until"] == proven["fresh_until"]
    assert (await person.call("POST", f"/orgs/{acme}/api-keys", **again))["key"].startswith("sgn_")
    await sign_in_was(person, 6 * MINUTE, proven=5 * MINUTE)
    assert not await makes_a_key(person, acme)
    assert (await person.call("GET", "/auth/factors"))["fresh_until"] is None


async def test_proof_by_password_keeps_the_time_of_sign_in(person: Actor) -> None:
    before = (await person.call("GET", "/auth/sessions"))["sessions"]
    await person.call("POST", VERIFY, json={"password": PASSWORD})
    assert [s["signed_in_at"] for s in (await person.call("GET", "/auth/sessions"))["sessions"]] == [
        s["signed_in_at"] for s in before
    ]


async def test_wrong_or_missing_proof_leaves_the_session_stale(world: World, person: Actor, acme: UUID) -> None:
    stranger = await proof_of(world, Account.create())
    for body in ({}, {"password": "a guess"}, {"password": ""}, {"wallet": stranger}, {"password": None}):
        refused = await problem_of(person.call("POST", VERIFY, json=body))
        assert (refused.status, list(refused.by_field())) == (400, ["password"])
    for body in ({"code": "000000"}, {"code": "000000", "password": PASSWORD}):
        assert (await problem_of(person.call("POST", VERIFY, json=body))).status == 400
    assert not await makes_a_key(person, acme)


async def test_wallet_proves_the_session_of_a_person_without_a_password(world: World, acme: UUID) -> None:
    person, wallet = await wallet_person(world, acme)
    assert not await makes_a_key(person, acme)
    stranger = await proof_of(world, Account.create())
    for body in ({}, {"password": PASSWORD}, {"wallet": stranger}):
        refused = await problem_of(person.call("POST", VERIFY, json=body))
        assert (refused.status, list(refused.by_field())) == (400, ["wallet"])
    assert not await makes_a_key(person, acme)
    proof = await proof_of(world, wallet)
    await person.call("POST", VERIFY, json={"wallet": proof})
    assert await makes_a_key(person, acme)
    again = await problem_of(person.call("POST", VERIFY, json={"wallet": proof}))
    assert "nonce" in again.by_field()["wallet"], "a signature counts once"


async def test_password_does_not_replace_a_factor(world: World, acme: UUID) -> None:
    person = await world.person(acme)
    await set_up(person)
    await grow_stale(person)
    account = Account.create()
    for body in ({"password": PASSWORD}, {"wallet": await proof_of(world, account)}):
        refused = await problem_of(person.call("POST", VERIFY, json=body))
        assert refused.status == 400
    refused = await problem_of(person.call("POST", f"/orgs/{acme}/api-keys", json=KEY))
    assert refused.rule == "fresh_factor", "nor does a fresh sign-in"


async def test_proof_from_before_a_factor_does_not_replace_it(world: World, person: Actor, acme: UUID) -> None:
    await person.call("POST", VERIFY, json={"password": PASSWORD})
    await set_up(person)
    await grow_stale(person)
    refused = await problem_of(person.call("POST", f"/orgs/{acme}/api-keys", json=KEY))
    assert refused.rule == "fresh_factor"


@pytest.mark.long
async def test_password_guesses_count_across_operations(person: Actor, acme: UUID, limits: None) -> None:
    change = {"current_password": "a guess", "new_password": "another long password"}
    for n in range(5):
        path, body = (VERIFY, {"password": "a guess"}) if n % 2 else ("/auth/password/change", change)
        assert (await problem_of(person.call("POST", path, json=body))).status == 400
    right = await problem_of(person.call("POST", VERIFY, json={"password": PASSWORD}))
    assert right.status == 429
    right = await problem_of(person.call("POST", "/auth/password/change", json=change | {"current_password": PASSWORD}))
    assert right.status == 429
    assert not await makes_a_key(person, acme)


@pytest.mark.long
async def test_password_guesses_sent_concurrently_get_at_most_five_answers(person: Actor, limits: None) -> None:
    limit = rate_limits.FAILED_LOGINS_PER_ACCOUNT.amount
    problems = await asyncio.gather(
        *(problem_of(person.call("POST", VERIFY, json={"password": f"guess {n}"})) for n in range(12))
    )
    checked = sum(problem.status == 400 for problem in problems)
    assert checked <= limit
    for _ in range(limit - checked):  # those that arrived while others were checked were not
        await problem_of(person.call("POST", VERIFY, json={"password": "guess"}))
    assert (await problem_of(person.call("POST", VERIFY, json={"password": PASSWORD}))).status == 429


async def test_keys_and_programs_need_no_proof(world: World, person: Actor, acme: UUID) -> None:
    key = await world.key(acme, created_by=person.user_id)
    await world.client.call("POST", f"/orgs/{acme}/api-keys", json=KEY, headers=key)
    tokens = await world.client.call("POST", "/auth/login", json={"email": person.email, "password": PASSWORD})
    await sign_in_was(person, 6 * MINUTE)
    await world.client.call("POST", f"/orgs/{acme}/api-keys", json=KEY, token=tokens["access_token"])


async def test_key_beside_a_stale_session_does_not_replace_a_proof(world: World, person: Actor, acme: UUID) -> None:
    key = await world.key(acme)
    refused = await problem_of(person.call("POST", f"/orgs/{acme}/api-keys", json=KEY, headers=key))
    assert refused.rule == "fresh_proof"


async def test_everyday_operations_and_dry_runs_need_no_proof(person: Actor, acme: UUID) -> None:
    await person.call("PATCH", f"/orgs/{acme}", json={"name": "Acme Two"})
    plan = await person.call("PATCH", f"/orgs/{acme}", json={"approvals": ["token.mint"]}, params={"dry_run": "true"})
    assert plan["steps"]


async def test_wallet_is_unlinked_with_a_fresh_proof(world: World, person: Actor) -> None:
    account = Account.create()
    link = await proof_of(world, account) | {"link": True, "password": PASSWORD}
    await person.call("POST", "/auth/siwe/verify", json=link)
    [linked] = (await person.call("GET", "/auth/wallets"))["wallets"]
    refused = await problem_of(person.call("DELETE", f"/auth/wallets/{linked['id']}"))
    assert (refused.status, refused.rule) == (403, "fresh_proof")
    await person.call("POST", VERIFY, json={"password": PASSWORD})
    await person.call("DELETE", f"/auth/wallets/{linked['id']}")


async def test_application_gets_a_write_scope_only_with_a_fresh_proof(
    world: World, http: httpx.AsyncClient, person: Actor, acme: UUID
) -> None:
    application = await register(world, http, acme, scopes=["openid", "orgs:read", "members:write"])
    writes, reads = application.request("openid members:write"), application.request("openid orgs:read")
    asked = await application.send(person, reads)
    assert asked.headers["location"].startswith("/oauth/consent?")
    asked = await application.send(person, writes)
    assert asked.headers["location"].startswith("/sign-in?next=")
    refused = await problem_of(person.call("POST", "/oauth/consent", json={**writes, "approve": True}))
    assert (refused.status, refused.rule) == (403, "fresh_proof")
    form = {"query": urlencode(writes), "decision": "approve"}
    sent = await http.post("/oauth/decide", data=form, headers={"cookie": person.cookie, "origin": settings().origin})
    assert sent.headers["location"].startswith("/sign-in?next=")
    await person.call("POST", VERIFY, json={"password": PASSWORD})
    assert (await application.sign_in(person, "openid members:write"))["access_token"]
