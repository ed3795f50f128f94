"""A lost wallet: all its holdings move to another wallet of the same person."""

from typing import Any

import pytest

from backend.chain.bindings import market as contract
from backend.chain.bindings import quote_token
from backend.controls import workflow
from backend.markets import escrow
from tests.conftest import World
from tests.controls.issuer import WHY, Issuer, changed, issuer
from tests.support.crash import killed, run, sent, unqueued
from tests.support.firm import SEPOLIA
from tests.support.issuance import UNIT, Issuance, orders_path

pytestmark = pytest.mark.long


async def test_recovery_moves_all_tokens(world: World) -> None:
    firm = await issuer(world)
    lost, new = await firm.trader(), await firm.post("/wallets", {"label": "New phone"})
    await firm.give_tokens(lost, 10 * UNIT)
    await firm.do("freeze", address=lost["address"], amount=str(3 * UNIT))
    body = {"lost_address": lost["address"], "new_address": new["address"]}
    assert [r["code"] for r in (await firm.no("recover", 409, **body)).rules] == [9]
    await firm.attest(await firm.verified(new["address"]))
    request = await firm.do("recover", **body)
    assert WHY in request["steps"][0]["detail"]
    assert (await firm.held(lost["address"]), await firm.held(new["address"])) == (0, 10 * UNIT)
    assert (await firm.frozen(lost["address"]), await firm.frozen(new["address"])) == (0, 3 * UNIT)
    assert "holds nothing" in (await firm.no("recover", 409, **body)).detail


async def test_recovery_moves_tokens_in_open_orders(world: World) -> None:
    """Sell and buy orders of the lost wallet end, and their contents go to the new wallet, including frozen amounts."""
    firm = await issuer(world)
    market, lost, new = await firm.market(firm.of), await firm.trader(usd=100 * 10**6), await firm.trader(usd=0)
    await firm.give_tokens(lost, 10 * UNIT)
    await firm.order(market, lost, "sell", 2 * 10**6, 6 * UNIT)
    await firm.order(market, lost, "buy", 10**6, 20 * UNIT)
    partly = await firm.trader()
    await firm.give_tokens(partly, 5 * UNIT)
    await firm.order(market, partly, "sell", 10**6, 5 * UNIT)
    await firm.do("freeze", address=lost["address"], amount=str(12 * UNIT))
    await firm.do("pause")
    at, usd = market["market_address"], market["quote_token_address"]
    (bid,) = await contract.orders(SEPOLIA, at, [2])
    escrow = (await contract.escrow(SEPOLIA, at, lost["address"], [1, 2])).quote
    assert (bid.status, escrow) == ("partial", 15 * 10**6)
    body = {"lost_address": lost["address"], "new_address": new["address"]}

    plan = await firm.plan("recover", **body)
    assert changed(plan) == {
        ("balance", lost["address"]): (str(9 * UNIT), "0"),
        ("balance", new["address"]): ("0", str(15 * UNIT)),
        ("frozen", lost["address"]): (str(12 * UNIT), "0"),
        ("frozen", new["address"]): ("0", str(12 * UNIT)),
        ("orders", lost["address"]): ("2", "0"),
        ("quote", new["address"]): ("0", str(escrow)),
        ("attestation", lost["address"]): ("active", "revoked"),
    }
    assert plan["impact"]["warnings"] == []
    request = await firm.do("recover", **body)
    assert f"15 {firm.of['symbol']} moved" in request["steps"][0]["detail"]
    assert f"2 open orders cancelled, and 15 {market['quote_symbol']} moved" in request["steps"][0]["detail"]
    assert (await firm.held(lost["address"]), await firm.held(new["address"])) == (0, 15 * UNIT)
    assert (await firm.frozen(lost["address"]), await firm.frozen(new["address"])) == (0, 12 * UNIT)
    assert await quote_token.balance_of(SEPOLIA, usd, new["address"]) == escrow
    orders = (await firm.get(orders_path(market)))["orders"]
    assert {o["status"] for o in orders if o["maker_address"] == lost["address"]} == {"cancelled"}
    holders = {h["address"]: h["balance"] for h in (await firm.get(f"/assets/{firm.of['id']}/holders"))["holders"]}
    assert lost["address"] not in holders
    assert holders[new["address"]] == str(15 * UNIT)
    assert "holds nothing" in (await firm.no("recover", 409, **body)).detail


async def test_recovery_of_a_wallet_with_orders_only_succeeds(world: World) -> None:
    firm = await issuer(world)
    market, lost, new = await firm.market(firm.of), await firm.trader(usd=100 * 10**6), await firm.trader(usd=0)
    for _ in range(3):
        await firm.order(market, lost, "buy", 10**6, UNIT)
    body = {"lost_address": lost["address"], "new_address": new["address"]}
    with unqueued(), pytest.MonkeyPatch.context() as patch:
        accepted = await firm.post(firm.control("recover"), {"chain_eid": SEPOLIA, "reason": WHY} | body)
        patch.setattr(escrow, "MOST", 2)  # as if it had more than one transaction can end
        await killed(workflow.control, firm.id, accepted["requestId"], 2)
        await run(workflow.control, None, firm.id, accepted["requestId"])
    assert (await firm.get(f"/requests/{accepted['requestId']}"))["status"] == "succeeded"
    assert (await sent(firm.id)).count("wallet recovered") == 2
    at = market["quote_token_address"]
    assert await quote_token.balance_of(SEPOLIA, at, new["address"]) == 3 * 10**6
    assert await quote_token.balance_of(SEPOLIA, at, lost["address"]) == 97 * 10**6
    orders = (await firm.get(orders_path(market)))["orders"]
    assert [o["status"] for o in orders] == ["cancelled"] * 3


async def test_control_plan_warns_about_tokens_in_markets(world: World) -> None:
    firm = await issuer(world)
    market, investor = await firm.market(firm.of), await firm.trader()
    await firm.give_tokens(investor, 10 * UNIT)
    await firm.order(market, investor, "sell", 10**6, 4 * UNIT)
    plan = await firm.plan("freeze", address=investor["address"])
    assert f"hold 4 {firm.of['symbol']} of Marta Lindqvist" in plan["impact"]["warnings"][0]
    problem = await firm.no(
        "forced-transfer", 409, from_address=investor["address"], to_address=(await firm.treasury())["address"],
        amount=str(7 * UNIT),
    )  # fmt: skip
    assert [r["code"] for r in problem.rules] == [4]


async def _attestations(firm: Any, wallet: Any) -> list[Any]:
    found = (await firm.get("/attestations", params={"limit": 100}))["attestations"]
    return [one for one in found if one["wallet_address"] == wallet["address"]]


async def test_recovery_revokes_the_attestation_of_the_lost_wallet(world: World) -> None:
    firm = await issuer(world)
    market, lost, new = await firm.market(firm.of), await firm.trader(), await firm.trader(usd=0)
    await firm.give_tokens(lost, 10 * UNIT)
    body = {"lost_address": lost["address"], "new_address": new["address"]}
    plan = await firm.plan("recover", **body)
    assert [step["name"] for step in plan["steps"]] == [f"recovered_{SEPOLIA}", f"attestation_revoked_{SEPOLIA}"]
    assert changed(plan)["attestation", lost["address"]] == ("active", "revoked")
    with unqueued():
        accepted = await firm.post(firm.control("recover"), {"chain_eid": SEPOLIA, "reason": WHY} | body)
    for moment in (1, 2):  # of the recovery, then of the revocation
        for _ in range(2):
            await killed(workflow.control, firm.id, accepted["requestId"], moment)
    await run(workflow.control, None, firm.id, accepted["requestId"])
    request = await firm.get(f"/requests/{accepted['requestId']}")
    assert (request["status"], [step["status"] for step in request["steps"]]) == ("succeeded", ["succeeded"] * 2)
    assert request["steps"][1]["detail"] == "The attestation of the lost wallet is revoked."
    labels = await sent(firm.id)
    assert (labels.count("wallet recovered"), labels.count("revoke attestation")) == (1, 1)

    (ended,) = await _attestations(firm, lost)
    assert (ended["status"], ended["tx_hash"] is not None) == ("revoked", True)
    assert ended["revocation_reason"] == f"Wallet recovered: tokens moved to {new['address']}"
    proof = (await firm.get(f"/attestations/{ended['id']}"))["proof"]
    assert (proof["revoked"], proof["agrees"]) == (True, True)
    assert [one["status"] for one in await _attestations(firm, new)] == ["active"]
    order = {"side": "buy", "price": str(10**6), "amount": str(UNIT), "wallet_id": lost["id"]}
    problem = await firm.refused("POST", orders_path(market), 409, json=order)
    assert "Wallet recovered" in problem.detail


async def test_recovery_names_an_attestation_of_another_issuer_that_remains(world: World) -> None:
    above = await Issuance.ready(world, SEPOLIA)
    firm = await Issuer.ready(world, SEPOLIA, parent=above.id)
    await firm.ready_asset()
    lost, new = await firm.post("/wallets", {"label": "Old phone"}), await firm.trader(usd=0)
    await above.attest(await above.verified(lost["address"]))
    await firm.give_tokens(lost, 10 * UNIT)
    body = {"lost_address": lost["address"], "new_address": new["address"]}
    plan = await firm.plan("recover", **body)
    remains = "An attestation of the lost wallet by another issuer remains valid."
    assert plan["impact"]["warnings"] == [remains]
    assert [step["name"] for step in plan["steps"]] == [f"recovered_{SEPOLIA}"]
    request = await firm.do("recover", **body)
    words = f"The organization has no valid attestation of the lost wallet. {remains}"
    assert request["steps"][1]["detail"] == words
    assert [one["status"] for one in (await above.get("/attestations"))["attestations"]] == ["active"]
