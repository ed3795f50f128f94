"""The wallets of an account: listed, unlinked, and the proof needed to link one."""

import asyncio
from typing import Any

import pytest
from eth_account import Account

from backend.auth.scopes import Scope
from backend.core.settings import settings
from tests.conftest import PASSWORD, Actor, World
from tests.factors.steps import grow_stale, problem_of, set_up
from tests.factors.test_first_factor import WalletPerson, proof_of
from tests.users.test_accounts import NEW, forget
from tests.users.test_devices import mails, subjects

VERIFY = "/auth/siwe/verify"
WALLETS = "/auth/wallets"


async def link(world: World, person: Actor, account: Any | None = None, password: str | None = PASSWORD) -> Any:
    """Link a wallet to a person's account and return it."""
    account = account or Account.create()
    body = await proof_of(world, account) | {"link": True, "password": password}
    await person.call("POST", VERIFY, json=body)
    return account


async def wallets_of(person: Any) -> dict[str, str]:
    """Return addresses and ids of a person's wallets, the oldest first."""
    return {wallet["address"]: wallet["id"] for wallet in (await person.call("GET", WALLETS))["wallets"]}


async def sign_in(world: World, account: Any) -> Any:
    """Sign in with a wallet; return the tokens."""
    return await world.client.call("POST", VERIFY, json=await proof_of(world, account))


@pytest.mark.long
async def test_stolen_session_without_the_password_cannot_link_a_wallet(world: World) -> None:
    owner, thief = await world.person(await world.organization()), Account.create()
    token = (await world.client.call("POST", "/auth/login", json={"email": owner.email, "password": PASSWORD}))[
        "access_token"
    ]  # fmt: skip
    for credential in ({"cookie": owner.cookie}, {"token": token}):
        for proof in ({}, {"password": "a guess"}, {"wallet": await proof_of(world, thief)}):
            body = await proof_of(world, thief) | {"link": True} | proof
            refused = await problem_of(world.client.call("POST", VERIFY, json=body, **credential))
            assert (refused.status, list(refused.by_field())) == (400, ["password"])
    assert await wallets_of(owner) == {}
    assert (await problem_of(sign_in(world, thief))).status == 401


@pytest.mark.long
async def test_stale_factor_cannot_link_or_unlink_a_wallet(world: World) -> None:
    person = await world.person(await world.organization())
    account = await link(world, person)
    app = await set_up(person)
    [wallet] = (await wallets_of(person)).values()
    await grow_stale(person)
    another = await proof_of(world, Account.create()) | {"link": True, "password": PASSWORD}
    for call in (person.call("POST", VERIFY, json=another), person.call("DELETE", f"{WALLETS}/{wallet}")):
        refused = await problem_of(call)
        assert (refused.status, refused.rule) == (403, "fresh_factor")
    assert list(await wallets_of(person)) == [account.address]
    await person.call("POST", "/auth/factors/verify", json={"code": app.code(1)})
    await person.call("DELETE", f"{WALLETS}/{wallet}")
    assert await wallets_of(person) == {}


@pytest.mark.long
async def test_unlinked_wallet_cannot_sign_in(world: World) -> None:
    acme = await world.organization()
    person, other = await world.person(acme), await world.person(acme)
    first, second = await link(world, person), await link(world, person)
    listed = await wallets_of(person)
    assert list(listed) == [first.address, second.address], "the oldest first"
    assert await wallets_of(other) == {}
    await person.call("DELETE", f"{WALLETS}/{listed[first.address]}")
    assert list(await wallets_of(person)) == [second.address]
    assert (await problem_of(sign_in(world, first))).status == 401
    assert (await sign_in(world, second))["user"]["email"] == person.email
    again = await problem_of(person.call("DELETE", f"{WALLETS}/{listed[first.address]}"))
    assert again.status == 404
    assert await link(world, other, first), "another person can link it"


@pytest.mark.long
async def test_unlinking_ends_the_sessions_of_programs(world: World) -> None:
    person = await world.person(await world.organization())
    thief, elsewhere = await link(world, person), await world.sign_in(person.email)
    stolen = await sign_in(world, thief)
    [wallet] = (await wallets_of(person)).values()
    await person.call("DELETE", f"{WALLETS}/{wallet}")
    for call in (
        world.client.call("GET", "/auth/me", token=stolen["access_token"]),
        world.client.call("POST", "/auth/refresh", json={"refresh_token": stolen["refresh_token"]}),
    ):
        assert (await problem_of(call)).status == 401
    await person.call("GET", "/auth/me")
    await world.client.call("GET", "/auth/me", cookie=elsewhere)


async def test_wallet_of_another_person_cannot_be_unlinked(world: World) -> None:
    acme = await world.organization()
    person, other = await world.person(acme), await world.person(acme)
    await link(world, person)
    [wallet] = (await wallets_of(person)).values()
    assert (await problem_of(other.call("DELETE", f"{WALLETS}/{wallet}"))).status == 404
    key = await world.key(acme, *Scope, created_by=person.user_id)
    for method, path in (("GET", WALLETS), ("DELETE", f"{WALLETS}/{wallet}")):
        assert (await problem_of(world.client.call(method, path, headers=key))).status == 403
    assert list((await wallets_of(person)).values()) == [wallet]


async def test_last_way_to_sign_in_cannot_be_unlinked(world: World) -> None:
    person, second = await WalletPerson.joined(world), Account.create()
    [only] = (await wallets_of(person)).values()
    refused = await problem_of(person.call("DELETE", f"{WALLETS}/{only}"))
    assert (refused.status, refused.detail) == (
        409,
        "This wallet is your only way to sign in. Link another wallet before you unlink this one.",
    )
    body = await proof_of(world, second) | {"link": True, "wallet": await person.proof()}
    await person.call("POST", VERIFY, json=body)
    await person.call("DELETE", f"{WALLETS}/{only}")
    assert list(await wallets_of(person)) == [second.address]


async def test_last_two_wallets_unlinked_concurrently_leave_one(world: World) -> None:
    person, second = await WalletPerson.joined(world), Account.create()
    body = await proof_of(world, second) | {"link": True, "wallet": await person.proof()}
    await person.call("POST", VERIFY, json=body)
    calls = [person.call("DELETE", f"{WALLETS}/{wallet}") for wallet in (await wallets_of(person)).values()]
    answers = await asyncio.gather(*calls, return_exceptions=True)
    assert [getattr(answer, "status", 204) for answer in answers].count(204) == 1
    assert len(await wallets_of(person)) == 1


@pytest.mark.long
async def test_wallets_of_an_account_are_limited(world: World) -> None:
    person = await world.person(await world.organization())
    for _ in range(20):
        await link(world, person)
    refused = await problem_of(link(world, person))
    assert (refused.status, refused.detail) == (409, "An account has at most 20 wallets. Unlink one first.")


@pytest.mark.long
async def test_mails_about_an_account_name_unlinking(world: World) -> None:
    acme = await world.organization()
    person, admin = await world.person(acme), await world.person(acme)
    account = await link(world, person)
    change = {"current_password": PASSWORD, "new_password": NEW}
    await person.call("POST", "/auth/password/change", json=change)
    [wallet] = (await wallets_of(person)).values()
    await person.call("DELETE", f"{WALLETS}/{wallet}")
    response = await mails(person.email)
    assert [subject for subject, _ in response] == [
        "A wallet was linked to your Signum account",
        "New sign-in to Signum",
        "Your Signum password was changed",
        "A wallet was unlinked from your Signum account",
    ]
    for _, text in response:
        assert "unlink wallets that you do not recognize" in text
        assert f"{settings().origin}/account" in text
    entries = (await admin.call("GET", f"/orgs/{acme}/audit", params={"action": "user.wallet_unlinked"}))["audit"]
    assert [entry["before"] for entry in entries] == [{"wallet_address": account.address}]


@pytest.mark.long
async def test_linked_wallet_signs_in_until_it_is_unlinked_after_a_password_reset(world: World) -> None:
    """The wallet can be the owner's, so a new password keeps it; the owner unlinks it in the list."""
    person = await world.person(await world.organization())
    account = await link(world, person)
    [token] = await forget(world, person.email)
    await world.client.call("POST", "/auth/password/reset", json={"token": token, "password": NEW})
    assert "Your Signum password was changed" in await subjects(person.email)
    assert (await sign_in(world, account))["user"]["email"] == person.email
    owner = Actor(person.user_id, person.email, await world.sign_in(person.email, NEW), world.client)
    [wallet] = (await wallets_of(owner)).values()
    await owner.call("DELETE", f"{WALLETS}/{wallet}")
    assert (await problem_of(sign_in(world, account))).status == 401
