"""An update of the rules cancels the open orders of the makers whom it excludes, if it says so."""

import pytest

from backend.assets import workflow
from backend.chain.bindings import quote_token
from tests.conftest import World
from tests.support.crash import killed, sent, unqueued
from tests.support.issuance import SEPOLIA, UNIT, Issuance, orders_path, steps_of

USD = 10**6
STEP = f"orders_cancelled_{SEPOLIA}"


@pytest.mark.long
async def test_rule_change_cancels_orders_of_excluded_makers_once(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    asset = await firm.asset(required_kyc_level=1)
    market = await firm.market(asset)
    low, high = await firm.trader(level=1, usd=100 * USD), await firm.trader(level=3)
    bids = [await firm.order(market, low, "buy", price * USD, 2 * UNIT) for price in (1, 2)]
    other = await firm.order(market, high, "buy", 1 * USD, 2 * UNIT)
    path = f"/assets/{asset['id']}"
    change = {"required_kyc_level": 2, "orders": "cancel"}

    plan = await firm.patch(path, change, params={"dry_run": "true"})
    assert plan["steps"][-2:] == ["Cancel the orders of ineligible holders on Sepolia Devnet", "Read them back"]
    assert {o["order_id"] for o in plan["impact"]["effects"]["orders"]} == {bid["id"] for bid in bids}
    before = await sent(firm.id)
    with unqueued():
        accepted = await firm.patch(path, change)
    kills = 0
    while await killed(workflow.update, firm.id, accepted["requestId"], kills % 2 + 1):
        kills += 1
    assert kills >= 4
    assert len(await sent(firm.id)) == len(before) + 3, "the rules, and each order once"
    states = {o["id"]: o["status"] for o in (await firm.get(orders_path(market)))["orders"]}
    assert states == {bids[0]["id"]: "cancelled", bids[1]["id"]: "cancelled", other["id"]: "open"}
    assert await quote_token.balance_of(SEPOLIA, market["quote_token_address"], low["address"]) == 100 * USD
    request = await firm.get(f"/requests/{accepted['requestId']}")
    assert steps_of(request)[STEP]["detail"] == "2 orders cancelled."

    again = await firm.succeed((await firm.patch(path, {"orders": "cancel"}))["requestId"])
    assert steps_of(again)[STEP]["detail"] == "No open order is affected."
    kept = await firm.succeed((await firm.patch(path, {"required_kyc_level": 4}))["requestId"])
    assert STEP not in steps_of(kept)
    assert (await firm.get(f"{orders_path(market)}/{other['id']}"))["status"] == "open"
