"""The demo's market: its deployment and its orders."""

import asyncio
from itertools import count

from backend.demo import cast
from backend.demo.caller import Caller
from backend.demo.issuance import CENT, UNIT, Issuance

Order = tuple[str, int, int, str]
"""Side, price in test dollar cents per token, whole tokens, wallet."""


class Trading:
    """The market of the first asset."""

    def __init__(self, issuance: Issuance) -> None:
        self._own, self._market = issuance, ""

    async def open(self) -> None:
        """Deploy the market, once."""
        if self._market:
            return
        chains = (await self._own.admin.get(f"{self._own.base}/chains"))["chains"]
        factory = next(c["market_factory_address"] for c in chains if c["xchain_eid"] == cast.SEPOLIA)
        body = {"chain_eid": cast.SEPOLIA, "market_factory_address": factory, "taker_fee_bps": 30, "maker_fee_bps": 5}
        path = f"{self._own.base}/assets/{self._own.assets['NREF']}/markets"
        accepted = await self._own.admin.post_and_wait(self._own.org, path, body, key="market")
        self._market = f"{path}/{accepted['marketId']}/orders"

    async def present(self) -> None:
        """Leave open, partially filled, filled and cancelled orders."""
        await self.open()
        await self._own.fund(*(f"{one[1]} custody" for one in cast.INVESTORS))
        numbers = count()
        for together in cast.ORDERS:
            await asyncio.gather(*(self._shown(next(numbers), order) for order in together))

    async def _shown(self, number: int, order: Order) -> None:
        placed = await self._place(order, f"order:{number}", self._own.admin)
        if number == cast.CANCELLED:
            accepted = await self._own.admin.call("DELETE", f"{self._market}/{placed}")
            await self._own.admin.succeeded(self._own.org, accepted["requestId"], "cancel")

    async def session(self, name: str, *orders: Order) -> None:
        """Place orders, the first one before the others, which fill it."""
        first, *others = orders
        await self._place(first, f"{name}:0", self._own.agent)
        works = (self._place(one, f"{name}:{number}", self._own.agent) for number, one in enumerate(others, 1))
        await asyncio.gather(*works)

    async def _place(self, order: Order, key: str, by: Caller) -> str:
        """Place an order; return its ID."""
        side, price, amount, who = order
        wallet = self._own.wallets[who]["id"]
        body = {"side": side, "price": str(price * CENT), "amount": str(amount * UNIT), "wallet_id": wallet}
        accepted = await by.post_and_wait(self._own.org, self._market, body, key=key)
        return str(accepted["orderId"])
