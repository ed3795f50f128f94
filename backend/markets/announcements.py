"""Announcements of orders and trades: each becomes a change, for the audit log and webhooks, once.

A chain is read again after a reorganization and by an operator's command. What was announced before is not repeated.
Neither is what is older than `OLDEST`: the nightly retention deletes announcements after twice that time.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert
from sqlmodel import col

from backend.chain.abi.outcome import Log
from backend.chain.bindings.market import STATUSES
from backend.chain.devnet import clock
from backend.chain.models import TransactionRow
from backend.core import db
from backend.core.changes import THE_SYSTEM, Who, acting, publish, shown
from backend.markets.models import AnnouncementRow, MarketRow, OrderRow, TradeRow
from backend.markets.schemas import Order, OrderStatus, Trade
from backend.requests.models import RequestRow

OLDEST = timedelta(days=7)
"""Age of a block whose events are still announced."""
ACTIONS = {
    OrderStatus.PARTIAL: "order.partially_filled",
    OrderStatus.FILLED: "order.filled",
    OrderStatus.CANCELLED: "order.cancelled",
}
Number = tuple[UUID, int]
"""A market, and the number of one of its orders on chain."""


@dataclass(frozen=True, slots=True)
class Event:
    """A decoded event of a market."""

    log: Log
    name: str
    values: Mapping[str, Any]
    market: MarketRow

    def number(self, name: str = "orderId") -> Number:
        """Return an order that the event names."""
        return self.market.id, int(self.values[name])


@dataclass(frozen=True, slots=True)
class _Announcement:
    """A change to publish. `key` is the same if its event is read again."""

    event: Event
    action: str
    subject: tuple[str, UUID]
    key: str
    after: dict[str, Any]


async def announce(session: db.Write, eid: int, events: Sequence[Event]) -> None:
    """Publish the orders and trades of some events, in their order on the chain."""
    since = clock.moment() - OLDEST.total_seconds()
    recent = [event for event in events if event.log.timestamp >= since and event.name != "Halted"]
    if not recent:
        return
    orders, trades = await _orders(session, recent), await _trades(session, recent)
    found = [one for event in recent if (one := _announcement(event, orders, trades)) is not None]
    fresh = await _unannounced(session, found)
    makers = await _makers(session, eid, fresh)
    for one in fresh:
        with acting(makers.get(one.event.log.tx_hash, THE_SYSTEM)):
            await publish(session, one.event.market.organization_id, one.action, one.subject, None, one.after)


async def _orders(session: db.Write, events: Sequence[Event]) -> dict[Number, OrderRow]:
    names = ("orderId", "makerOrderId", "takerOrderId")
    numbers = {event.number(name) for event in events for name in names if name in event.values}
    query = sa.select(OrderRow).where(sa.tuple_(col(OrderRow.market_id), col(OrderRow.chain_order_id)).in_(numbers))
    rows = await session.scalars(query, execution_options={"populate_existing": True})
    return {(row.market_id, row.chain_order_id or 0): row for row in rows}


async def _trades(session: db.Write, events: Sequence[Event]) -> dict[tuple[str, int], TradeRow]:
    hashes = {event.log.tx_hash for event in events if event.name == "Trade"}
    markets = {event.market.id for event in events}
    query = sa.select(TradeRow).where(col(TradeRow.market_id).in_(markets), col(TradeRow.tx_hash).in_(hashes))
    return {(row.tx_hash, row.log_index): row for row in await session.scalars(query)} if hashes else {}


def _announcement(
    event: Event, orders: Mapping[Number, OrderRow], trades: Mapping[tuple[str, int], TradeRow]
) -> _Announcement | None:
    if event.name == "Trade":
        trade = trades.get((event.log.tx_hash, event.log.log_index))
        return None if trade is None else _of_trade(event, trade, orders)
    order = orders.get(event.number())
    if order is None:
        return None  # its own event has not been read yet
    if event.name == "OrderPlaced":
        return _of_order(event, order, "order.placed", OrderStatus.OPEN, 0)
    status, filled = OrderStatus(STATUSES[event.values["status"]]), int(event.values["filled"])
    action = ACTIONS.get(status)
    return None if action is None else _of_order(event, order, action, status, filled)


def _of_order(event: Event, row: OrderRow, action: str, status: OrderStatus, filled: int) -> _Announcement:
    place = {"asset_id": str(event.market.asset_id), "chain_eid": event.market.chain_eid, "tx_hash": event.log.tx_hash}
    after = shown(Order, row) | place | {"status": status, "filled": str(filled)}
    return _Announcement(event, action, ("order", row.id), f"{action}:{row.id}:{filled}", after)


def _of_trade(event: Event, row: TradeRow, orders: Mapping[Number, OrderRow]) -> _Announcement:
    named = {f"{side}_order_id": orders.get(event.number(f"{side}OrderId")) for side in ("maker", "taker")}
    ids = {name: str(order.id) for name, order in named.items() if order is not None}
    place = {"asset_id": str(event.market.asset_id), "chain_eid": event.market.chain_eid}
    after = shown(Trade, row, executed_at=row.created_at) | place | ids
    return _Announcement(event, "trade.executed", ("trade", row.id), f"trade.executed:{row.id}", after)


async def _unannounced(session: db.Write, found: Sequence[_Announcement]) -> list[_Announcement]:
    """Record announcements; return those that were not recorded before."""
    by_key = {one.key: one for one in found}
    if not by_key:
        return []
    rows = [
        AnnouncementRow(organization_id=one.event.market.organization_id, key=key).model_dump()
        for key, one in sorted(by_key.items())
    ]
    fresh = insert(AnnouncementRow).on_conflict_do_nothing().returning(col(AnnouncementRow.key))
    keys = set(await session.scalars(fresh, rows))
    return [one for key, one in by_key.items() if key in keys]


async def _makers(session: db.Write, eid: int, found: Sequence[_Announcement]) -> dict[str, Who]:
    """Return the actors behind our transactions, by hash; the system is behind any other."""
    hashes = {one.event.log.tx_hash for one in found}
    query = (
        sa.select(col(TransactionRow.tx_hash), col(RequestRow.origin))
        .join(RequestRow, col(RequestRow.id) == col(TransactionRow.request_id))
        .where(col(TransactionRow.chain_eid) == eid, col(TransactionRow.tx_hash).in_(hashes))
    )
    return {row.tx_hash: Who.of(row.origin) for row in await session.execute(query)} if hashes else {}
