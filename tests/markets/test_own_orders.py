"""The dry run of an order names the organization's own orders that it would meet."""

from typing import Any

from tests.conftest import World
from tests.support.firm import SEPOLIA
from tests.support.issuance import UNIT, Issuance, orders_path

USD = 10**6


async def test_dry_run_names_own_orders_that_an_order_would_meet(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    market = await firm.market(await firm.asset())
    treasury, investor = await firm.treasury(), await firm.trader(usd=10_000 * USD)
    asks = [await firm.order(market, treasury, "sell", price * USD, 10 * UNIT) for price in (11, 12)]

    async def met(wallet: Any, price: int, amount: int) -> list[tuple[str, str, bool]]:
        body = {"side": "buy", "price": str(price * USD), "amount": str(amount * UNIT), "wallet_id": wallet["id"]}
        plan = await firm.post(orders_path(market), body, params={"dry_run": True})
        return [(own["order_id"], own["amount"], own["fills"]) for own in plan["impact"]["own_orders"]]

    await firm.give(SEPOLIA, treasury["address"], 10_000 * USD)
    assert await met(treasury, 10, 4) == []
    assert await met(treasury, 11, 4) == [(asks[0]["id"], str(10 * UNIT), False)]
    assert await met(treasury, 12, 4) == [(ask["id"], str(10 * UNIT), False) for ask in asks]
    assert await met(investor, 12, 14) == []
