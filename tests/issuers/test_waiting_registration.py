"""A registration that waits changes nothing before it starts: not the issuer's terms, and not its confirmed chains."""

from typing import Any

import pytest

from backend.auth.scopes import Scope
from backend.chain.bindings import registry
from backend.chain.deployment.contracts import contracts_of
from backend.issuers import workflow as issuers
from tests.conftest import World
from tests.support.crash import run, unqueued
from tests.support.firm import BASE, SEPOLIA, Firm

pytestmark = pytest.mark.long

LEAKED = {"name": "Leaked", "max_kyc_level": 9, "can_revoke_others": True}


async def registered(firm: Firm, key: dict[str, str], **body: Any) -> str:
    """Return the request of a registration that waits."""
    with unqueued():
        assert (await firm.post("/issuer/register", body, headers=key))["registered"] is False
    return str((await firm.get("/issuer"))["request_id"])


async def leaked(firm: Firm, **body: Any) -> str:
    """Return the request of a registration that waits, made with a key that is revoked since."""
    key = await firm.post("/api-keys", {"name": "leaked", "scopes": [Scope.ATTESTATIONS_WRITE]})
    request = await registered(firm, {"x-api-key": key["key"]}, **body)
    await firm.admin.call("DELETE", f"{firm.base}/api-keys/{key['id']}")
    return request


async def ended(firm: Firm, request: str) -> str:
    await run(issuers.register, issuers._failed, firm.id, request)
    return str((await firm.get(f"/requests/{request}"))["status"])


async def shown(firm: Firm) -> tuple[Any, ...]:
    issuer = await firm.get("/issuer")
    states = {wallet["chain_eid"]: wallet["status"] for wallet in issuer["wallets"]}
    return issuer["name"], issuer["max_kyc_level"], issuer["can_revoke_others"], states


async def on_chain(firm: Firm) -> tuple[str, int, bool]:
    wallet = (await firm.get("/wallets"))["wallets"][0]
    found = await registry.attester(SEPOLIA, (await contracts_of(SEPOLIA)).registry, wallet["address"])
    return found.name, found.max_kyc_level, found.can_revoke_others


async def test_denied_registration_keeps_terms_and_confirmed_chains(world: World) -> None:
    firm = await Firm.issuing(world)
    before = await shown(firm)
    request = await leaked(firm, **LEAKED)
    assert await shown(firm) == before
    assert await ended(firm, request) == "denied"
    assert await shown(firm) == before
    assert (await firm.post("/issuer/register", {}, headers=firm.key))["registered"] is True
    assert await ended(firm, await registered(firm, firm.key, max_kyc_level=2)) == "succeeded"
    assert await on_chain(firm) == ("Acme", 2, False)


async def test_denied_first_registration_leaves_no_terms(world: World) -> None:
    firm = await Firm.found(world)
    await firm.enable(SEPOLIA)
    await firm.post("/wallets", {"label": "Treasury"})
    assert await ended(firm, await leaked(firm, **LEAKED)) == "denied"
    assert await shown(firm) == ("Acme", 3, False, {SEPOLIA: "failed"})
    assert (await firm.register())["registered"] is False
    assert await on_chain(firm) == ("Acme", 3, False)


async def test_registration_above_a_denied_one_writes_only_its_own_terms(world: World) -> None:
    firm = await Firm.issuing(world)
    first = await leaked(firm, **LEAKED)
    second = await registered(firm, firm.key, max_kyc_level=2)
    assert [await ended(firm, first), await ended(firm, second)] == ["denied", "succeeded"]
    assert await on_chain(firm) == ("Acme", 2, False)
    assert await shown(firm) == ("Acme", 2, False, {SEPOLIA: "registered"})


async def test_registration_repeated_while_it_waits_is_one_request(world: World) -> None:
    firm = await Firm.issuing(world)
    request = await registered(firm, firm.key, max_kyc_level=2)
    for body in ({}, {"max_kyc_level": 2}, {"name": "Acme"}):
        assert await registered(firm, firm.key, **body) == request
    await firm.enable(BASE)
    assert await registered(firm, firm.key) != request
    assert await ended(firm, request) == "succeeded"
    assert await shown(firm) == ("Acme", 2, False, {SEPOLIA: "registered", BASE: "pending"})
