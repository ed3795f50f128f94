"""The rows of trades, and the totals of their markets, as the events set them."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid5

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert
from sqlmodel import col

from backend.chain.abi.outcome import Log
from backend.chain.indexer import block_spans
from backend.chain.indexer.block_spans import Span
from backend.core import db
from backend.daily_totals import trades as daily_totals
from backend.markets.models import MarketRow, TradeRow

_TRADES: Any = sa.inspect(TradeRow).local_table
_MARKETS: Any = sa.inspect(MarketRow).local_table
_FACTS = ("maker_chain_id", "taker_chain_id", "price", "amount", "taker_fee", "maker_fee", "created_at")
"""The fields that must match the logs."""


def traded(log: Log, name: str, values: Mapping[str, Any], market: MarketRow) -> TradeRow | None:
    """Return the row of a `Trade` event; None for any other."""
    if name != "Trade":
        return None
    maker, taker = values["makerOrderId"], values["takerOrderId"]
    return TradeRow(
        id=uuid5(market.id, f"{log.tx_hash}:{maker}:{taker}"),  # the same if it is read again
        created_at=datetime.fromtimestamp(log.timestamp, UTC),
        organization_id=market.organization_id,
        market_id=market.id,
        maker_chain_id=maker,
        taker_chain_id=taker,
        price=values["price"],
        amount=values["amount"],
        taker_fee=values["takerFee"],
        maker_fee=values["makerFee"],
        tx_hash=log.tx_hash,
        log_index=log.log_index,
        block_number=log.block_number,
    )


async def add(session: db.Write, rows: Sequence[TradeRow]) -> int:
    """Insert new trades, and add them to the totals of their markets; return their number."""
    if not rows:
        return 0
    fresh = insert(_TRADES).on_conflict_do_nothing().returning(_TRADES.c.market_id, _TRADES.c.amount)
    added = (await session.execute(fresh, [row.model_dump() for row in rows])).all()
    await _count(session, added, +1)
    if added:
        await daily_totals.refresh(session, rows)
    return len(added)


async def rewind(session: db.Write, markets: sa.Select[Any], block: int) -> None:
    """Delete the trades of some markets above a block, and subtract them from the totals."""
    gone = sa.delete(_TRADES).where(_TRADES.c.market_id.in_(markets), _TRADES.c.block_number > block)
    removed = (await session.execute(gone.returning(*_TRADES.c))).all()
    await _count(session, [(row.market_id, row.amount) for row in removed], -1)
    await daily_totals.refresh(session, removed)


async def correct(session: db.Write, market: MarketRow, span: Span, right: Sequence[TradeRow]) -> int:
    """Replace the trades of a market in a span with the right ones, and set its totals; return how many were wrong or
    missing."""
    theirs, before = col(TradeRow.market_id) == market.id, await _totals(session, market.id)
    gone = await block_spans.delete_wrong(session, theirs, span, right, TradeRow, _FACTS)
    await daily_totals.refresh(session, gone)
    new = await add(session, right)
    amounts = sa.select(sa.func.coalesce(sa.func.sum(_TRADES.c.amount), 0)).where(_TRADES.c.market_id == market.id)
    await _set(session, market.id, volume=amounts.scalar_subquery())
    return max(len(gone), new, int(before != await _totals(session, market.id)))


async def _totals(session: db.Write, market_id: UUID) -> tuple[Any, ...]:
    columns = (_MARKETS.c.volume, _MARKETS.c.last_price, _MARKETS.c.last_trade_at)
    return tuple((await session.execute(sa.select(*columns).where(_MARKETS.c.id == market_id))).one())


async def _count(session: db.Write, trades: Iterable[Any], sign: int) -> None:
    """Add trades to the volume of their markets, or subtract them."""
    amounts: dict[UUID, int] = {}
    for market_id, amount in trades:
        amounts[market_id] = amounts.get(market_id, 0) + sign * int(amount)
    for market_id, amount in amounts.items():
        await _set(session, market_id, volume=_MARKETS.c.volume + amount)


async def _set(session: db.Write, market_id: UUID, **values: Any) -> None:
    """Set totals of a market, and the price and time of its newest trade."""
    newest = (
        sa.select(_TRADES.c.price)
        .where(_TRADES.c.market_id == _MARKETS.c.id)
        .order_by(_TRADES.c.block_number.desc(), _TRADES.c.log_index.desc())
        .limit(1)
    )
    values["last_price"] = newest.scalar_subquery()
    values["last_trade_at"] = newest.with_only_columns(_TRADES.c.created_at).scalar_subquery()
    await session.execute(sa.update(_MARKETS).where(_MARKETS.c.id == market_id).values(**values))
