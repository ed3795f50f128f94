"""Reading markets."""

import asyncio
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend import db
from backend.assets.models import AssetRow
from backend.auth.principal import Context
from backend.chain import indexer
from backend.chain.errors import RpcError
from backend.chains.models import ChainRow
from backend.errors import NotFound, SignumError
from backend.keyset import Page
from backend.markets import halting
from backend.markets.models import MarketRow
from backend.markets.rules import LIVE
from backend.markets.schemas import Market, MarketList, MarketStatus

MARKETS = sa.inspect(MarketRow).local_table
PATIENCE = 2.0
"""Seconds that a chain has to say whether a market is halted."""


async def page(context: Context, page: Page, asset_id: UUID | None, status: MarketStatus | None) -> MarketList:
    """A page of the organization's markets, or of one asset's."""
    query = _query(context)
    if asset_id is not None:
        query = query.where(MARKETS.c.asset_id == asset_id)
    if status is not None:
        query = query.where(MARKETS.c.status == status)
    rows = (await context.session.execute(page.apply(query, MARKETS.c.created_at, MARKETS.c.id))).all()
    shown, cursor = page.cut(rows)
    return MarketList(markets=[_market(r) for r in shown], nextCursor=cursor)


async def one(context: Context, asset_id: UUID, market_id: UUID) -> Market:
    """One market; whether it is halted is asked of the chain now."""
    row = await _row(context, asset_id, market_id)
    if row.market_address and row.status in LIVE:
        await _catch_up(context, row)
        row = await _row(context, asset_id, market_id)
    return _market(row)


async def _catch_up(context: Context, row: Any) -> None:
    """Have the indexer look where the chain says otherwise than the tables; nothing where it does not answer."""
    try:
        async with asyncio.timeout(PATIENCE):
            if await halting.differs(context.session, row):
                async with db.paused(context.session):
                    await indexer.catch_up(row.chain_eid, 0)
    except (SignumError, RpcError, TimeoutError):
        pass


async def _row(context: Context, asset_id: UUID, market_id: UUID) -> Any:
    query = _query(context).where(MARKETS.c.id == market_id, MARKETS.c.asset_id == asset_id)
    row = (await context.session.execute(query)).one_or_none()
    if row is None:
        raise NotFound("This asset has no such market.")
    return row


def _query(context: Context) -> sa.Select[Any]:
    return (
        sa.select(
            MARKETS,
            col(AssetRow.symbol).label("asset_symbol"),
            col(AssetRow.name).label("asset_name"),
            col(AssetRow.decimals).label("asset_decimals"),
            col(ChainRow.display_name).label("chain_name"),
        )
        .join(AssetRow, col(AssetRow.id) == MARKETS.c.asset_id)
        .outerjoin(ChainRow, col(ChainRow.xchain_eid) == MARKETS.c.chain_eid)
        .where(MARKETS.c.organization_id == context.organization_id)
    )


def _market(row: Any) -> Market:
    return Market(**{**row._mapping, "max_tokens_per_holder": str(row.max_tokens_per_holder)})
