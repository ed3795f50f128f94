"""Orders: open, partially filled, filled, cancelled; and every rule that refuses one."""

import asyncio
from typing import Any

import pytest

from backend.chain.bindings import market as contract
from backend.chain.bindings import quote_token, token
from backend.chain.deployment.contracts import contracts_of
from backend.chain.transactions.execution import execute
from backend.markets import orders_workflow
from tests.approvals.second_person import approve, asking, deny, waiting
from tests.conftest import World
from tests.support.crash import killed, run, sent, unqueued
from tests.support.firm import SEPOLIA, Firm
from tests.support.issuance import UNIT, Issuance, orders_path, steps_of

USD = 10**6


def answer(order: Any) -> tuple[str, str, str]:
    return order["side"], order["status"], order["filled"]


async def test_orders_rest_trade_and_end(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    asset = await firm.asset()
    market = await firm.market(asset, taker_fee_bps=100)
    treasury, buyer = await firm.treasury(), await firm.trader(usd=1_000 * USD)
    path, at = orders_path(market), market["rwa_token_address"]

    sell = await firm.order(market, treasury, "sell", 10 * USD, 10 * UNIT)
    assert answer(sell) == ("sell", "open", "0")
    assert (sell["maker_address"], sell["maker_name"]) == (treasury["address"], treasury["label"])
    assert sell["finality"] == "final"
    bought = await firm.order(market, buyer, "buy", 11 * USD, 4 * UNIT)
    assert answer(bought) == ("buy", "filled", str(4 * UNIT))
    assert bought["maker_name"] == "Marta Lindqvist"
    by_id = {o["id"]: o for o in (await firm.get(path))["orders"]}
    assert answer(by_id[sell["id"]]) == ("sell", "partial", str(4 * UNIT))
    assert await token.balance_of(SEPOLIA, at, buyer["address"]) == 4 * UNIT
    assert (
        await quote_token.balance_of(SEPOLIA, market["quote_token_address"], buyer["address"])
        == (1_000 - 40) * USD - 400_000
    )

    rest = await firm.order(market, buyer, "buy", 10 * USD, 8 * UNIT)
    assert answer(rest) == ("buy", "partial", str(6 * UNIT))
    assert answer({o["id"]: o for o in (await firm.get(path))["orders"]}[sell["id"]]) == (
        "sell",
        "filled",
        str(10 * UNIT),
    )

    waiting = await firm.order(market, buyer, "buy", 1 * USD, 1 * UNIT)
    for order in (rest, waiting):
        accepted = await firm.delete(f"{path}/{order['id']}")
        assert (accepted["orderId"], accepted["marketId"]) == (order["id"], market["id"])
        await firm.succeed(accepted["requestId"])
    assert await quote_token.balance_of(SEPOLIA, market["quote_token_address"], market["market_address"]) == 0

    listed = (await firm.get(path))["orders"]
    assert [answer(o) for o in listed] == [
        ("buy", "cancelled", "0"),
        ("buy", "cancelled", str(6 * UNIT)),
        ("buy", "filled", str(4 * UNIT)),
        ("sell", "filled", str(10 * UNIT)),
    ]
    for query, count in (
        ({"status": "filled"}, 2),
        ({"side": "sell"}, 1),
        ({"status": "open"}, 0),
        ({"limit": "3"}, 3),
    ):
        assert len((await firm.get(path, params=query))["orders"]) == count
    first = await firm.get(path, params={"limit": "3"})
    last = await firm.get(path, params={"limit": "3", "cursor": first["nextCursor"]})
    assert [o["id"] for o in first["orders"] + last["orders"]] == [o["id"] for o in listed]
    for order in listed[2:]:
        await firm.refused("DELETE", f"{path}/{order['id']}", 409)


@pytest.mark.long
async def test_accepted_order_is_a_resource_before_it_is_on_the_chain(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    market, treasury = await firm.market(await firm.asset()), await firm.treasury()
    path = orders_path(market)
    body = {"side": "sell", "price": str(USD), "amount": str(UNIT), "wallet_id": treasury["id"]}
    with unqueued():
        accepted = await firm.post(path, body)
    order = await firm.get(f"{path}/{accepted['orderId']}")
    assert (order["status"], order["chain_order_id"], order["tx_hash"]) == ("pending", None, None)
    assert (order["price"], order["amount"], order["filled"]) == (str(USD), str(UNIT), "0")
    assert (order["maker_address"], order["maker_name"]) == (treasury["address"], treasury["label"])
    assert (order["asset_id"], order["market_id"]) == (market["asset_id"], market["id"])
    assert order["request_id"] == accepted["requestId"]
    assert (await firm.get(path, params={"status": "pending"}))["orders"] == [order]
    request = await firm.get(f"/requests/{accepted['requestId']}")
    place = {"asset_id": market["asset_id"], "market_id": market["id"]}
    assert request["subject"] == {"type": "order", "id": order["id"]} | place
    refusal = await firm.refused("DELETE", f"{path}/{order['id']}", 409)
    assert refusal.detail.startswith("The order is pending: it is not on the chain yet.")

    await run(orders_workflow.place, orders_workflow.place_failed, firm.id, accepted["requestId"])
    placed = await firm.get(f"{path}/{order['id']}")
    assert (placed["status"], placed["created_at"]) == ("open", order["created_at"])
    request = await firm.get(f"/requests/{accepted['requestId']}")
    assert request["status"] == "succeeded"
    assert steps_of(request)["order_placed"]["detail"] == f"Order {placed['chain_order_id']} is open."
    assert steps_of(request)["order_placed"]["tx_hash"] == placed["tx_hash"]
    cancelled = await firm.delete(f"{path}/{accepted['orderId']}")
    assert (await firm.succeed(cancelled["requestId"]))["subject"]["id"] == order["id"]
    assert (await firm.get(f"{path}/{order['id']}"))["status"] == "cancelled"
    assert (await firm.get(path))["orders"] == [await firm.get(f"{path}/{order['id']}")]


@pytest.mark.long
async def test_order_that_cannot_be_placed_has_failed_until_a_retry_places_it(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    market, treasury = await firm.market(await firm.asset()), await firm.treasury()
    path, at = orders_path(market), market["market_address"]
    body = {"side": "sell", "price": str(USD), "amount": str(UNIT), "wallet_id": treasury["id"]}
    with unqueued():
        accepted = await firm.post(path, body)
    await firm.owner_call(contract.halt(at, True))
    await run(orders_workflow.place, orders_workflow.place_failed, firm.id, accepted["requestId"])
    request = await firm.get(f"/requests/{accepted['requestId']}")
    assert request["status"] == "failed"
    order = await firm.get(f"{path}/{accepted['orderId']}")
    assert (order["status"], order["failure"]) == ("failed", request["problem"]["detail"])
    refusal = await firm.refused("DELETE", f"{path}/{order['id']}", 409)
    assert refusal.detail == "The order is failed. Only an open or partly filled order can be cancelled."
    entries = (await firm.get("/audit", params={"action": "order.failed"}))["audit"]
    assert [entry["subject"]["id"] for entry in entries] == [order["id"]]

    await firm.owner_call(contract.halt(at, False))
    assert (await firm.retry(accepted["requestId"]))["status"] == "succeeded"
    order = await firm.get(f"{path}/{accepted['orderId']}")
    assert (order["status"], order["failure"]) == ("open", None)


@pytest.mark.long
async def test_denied_order_has_failed(world: World) -> None:
    firm, second = await asking(world, "order.place")
    market, treasury = await firm.market(await firm.asset()), await firm.treasury()
    path = orders_path(market)
    body = {"side": "sell", "price": str(USD), "amount": str(UNIT), "wallet_id": treasury["id"]}
    accepted = await firm.post(path, body)
    approval = await waiting(firm, accepted)
    assert approval["subject"]["id"] == accepted["orderId"]
    await firm.refused("DELETE", f"{path}/{accepted['orderId']}", 409)
    await deny(firm, second, approval)
    order = await firm.get(f"{path}/{accepted['orderId']}")
    assert (order["status"], order["chain_order_id"]) == ("failed", None)
    assert order["failure"].endswith("denied this request: Not now")
    approval = await waiting(firm, await firm.post(path, body))
    assert (await approve(firm, second, approval))["status"] == "succeeded"
    assert (await firm.get(f"{path}/{approval['subject']['id']}"))["status"] == "open"


@pytest.mark.long
async def test_order_cancelled_twice_has_one_cancellation(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    asset, treasury = await firm.asset(), await firm.treasury()
    market = await firm.market(asset)
    path = orders_path(market)
    order = await firm.order(market, treasury, "sell", 10 * USD, UNIT)
    concurrent = await asyncio.gather(*(firm.delete(f"{path}/{order['id']}") for _ in range(4)))
    (request_id,) = {accepted["requestId"] for accepted in concurrent}
    words = f"1 {asset['symbol']} at 10.00 tUSD for {treasury['label']}"
    assert (await firm.succeed(request_id))["title"] == f"Cancel the order to sell {words}"
    assert (await firm.get(f"/requests/{order['request_id']}"))["title"] == f"Sell {words}"
    again = await firm.delete(f"{path}/{order['id']}")
    assert (again["requestId"], again["status"]) == (request_id, "succeeded")


@pytest.mark.long
async def test_concurrent_matching_orders_trade(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    market = await firm.market(await firm.asset())
    treasury, buyer = await firm.treasury(), await firm.trader()
    body = {"price": str(5 * USD), "amount": str(3 * UNIT)}
    accepted = await asyncio.gather(
        firm.post(orders_path(market), body | {"side": "sell", "wallet_id": treasury["id"]}),
        firm.post(orders_path(market), body | {"side": "buy", "wallet_id": buyer["id"]}),
    )
    for a in accepted:
        await firm.succeed(a["requestId"])
    assert {answer(o) for o in (await firm.get(orders_path(market)))["orders"]} == {
        ("sell", "filled", str(3 * UNIT)),
        ("buy", "filled", str(3 * UNIT)),
    }


@pytest.mark.long
async def test_order_killed_at_any_moment_is_placed_once(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    market = await firm.market(await firm.asset())
    body = {"side": "sell", "price": str(USD), "amount": str(UNIT), "wallet_id": (await firm.treasury())["id"]}
    before = await sent(firm.id)
    with unqueued():
        accepted = await firm.post(orders_path(market), body)
    kills = 0
    while await killed(orders_workflow.place, firm.id, accepted["requestId"], kills % 2 + 1):
        kills += 1
    assert kills >= 3
    assert len(await sent(firm.id)) == len(before) + 2
    (order,) = (await firm.get(orders_path(market)))["orders"]
    assert order["id"] == accepted["orderId"]
    assert [answer(o) for o in (await firm.get(orders_path(market)))["orders"]] == [("sell", "open", "0")]


@pytest.mark.long
async def test_order_is_checked_against_token_and_market_rules_before_sending(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    asset = await firm.asset(required_kyc_level=1, compliance_rules={"max_tokens_per_holder": str(50 * UNIT)})
    market = await firm.market(asset, min_kyc_level=3, blocked_countries=["DEU"], max_tokens_per_holder=str(20 * UNIT))
    path, before = orders_path(market), await sent(firm.id)
    stranger = await firm.post("/wallets", {"label": "Stranger"})
    await firm.give(SEPOLIA, stranger["address"], 10**12)
    low, high = await firm.trader(level=2), await firm.trader(level=3)

    async def codes(wallet: Any, side: str, amount: int) -> list[int]:
        body = {"side": side, "price": str(USD), "amount": str(amount), "wallet_id": wallet["id"]}
        problem = await firm.refused("POST", path, 409, json=body)
        response = await firm.admin.client._client().post(f"/v1{firm.base}{path}", json=body, headers=firm.key)
        rules = response.json()["rules"]
        assert problem.detail == " ".join(r["reason"] for r in rules)
        asked = {"side": side, "address": wallet["address"], "amount": str(amount)}
        verdict = await firm.post(path.removesuffix("orders") + "order-check", asked)
        assert (verdict["allowed"], verdict["chain_agrees"]) == (False, True)
        assert [r for r in verdict["rules"] if not r["passed"]] == rules
        assert all(r["resolution"]["description"] for r in rules)
        return [r["code"] for r in rules]

    assert await codes(stranger, "buy", UNIT) == [9, 33]
    assert await codes(stranger, "sell", UNIT) == [4, 7, 33]
    assert await codes(low, "buy", UNIT) == [34]
    assert await codes(high, "buy", 21 * UNIT) == [39]
    assert await codes(high, "buy", 51 * UNIT) == [15, 39]
    assert [label for label in await sent(firm.id) if "order" in label or label == "approve"] == []
    assert set(before) <= set(await sent(firm.id))
    assert (await firm.get(path))["orders"] == []


@pytest.mark.long
async def test_order_check_lists_every_rule(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    asset = await firm.asset(required_kyc_level=1)
    market = await firm.market(asset, lockup_end_time=2_000_000_000)
    path, trader = orders_path(market).removesuffix("orders") + "order-check", await firm.trader()
    body = {"side": "buy", "address": trader["address"].lower(), "amount": str(UNIT)}
    verdict = await firm.post(path, body)
    assert (verdict["allowed"], verdict["chain_agrees"]) == (True, True)
    assert {1, 9, 13, 32, 33, 34, 35, 36, 38, 39} <= {r["code"] for r in verdict["rules"]}
    assert all(r["resolution"] is None for r in verdict["rules"])

    sale = await firm.post(path, body | {"side": "sell"})
    refused = {r["code"]: r["resolution"] for r in sale["rules"] if not r["passed"]}
    assert set(refused) == {4, 37}
    # If no API call resolves it, the resolution has a text only.
    words = "Wait until the lockup of the market ends."
    assert refused[37] == {"method": None, "path": None, "href": None, "description": words}
    nobody = await firm.post(path, body | {"side": "sell", "address": "0x" + "0" * 40})
    assert [r["code"] for r in nobody["rules"] if not r["passed"]] == [4, 7, 33, 37]
    assert nobody["chain_agrees"]
    at, owner = market["market_address"], (await firm.treasury())["address"]
    await execute(contract.halt(at, True).intent(f"test:{at}", eid=SEPOLIA, signer=owner))
    verdict = await firm.post(path, body)
    assert [r["code"] for r in verdict["rules"] if not r["passed"]] == [32]
    assert verdict["chain_agrees"]
    for bad in ({"side": "hold"}, {"address": "0x12"}, {"amount": "-1"}, {"amount": 1}):
        await firm.refused("POST", path, 422, json=body | bad)
    await firm.refused("POST", path.replace(market["id"], asset["id"]), 404, json=body)


@pytest.mark.long
async def test_order_of_a_wallet_without_enough_funds_is_rejected(world: World) -> None:
    from backend.chain.devnet import anvil

    firm = await Issuance.ready(world, SEPOLIA)
    market = await firm.market(await firm.asset())
    path = orders_path(market)
    poor = await firm.trader(usd=5)
    body = {"side": "buy", "price": str(USD), "amount": str(UNIT), "wallet_id": poor["id"]}
    problem = await firm.refused("POST", path, 409, json=body)
    assert poor["address"] in problem.detail
    assert "holds 0.000005 tUSD;" in problem.detail
    await firm.give(SEPOLIA, poor["address"], 10 * USD)
    await anvil.fund(SEPOLIA, poor["address"], 0)
    problem = await firm.refused("POST", path, 409, json=body)
    assert poor["label"] in problem.detail
    linked = await firm.post("/wallets", {"label": "Ledger", "address": "0x52908400098527886E0F7030069857D2E4169EE7"})
    await firm.refused("POST", path, 409, json=body | {"wallet_id": linked["id"]})
    await firm.refused("POST", path, 404, json=body | {"wallet_id": market["id"]})
    for change, status in (
        ({"price": "0"}, 400),
        ({"amount": "0"}, 400),
        ({"amount": "1"}, 400),
        ({"price": str(2**256 - 1)}, 400),
        ({"price": str(2**256)}, 422),
        ({"amount": "-1"}, 422),
        ({"amount": 1}, 422),
        ({"side": "<b>"}, 422),
        ({"wallet_id": "unknown"}, 422),
        ({"kind": "market"}, 422),
    ):
        assert (await firm.refused("POST", path, status, json=body | change)).errors, change
    assert (await firm.get(path))["orders"] == []
    for query in ({"status": "done"}, {"side": "both"}, {"limit": "0"}, {"cursor": "x"}):
        await firm.refused("GET", path, 400, params=query)


@pytest.mark.long
async def test_order_is_cancelled_by_its_maker_only(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    market = await firm.market(await firm.asset())
    path = orders_path(market)
    other = await Firm.found(world, "Elsewhere")
    outsider = await other.post("/wallets", {"label": "Outside"})
    party = await firm.verified(outsider["address"])
    await firm.attest(party, SEPOLIA)
    await firm.give(SEPOLIA, outsider["address"], 100 * USD)
    at = (await contracts_of(SEPOLIA)).quote_token
    assert at is not None
    from backend.chain.indexer import indexer
    from backend.chain.transactions.execution import execute

    for n, call in enumerate(
        [
            quote_token.approve(at, market["market_address"], 100 * USD),
            contract.place(market["market_address"], side="buy", price=USD, amount=UNIT),
        ]
    ):
        outcome = await execute(call.intent(f"test:{market['id']}:{n}", eid=SEPOLIA, signer=outsider["address"]))
    await indexer.catch_up(SEPOLIA, outcome.block_number)
    (order,) = (await firm.get(path))["orders"]
    assert (order["maker_address"], order["status"]) == (outsider["address"], "open")
    await firm.refused("DELETE", f"{path}/{order['id']}", 403)
    await firm.refused("DELETE", f"{path}/{market['id']}", 404)
    assert (await firm.get(path))["orders"][0]["status"] == "open"
