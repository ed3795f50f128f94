"""What a revocation stops, and for which tokens."""

from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest

from backend.auth.scopes import Scope
from backend.chain.bindings import token
from backend.client import ApiProblem
from backend.transfers import workflow as transfers
from tests.conftest import World
from tests.support.crash import run, unqueued
from tests.support.firm import SEPOLIA
from tests.support.issuance import UNIT, Issuance, orders_path

pytestmark = pytest.mark.long


async def given(firm: Issuance, asset: Any, wallet: Any) -> None:
    """Give a wallet 10 tokens of an asset."""
    body = {
        "asset_id": asset["id"], "chain_eid": SEPOLIA, "from_wallet_id": (await firm.treasury())["id"],
        "to_address": wallet["address"], "amount": str(10 * UNIT),
    }  # fmt: skip
    await firm.succeed((await firm.post("/transfers", body))["requestId"])


async def preview(firm: Issuance, attestation: Any) -> dict[str, tuple[bool, bool]]:
    """Return for each token that the wallet holds whether it could still send and receive it."""
    path = f"/attestations/{attestation['id']}/revoke?dry_run=true"
    plan = await firm.post(path, {"reason": "Sanctions screening match"})
    return {one["symbol"]: (one["can_send"], one["can_receive"]) for one in plan["impact"]["holdings"]}


async def test_revocation_stops_sending_and_receiving_unless_another_attestation_counts(world: World) -> None:
    above = await Issuance.ready(world, SEPOLIA)
    firm = await Issuance.ready(world, SEPOLIA, parent=above.id)
    everyone, own, strict = await firm.asset(), await firm.asset(), await firm.asset()
    wallet = await firm.post("/wallets", {"label": "Custody"})
    attestation = await firm.attest(await firm.verified(wallet["address"], 3))
    for asset in (everyone, own, strict):
        await given(firm, asset, wallet)
    assert set((await preview(firm, attestation)).values()) == {(False, False)}

    await above.attest(await above.verified(wallet["address"], 1))
    for asset, changed in ((own, {"org_only": True}), (strict, {"min_kyc_level": 3})):
        at = asset["deployments"][0]["token_address"]
        rules = replace(await token.rules(SEPOLIA, at), **changed)
        await firm.owner_call(token.set_rules(at, rules))
    assert await preview(firm, attestation) == {
        everyone["symbol"]: (True, True),
        own["symbol"]: (True, False),
        strict["symbol"]: (True, False),
    }


async def test_revocation_counts_orders_as_the_rules_editor_does_and_names_waiting_requests(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    asset = await firm.asset()
    market, trader = await firm.market(asset), await firm.trader()
    order = await firm.order(market, trader, "buy", 100 * 10**6, 3 * UNIT)
    (attestation,) = (await firm.get("/attestations?status=active"))["attestations"]
    await world.person(firm.id)
    await firm.patch("", {"approvals": ["token.freeze"]})
    freeze = {"address": trader["address"], "chain_eid": SEPOLIA, "reason": "Court order"}
    waiting = await firm.post(f"/assets/{asset['id']}/freeze", freeze)
    other = {**freeze, "address": (await firm.post("/wallets", {"label": "Other"}))["address"]}
    await firm.post(f"/assets/{asset['id']}/freeze", other)

    impact = (await firm.post(f"/attestations/{attestation['id']}/revoke?dry_run=true", {"reason": "Test"}))["impact"]
    (shown,) = impact["orders"]
    assert (shown["order_id"], shown["side"], shown["rest"]) == (order["id"], "buy", str(3 * UNIT))
    assert (shown["is_new"], "attestation" in shown["reason"]) == (True, True)
    (request,) = impact["requests"]
    assert (request["request_id"], request["kind"]) == (waiting["requestId"], "token.freeze")
    assert request["title"] == (await firm.get(f"/requests/{waiting['requestId']}"))["title"]

    blocked = {"compliance_rules": {"blocked_countries": [attestation["country"]]}}
    effects = (await firm.patch(f"/assets/{asset['id']}?dry_run=true", blocked))["impact"]["effects"]
    assert effects["orders_total"] == impact["orders_total"] == 1


async def test_refusal_names_the_revocation_and_leads_to_the_case(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    asset = await firm.asset()
    market, trader = await firm.market(asset), await firm.trader()
    (attestation,) = (await firm.get("/attestations?status=active"))["attestations"]
    revoking = await firm.post(f"/attestations/{attestation['id']}/revoke", {"reason": "Sanctions screening match"})
    await firm.succeed(revoking["requestId"])
    revoked = await firm.get(f"/attestations/{attestation['id']}")
    name = revoked["revoked_by_name"]
    assert (revoked["wallet_label"], name) == (trader["label"], firm.admin.email.partition("@")[0].title())
    day = datetime.fromisoformat(revoked["revoked_at"])
    said = f"The attestation was revoked on {day:%-d %b %Y} by {name}: Sanctions screening match"

    body = {"side": "buy", "price": str(10**6), "amount": str(UNIT), "wallet_id": trader["id"]}
    problem = await firm.refused("POST", orders_path(market), 409, json=body)
    assert [rule["code"] for rule in problem.rules] == [9, 33]
    for rule in problem.rules:
        assert rule["revocation"]["detail"] == said
        assert (rule["resolution"]["method"], rule["resolution"]["path"]) == (
            "GET", f"/identity/parties/{attestation['party_id']}?organization_id={firm.id}",
        )  # fmt: skip
        party = await firm.admin.call("GET", rule["resolution"]["path"])
        assert party["id"] == attestation["party_id"]
    assert problem.detail.count(said) == 1

    key = await world.key(firm.id, Scope.TRANSFERS_WRITE)
    with pytest.raises(ApiProblem) as raised:
        await world.client.call("POST", f"{firm.base}{orders_path(market)}", json=body, headers=key)
    problem = raised.value
    assert "Sanctions" not in str(problem.body)
    assert "revoked" not in str(problem.body)
    assert {rule["resolution"]["path"] for rule in problem.rules} == {None}

    await firm.attest({"id": attestation["party_id"]})
    accepted = await firm.post(orders_path(market), body)
    await firm.succeed(accepted["requestId"])


async def test_request_that_a_revocation_made_fail_leads_to_the_case(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    asset, wallet = await firm.asset(), await firm.post("/wallets", {"label": "Custody"})
    attestation = await firm.attest(await firm.verified(wallet["address"]))
    transfer = {
        "asset_id": asset["id"], "chain_eid": SEPOLIA, "from_wallet_id": (await firm.treasury())["id"],
        "to_address": wallet["address"], "amount": "1",
    }  # fmt: skip
    with unqueued():
        accepted = await firm.post("/transfers", transfer)
    revoking = await firm.post(f"/attestations/{attestation['id']}/revoke", {"reason": "Sanctions screening match"})
    await firm.succeed(revoking["requestId"])
    await run(transfers.send, None, firm.id, accepted["requestId"])
    problem = (await firm.get(f"/requests/{accepted['requestId']}"))["problem"]
    assert problem["resolution"]["title"] == "Review the case of Marta Lindqvist"
    assert problem["resolution"]["method"] == "GET"
    assert "Sanctions" not in str(problem), "everyone who sees the request sees its problem"
