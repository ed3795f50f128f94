"""A market's trades: the table."""

from dataclasses import dataclass
from typing import ClassVar

import reflex as rx

from backend.markets.schemas import Trade
from state.core.dates import stamp
from state.core.paging import Pages
from state.markets.detail import ROWS, MarketState


@dataclass
class TradeView:
    """A row of the table; price, amount and value in base units."""

    id: str
    price: str
    amount: str
    value: str
    buyer: str
    buyer_name: str
    seller: str
    seller_name: str
    tx_hash: str
    tx_url: str
    executed_at: str


class TradesState(Pages, rx.State):
    """The trades of the current market, in keyset pages."""

    rows: list[TradeView] = []
    _sorts: ClassVar[tuple[str, ...]] = ("executed_at",)
    _table: ClassVar[str] = "trades_"

    async def _fetch(self, cursor: str) -> str | None:
        state = await self.get_state(MarketState)
        market = state.market
        if not market.id:
            self.rows = []
            return None
        page = await self._api.list_trades(
            self._org_id(), market.asset_id, market.id, cursor=cursor or None, limit=ROWS, **self._order()
        )
        self.rows = [trade_view(trade, state) for trade in page.trades]
        return page.nextCursor


def trade_view(trade: Trade, state: MarketState) -> TradeView:
    """Convert the API's trade."""
    return TradeView(
        id=str(trade.id),
        price=trade.price,
        amount=trade.amount,
        value=trade.value,
        buyer=trade.buyer_address or "",
        buyer_name=trade.buyer_name or "",
        seller=trade.seller_address or "",
        seller_name=trade.seller_name or "",
        tx_hash=trade.tx_hash,
        tx_url=state._transaction_url(trade.chain_eid, trade.tx_hash),
        executed_at=stamp(trade.executed_at),
    )
