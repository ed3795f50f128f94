"""A market's orders: the table, placing and cancelling."""

from dataclasses import dataclass
from typing import ClassVar

import reflex as rx

from backend.markets.schemas import Order, OrderSide, OrderStatus
from state.core.address import Param, choice
from state.core.arguments import chosen, one_of
from state.core.dates import stamp
from state.core.events import Next
from state.core.paging import ByStatus
from state.core.units import brief
from state.markets.detail import ROWS, MarketState
from state.markets.prices import PricesState
from state.orders.book import LIVE, BookState
from state.orders.trades import TradesState
from state.requests.views import shown_status


@dataclass
class OrderView:
    """A row of the table; price and amounts in base units, `done` in percent."""

    id: str
    side: str
    status: str
    price: str
    amount: str
    filled: str
    done: int
    maker: str
    maker_name: str
    tx_hash: str
    tx_url: str
    failure: str
    blocked: str
    created_at: str
    is_live: bool


class OrdersState(ByStatus, rx.State):
    """The orders of the current market, in keyset pages."""

    rows: list[OrderView] = []
    _sorts: ClassVar[tuple[str, ...]] = ("created_at",)
    _table: ClassVar[str] = "orders_"
    _statuses = OrderStatus
    side: str = ""
    _in_url: ClassVar[dict[str, Param]] = {"side": choice("side", OrderSide)}

    async def _fetch(self, cursor: str) -> str | None:
        state = await self.get_state(MarketState)
        market = state.market
        if not market.id:
            self.rows = []
            return None
        page = await self._api.list_orders(
            self._org_id(),
            market.asset_id,
            market.id,
            status=chosen(OrderStatus, self.status),
            side=chosen(OrderSide, self.side),
            cursor=cursor or None,
            limit=ROWS,
            **self._order(),
        )
        self.rows = [order_view(order, state) for order in page.orders]
        return page.nextCursor

    @rx.event
    def arrive(self) -> None:
        """Take over the filters in the URL before the market is read."""
        self._read_url()

    @rx.event
    async def load(self) -> Next:
        """Read the first page, the order book, the trades and the prices."""
        self._read_url()
        await self._restart()
        return [BookState.load, PricesState.load, TradesState.load]

    @rx.event(supersedes=True)
    async def filter_side(self, side: str) -> None:
        """Show one side, or both."""
        self.side = one_of(side, OrderSide)
        await self._restart()


def order_view(order: Order, state: MarketState) -> OrderView:
    """Convert the API's order."""
    amount, filled = int(order.amount), int(order.filled)
    return OrderView(
        id=str(order.id),
        side=order.side,
        status=shown_status(order),
        price=order.price,
        amount=order.amount,
        filled=order.filled,
        done=filled * 100 // amount if amount else 0,
        maker=order.maker_address,
        maker_name=order.maker_name or "",
        tx_hash=order.tx_hash or "",
        tx_url=state._transaction_url(state.market.chain_eid, order.tx_hash) if order.tx_hash else "",
        failure=brief(order.failure or ""),
        blocked=order.blocked_reason or "",
        created_at=stamp(order.created_at),
        is_live=order.status in LIVE,
    )
