"""Daily totals computed from every event in Python, and a year of events that is written without a chain."""

import random
import secrets
from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import sqlalchemy as sa
from sqlmodel import col

from backend.chain.models import TokenTransferRow
from backend.core import db
from backend.core.addresses import ZERO_ADDRESS
from backend.daily_totals import tokens, trades
from backend.markets.schemas import OrderSide, OrderStatus
from backend.models import (
    AnyHolderChangeRow,
    AssetDayRow,
    AssetRow,
    HolderChangeRow,
    MarketDayRow,
    MarketRow,
    OrderRow,
    OrganizationDayRow,
    TradeRow,
)

EID = 40161
UNIT = 10**18


def account() -> str:
    """Return an address."""
    return f"0x{secrets.token_hex(20)}"


class Story:
    """An asset with a market, and its events, each inserted as the indexer does."""

    def __init__(self, organization_id: UUID, symbol: str, quote: str = "tUSD", **asset: Any) -> None:
        self.org, self.block = organization_id, 0
        self.asset = AssetRow(
            organization_id=organization_id, name=symbol.title(), symbol=symbol, status="active", **asset
        )
        self.market = MarketRow(
            organization_id=organization_id, asset_id=self.asset.id, chain_eid=EID, status="active",
            market_address=account(), market_factory_address=account(), quote_symbol=quote, quote_decimals=6,
        )  # fmt: skip
        self.orders = 0

    async def begin(self, *, is_traded: bool = True) -> "Story":
        """Write the asset, and its market."""
        async with db.worker() as session:
            session.add(self.asset)
            await session.flush()
            if is_traded:
                session.add(self.market)
        return self

    def transfer(self, at: datetime, sender: str, receiver: str, amount: int, eid: int = EID) -> TokenTransferRow:
        """Return a transfer in the next block."""
        return TokenTransferRow(
            organization_id=self.org, asset_id=self.asset.id, chain_eid=eid, from_address=sender, to_address=receiver,
            amount=amount, created_at=at, **self._place(),
        )  # fmt: skip

    def trade(self, at: datetime, seller: str, buyer: str, price: int, amount: int) -> list[Any]:
        """Return two orders, their trade, and the transfers with the market."""
        made = [self._order(seller, OrderSide.SELL, price, amount), self._order(buyer, OrderSide.BUY, price, amount)]
        fill = TradeRow(
            organization_id=self.org, market_id=self.market.id, maker_chain_id=made[0].chain_order_id,
            taker_chain_id=made[1].chain_order_id, price=price, amount=amount, created_at=at, **self._place(),
        )  # fmt: skip
        venue = str(self.market.market_address)
        return [*made, self.transfer(at, seller, venue, amount), fill, self.transfer(at, venue, buyer, amount)]

    def _order(self, maker: str, side: OrderSide, price: int, amount: int) -> OrderRow:
        self.orders += 1
        return OrderRow(
            organization_id=self.org, market_id=self.market.id, chain_order_id=self.orders, side=side,
            status=OrderStatus.FILLED, price=price, amount=amount, filled=amount, maker_address=maker,
        )  # fmt: skip

    def _place(self) -> dict[str, Any]:
        self.block += 1
        return {"tx_hash": f"0x{uuid4().hex}{uuid4().hex}", "log_index": 0, "block_number": self.block}


async def write(*events: Any) -> None:
    """Insert events, and the daily totals that they concern."""
    async with db.worker() as session:
        session.add_all(events)
        await session.flush()
        await tokens.refresh(session, [one for one in events if isinstance(one, TokenTransferRow)])
        await trades.refresh(session, [one for one in events if isinstance(one, TradeRow)])


async def remove(events: Sequence[Any]) -> None:
    """Delete events, and the daily totals that they concern; orders stay."""
    gone = [one for one in events if not isinstance(one, OrderRow)]
    async with db.worker() as session:
        for kind in (TokenTransferRow, TradeRow):
            ids = [one.id for one in gone if isinstance(one, kind)]
            await session.execute(sa.delete(kind).where(col(kind.id).in_(ids)))
        await tokens.refresh(session, [one for one in gone if isinstance(one, TokenTransferRow)])
        await trades.refresh(session, [one for one in gone if isinstance(one, TradeRow)])


async def differences(organization_id: UUID) -> dict[str, Any]:
    """Return the daily totals of an organization that differ from those of its events: expected and found."""
    async with db.worker() as session:
        events = {
            kind: list(await session.scalars(sa.select(kind).where(col(kind.organization_id) == organization_id)))
            for kind in (TokenTransferRow, TradeRow, OrderRow, MarketRow, AssetRow)
        }
        stored = {
            kind: list(await session.scalars(sa.select(kind).where(col(kind.organization_id) == organization_id)))
            for kind in (AssetDayRow, HolderChangeRow, AnyHolderChangeRow, OrganizationDayRow, MarketDayRow)
        }
    holders = _holders(events)
    anyone = _of_any(holders)
    expected = {
        "days": _days(events, holders),
        "holders": holders,
        "anyone": anyone,
        "organization": _by_day(anyone),
        "markets": _markets(events),
    }
    found = {
        "days": {
            (r.asset_id, r.day): (r.mints, r.burns, r.transfers, r.minted, r.burnt, r.holders)
            for r in stored[AssetDayRow]
        },
        "holders": {(r.asset_id, r.address, r.day): r.change for r in stored[HolderChangeRow]},
        "anyone": {(r.address, r.day): r.change for r in stored[AnyHolderChangeRow]},
        "organization": {r.day: r.holders for r in stored[OrganizationDayRow]},
        "markets": {
            (r.market_id, r.day): (r.trades, r.open, r.high, r.low, r.close, r.amount, r.value, r.last_at)
            for r in stored[MarketDayRow]
        },
    }
    return {name: (expected[name], found[name]) for name in expected if expected[name] != found[name]}


def _day(at: datetime) -> date:
    return at.astimezone(UTC).date()


def _of_any(changes: dict[Any, int]) -> dict[Any, int]:
    """Return when addresses began to hold any asset, or stopped holding one."""
    by_day, held, found = defaultdict[Any, int](int), defaultdict[str, int](int), dict[Any, int]()
    for (_, address, day), change in changes.items():
        by_day[day, address] += change
    for day, address in sorted(by_day):
        before, held[address] = held[address], held[address] + by_day[day, address]
        if (before > 0) != (held[address] > 0):
            found[address, day] = 1 if held[address] > 0 else -1
    return found


def _by_day(changes: dict[Any, int]) -> dict[Any, int]:
    """Return the sums of the changes of each day."""
    found = defaultdict[Any, int](int)
    for (*_, day), change in changes.items():
        found[day] += change
    return {day: change for day, change in found.items() if change}


def _days(events: dict[Any, list[Any]], holders: dict[Any, int]) -> dict[Any, Any]:
    venues = {market.market_address for market in events[MarketRow]}
    found = defaultdict[Any, list[int]](lambda: [0, 0, 0, 0, 0, 0])
    for one in events[TokenTransferRow]:
        counted = found[one.asset_id, _day(one.created_at)]
        if one.from_address == ZERO_ADDRESS:
            counted[0], counted[3] = counted[0] + 1, counted[3] + one.amount
        elif one.to_address == ZERO_ADDRESS:
            counted[1], counted[4] = counted[1] + 1, counted[4] + one.amount
        elif not venues & {one.from_address, one.to_address}:
            counted[2] += 1
    for (asset_id, _, day), change in holders.items():
        found[asset_id, day][5] += change
    return {key: tuple(counted) for key, counted in found.items() if any(counted[:3]) or counted[5]}


def _holders(events: dict[Any, list[Any]]) -> dict[Any, int]:
    """Walk through the days and compare who holds at the end of each with the day before."""
    venues = {market.market_address for market in events[MarketRow]}
    assets = {market.id: market.asset_id for market in events[MarketRow]}
    makers = {(order.market_id, order.chain_order_id): order for order in events[OrderRow]}
    moves = defaultdict[Any, int](int)
    for one in events[TokenTransferRow]:
        if not venues & {one.from_address, one.to_address}:
            moves[_day(one.created_at), one.asset_id, one.to_address] += one.amount
            moves[_day(one.created_at), one.asset_id, one.from_address] -= one.amount
    for one in events[TradeRow]:
        for number in (one.maker_chain_id, one.taker_chain_id):
            order = makers[one.market_id, number]
            sign = 1 if order.side is OrderSide.BUY else -1
            moves[_day(one.created_at), assets[one.market_id], order.maker_address] += sign * one.amount
    balances, changes = defaultdict[Any, int](int), dict[Any, int]()
    for day, asset_id, address in sorted(moves):
        before = balances[asset_id, address]
        after = balances[asset_id, address] = before + moves[day, asset_id, address]
        if address != ZERO_ADDRESS and (before > 0) != (after > 0):
            changes[asset_id, address, day] = 1 if after > 0 else -1
    return changes


def _markets(events: dict[Any, list[Any]]) -> dict[Any, Any]:
    decimals = {asset.id: asset.decimals for asset in events[AssetRow]}
    units = {market.id: 10 ** decimals[market.asset_id] for market in events[MarketRow]}
    found = defaultdict[Any, list[Any]](list)
    for one in sorted(events[TradeRow], key=lambda trade: (trade.block_number, trade.log_index)):
        found[one.market_id, _day(one.created_at)].append(one)
    return {
        key: (
            len(some), some[0].price, max(t.price for t in some), min(t.price for t in some), some[-1].price,
            sum(t.amount for t in some), sum(t.price * t.amount // units[key[0]] for t in some),
            max(t.created_at for t in some),
        )
        for key, some in found.items()
    }  # fmt: skip


def year_of_events(story: Story, dice: random.Random, start: datetime, size: int) -> list[list[Any]]:
    """Return random events of a year: mints, transfers, burns and trades among a few accounts."""
    treasury, others = account(), [account() for _ in range(6)]
    owned = defaultdict[str, int](int, {treasury: 1_000 * UNIT})
    made: list[list[Any]] = [[story.transfer(start, ZERO_ADDRESS, treasury, 1_000 * UNIT)]]
    for number in range(size):
        at = start + timedelta(days=360 * (number + 1) / size)
        sender = dice.choice([who for who in (treasury, *others) if owned[who]])
        receiver = dice.choice([who for who in others if who != sender])
        amount = dice.choice([owned[sender], max(owned[sender] // 2, 1), 1])
        if dice.random() < 0.1:
            owned[sender] -= 1
            made.append([story.transfer(at, sender, ZERO_ADDRESS, 1)])
            continue
        owned[sender] -= amount
        owned[receiver] += amount
        is_trade = dice.random() < 0.4
        price = dice.randint(90, 110) * 10**6
        made.append(
            story.trade(at, sender, receiver, price, amount)
            if is_trade
            else [story.transfer(at, sender, receiver, amount)]
        )
    return made
