"""Orders of the markets, as their chains tell them."""

from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert
from sqlmodel import col

from backend import db
from backend.chain.market import STATUSES
from backend.chain.outcome import Log
from backend.markets.models import MarketRow, OrderRow
from backend.markets.schemas import OrderSide, OrderStatus


class Orders:
    """The stream of `OrderPlaced`, `OrderStatus` and `Halted` events of every market."""

    name = "orders"

    async def contracts(self, session: db.Write, eid: int) -> dict[str, int | None]:
        """Every market on the chain."""
        found = sa.select(col(MarketRow.market_address), col(MarketRow.block_number)).where(
            col(MarketRow.chain_eid) == eid, col(MarketRow.market_address).is_not(None)
        )
        return {str(at): created for at, created in await session.execute(found)}

    async def apply(self, session: db.Write, eid: int, logs: Sequence[Log]) -> None:
        """Write each order, and whether its owner halts the market, as the newest event leaves them."""
        found = sa.select(MarketRow).where(
            col(MarketRow.chain_eid) == eid, col(MarketRow.market_address).in_({log.address for log in logs})
        )
        owners = {row.market_address: row for row in (await session.execute(found)).scalars()}
        for log in logs:
            decoded = log.decoded()
            if decoded is not None and log.address in owners:
                await _write(session, log, decoded[0], decoded[1], owners[log.address])

    async def rewind(self, session: db.Write, eid: int, block: int) -> set[str]:
        """Forget orders placed above a block, and have every market that had one read again: fills may be undone."""
        here = col(MarketRow.chain_eid) == eid
        await session.execute(sa.update(MarketRow).where(here, col(MarketRow.is_halted)).values(is_halted=False))
        ids = sa.select(col(MarketRow.id)).where(here)
        gone = sa.delete(OrderRow).where(col(OrderRow.market_id).in_(ids), col(OrderRow.block_number) > block)
        await session.execute(gone)
        return set(await self.contracts(session, eid))


async def _write(session: db.Write, log: Log, event: str, values: Mapping[str, Any], market: MarketRow) -> None:
    if event == "OrderPlaced":
        await _place(session, log, values, market)
    elif event == "Halted":
        market.is_halted = values["halted"]
        await session.flush()
    elif event == "OrderStatus":
        state = {"status": OrderStatus(STATUSES[values["status"]]), "filled": values["filled"]}
        theirs = (col(OrderRow.market_id) == market.id, col(OrderRow.chain_order_id) == values["orderId"])
        await session.execute(sa.update(OrderRow).where(*theirs).values(**state))


async def _place(session: db.Write, log: Log, values: Mapping[str, Any], market: MarketRow) -> None:
    facts: dict[str, Any] = {
        "side": OrderSide.BUY if values["isBuy"] else OrderSide.SELL,
        "status": OrderStatus.OPEN,
        "filled": 0,
        "price": values["price"],
        "amount": values["amount"],
        "maker_address": values["maker"],
        "tx_hash": log.tx_hash,
        "block_number": log.block_number,
    }
    row = OrderRow(
        organization_id=market.organization_id, market_id=market.id, chain_order_id=values["orderId"], **facts
    )
    fresh = insert(OrderRow).values(**row.model_dump())
    await session.execute(fresh.on_conflict_do_update(index_elements=["market_id", "chain_order_id"], set_=facts))
