"""A wallet's holdings in an asset's markets: its open orders, and the quote currency it can claim."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from backend.chain.bindings import market as contract
from backend.chain.bindings.market import Escrow
from backend.markets.models import MarketRow, OrderRow
from backend.markets.schemas import OrderStatus

MOST = 100
"""Orders that one transaction may cancel: about five million gas."""


@dataclass(frozen=True)
class Held:
    """What one market holds for a wallet."""

    market: MarketRow
    escrow: Escrow


async def open_orders(
    session: AsyncSession, asset_id: UUID, eid: int, address: str
) -> list[tuple[MarketRow, list[int]]]:
    """Return every market of an asset on a chain with the numbers of a wallet's open orders there, from the tables."""
    markets = sa.select(MarketRow).where(
        col(MarketRow.asset_id) == asset_id, col(MarketRow.chain_eid) == eid, col(MarketRow.market_address).is_not(None)
    )
    found = []
    for market in await session.scalars(markets.order_by(col(MarketRow.created_at))):
        theirs = sa.select(col(OrderRow.chain_order_id)).where(
            col(OrderRow.market_id) == market.id,
            col(OrderRow.maker_address) == address,
            col(OrderRow.status).in_((OrderStatus.OPEN, OrderStatus.PARTIAL)),
        )
        numbers = await session.scalars(theirs.order_by(col(OrderRow.chain_order_id)))
        found.append((market, [number for number in numbers if number is not None]))
    return found


async def held(found: Sequence[tuple[MarketRow, list[int]]], address: str) -> list[Held]:
    """Return what the markets hold for a wallet, read from the chain now; markets that hold nothing are omitted."""
    answer = [Held(m, await contract.escrow(m.chain_eid, str(m.market_address), address, ids)) for m, ids in found]
    return [one for one in answer if one.escrow.order_ids or one.escrow.quote]


def batch(found: Sequence[Held]) -> dict[str, list[int]]:
    """Return the orders that one transaction cancels, by market, up to the limit. A market without orders is included
    for its claimable amount."""
    named: dict[str, list[int]] = {}
    left = MOST
    for one in found:
        named[str(one.market.market_address)] = list(one.escrow.order_ids[:left])
        left -= len(named[str(one.market.market_address)])
    return named
