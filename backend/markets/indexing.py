"""Orders of the markets, as their chains tell them."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from backend import db
from backend.chain.market import STATUSES
from backend.chain.outcome import Log
from backend.markets.models import MarketRow, OrderRow
from backend.markets.schemas import OrderSide, OrderStatus


class Orders:
    """The stream of `OrderPlaced` and `OrderStatus` events of every market."""

    name = "orders"

    async def contracts(self, session: db.Write, eid: int) -> dict[str, int | None]:
        """Every market on the chain."""
        found = sa.select(MarketRow.market_address, MarketRow.block_number).where(
            MarketRow.chain_eid == eid, MarketRow.market_address.is_not(None)  # type: ignore[union-attr]
        )
        return {address: block for address, block in await session.execute(found)}

    async def apply(self, session: db.Write, eid: int, logs: Sequence[Log]) -> None:
        """Write each order as its newest event leaves it."""
        found = sa.select(MarketRow.market_address, MarketRow.id, MarketRow.organization_id).where(
            MarketRow.chain_eid == eid, MarketRow.market_address.in_({log.address for log in logs})  # type: ignore[union-attr]
        )
        owners = {address: (market, organization) for address, market, organization in await session.execute(found)}
        for log in logs:
            decoded = log.decoded()
            if decoded is not None and log.address in owners:
                await _write(session, log, decoded[0], decoded[1], *owners[log.address])

    async def rewind(self, session: db.Write, eid: int, block: int) -> set[str]:
        """Forget orders placed above a block, and have every market that had one read again: fills may be undone."""
        ids = sa.select(MarketRow.id).where(MarketRow.chain_eid == eid)
        gone = sa.delete(OrderRow).where(OrderRow.market_id.in_(ids), OrderRow.block_number > block)  # type: ignore[attr-defined]
        await session.execute(gone)
        return set(await self.contracts(session, eid))


async def _write(
    session: db.Write, log: Log, event: str, values: Mapping[str, Any], market_id: UUID, organization_id: UUID
) -> None:
    if event == "OrderPlaced":
        await _place(session, log, values, market_id, organization_id)
    elif event == "OrderStatus":
        state = {"status": OrderStatus(STATUSES[values["status"]]), "filled": values["filled"]}
        theirs = (OrderRow.market_id == market_id, OrderRow.chain_order_id == values["orderId"])
        await session.execute(sa.update(OrderRow).where(*theirs).values(**state))


async def _place(
    session: db.Write, log: Log, values: Mapping[str, Any], market_id: UUID, organization_id: UUID
) -> None:
    facts = {
        "side": OrderSide.BUY if values["isBuy"] else OrderSide.SELL, "status": OrderStatus.OPEN, "filled": 0,
        "price": values["price"], "amount": values["amount"], "maker_address": values["maker"], "tx_hash": log.tx_hash,
        "block_number": log.block_number,
    }
    row = OrderRow(
        organization_id=organization_id, market_id=market_id, chain_order_id=values["orderId"], **facts
    )
    fresh = insert(OrderRow).values(**row.model_dump())
    await session.execute(fresh.on_conflict_do_update(index_elements=["market_id", "chain_order_id"], set_=facts))
