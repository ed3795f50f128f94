"""A person without a password needs one of their wallets to add their first factor or another wallet."""

from typing import Any

import pyotp
import pytest
from eth_account import Account

from backend.client import ApiProblem
from backend.core.db import now
from tests.auth.test_wallet_sign_in import begin, signed, text_of
from tests.conftest import PASSWORD, World
from tests.factors.steps import problem_of

BEGIN = ["/auth/factors/totp", "/auth/factors/passkeys/options"]
NEEDED = "Sign a message with a wallet of your account to continue."


async def proof_of(world: World, account: Any, **change: Any) -> dict[str, str]:
    """A message with a fresh nonce, and the wallet's signature."""
    return signed(account, text_of(await begin(world), account.address, **change))


class WalletPerson:
    """A member who signs in with a wallet only."""

    def __init__(self, world: World, account: Any, token: str) -> None:
        self.world, self.account, self.token = world, account, token

    @classmethod
    async def joined(cls, world: World) -> "WalletPerson":
        """A person who was added by wallet, has signed in and accepted."""
        acme, account = await world.organization(), Account.create()
        admin = await world.person(acme)
        body = {"wallet_address": account.address, "role": "compliance_officer"}
        added = await admin.call("POST", f"/orgs/{acme}/members", json=body)
        tokens = await world.client.call("POST", "/auth/siwe/verify", json=await proof_of(world, account))
        person = cls(world, account, tokens["access_token"])
        await person.call("POST", f"/memberships/{added['id']}/accept")
        return person

    async def call(self, method: str, path: str, **options: Any) -> Any:
        """Call the API with the person's access token."""
        return await self.world.client.call(method, path, token=self.token, **options)

    async def proof(self, **change: Any) -> dict[str, str]:
        """A message that the person's wallet has signed."""
        return await proof_of(self.world, self.account, **change)


def about_wallet(problem: ApiProblem) -> str:
    """Return the error of the field `wallet` of a 400."""
    assert problem.status == 400, problem
    return problem.by_field()["wallet"]


@pytest.mark.parametrize("path", BEGIN)
async def test_first_factor_of_a_wallet_person_without_a_signature_is_refused(world: World, path: str) -> None:
    person = await WalletPerson.joined(world)
    for body in ({}, {"password": PASSWORD}, {"wallet": None}):
        assert about_wallet(await problem_of(person.call("POST", path, json=body))) == NEEDED
    assert (await person.call("GET", "/auth/factors"))["factors"] == []


@pytest.mark.long
@pytest.mark.parametrize("path", BEGIN)
async def test_first_factor_of_a_wallet_person_needs_their_wallet_and_a_fresh_nonce(world: World, path: str) -> None:
    person = await WalletPerson.joined(world)
    thief, other = Account.create(), await WalletPerson.joined(world)
    for wrong in (
        await proof_of(world, thief),
        await other.proof(),
        await person.proof(nonce="a" * 32),
        await person.proof(domain="evil.example"),
        await person.proof() | {"signature": "0x" + "1b" * 65},
        {"message": "Hello", "signature": "0x" + "1b" * 65},
    ):
        assert about_wallet(await problem_of(person.call("POST", path, json={"wallet": wrong})))
    proof = await person.proof()
    assert await person.call("POST", path, json={"wallet": proof})
    again = await problem_of(person.call("POST", path, json={"wallet": proof}))
    assert "nonce" in about_wallet(again), "a signature counts once"


async def test_wallet_person_sets_up_an_app_with_their_wallet(world: World) -> None:
    person = await WalletPerson.joined(world)
    begun = await person.call("POST", BEGIN[0], json={"wallet": await person.proof()})
    code = pyotp.TOTP(begun["secret"]).at(now())
    added = await person.call("POST", "/auth/factors/totp/confirm", json={"code": code})
    assert len(added["recovery_codes"]) == 10
    missing = await problem_of(world.client.call("POST", "/auth/siwe/verify", json=await person.proof()))
    assert missing.rule == "second_factor"


async def test_wallet_does_not_replace_a_password(world: World) -> None:
    person = await world.person(await world.organization())
    account = Account.create()
    link = await proof_of(world, account) | {"link": True, "password": PASSWORD}
    await person.call("POST", "/auth/siwe/verify", json=link)
    refused = await problem_of(person.call("POST", BEGIN[0], json={"wallet": await proof_of(world, account)}))
    assert (refused.status, list(refused.by_field())) == (400, ["password"])


async def test_second_wallet_of_a_wallet_person_needs_proof_of_an_existing_wallet(world: World) -> None:
    """Otherwise a stolen session could link the thief's wallet, then use it as proof."""
    person, second = await WalletPerson.joined(world), Account.create()
    link = await proof_of(world, second) | {"link": True}
    assert about_wallet(await problem_of(person.call("POST", "/auth/siwe/verify", json=link))) == NEEDED
    own = link | {"wallet": {name: link[name] for name in ("message", "signature")}}
    assert about_wallet(await problem_of(person.call("POST", "/auth/siwe/verify", json=own)))
    sign_in = {"json": await proof_of(world, second)}
    assert (await problem_of(world.client.call("POST", "/auth/siwe/verify", **sign_in))).status == 401
    linked = link | {"wallet": await person.proof()}
    await person.call("POST", "/auth/siwe/verify", json=linked)
    assert await person.call("POST", BEGIN[0], json={"wallet": await proof_of(world, second)})


@pytest.mark.long
async def test_wallet_of_a_person_with_a_password_is_linked_with_the_password(world: World) -> None:
    person, account = await world.person(await world.organization()), Account.create()
    link = await proof_of(world, account) | {"link": True}
    for body in (link, link | {"password": "wrong"}):
        refused = await problem_of(person.call("POST", "/auth/siwe/verify", json=body))
        assert (refused.status, list(refused.by_field())) == (400, ["password"])
    linked = await person.call("POST", "/auth/siwe/verify", json=link | {"password": PASSWORD})
    assert linked["user"]["email"] == person.email
