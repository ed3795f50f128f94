"""Lists of markets."""

import asyncio
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.assets.models import AssetRow
from backend.assets.rules import Terms
from backend.assets.terms import token_rules
from backend.auth.principal import Context
from backend.chain.chain_models import ChainRow
from backend.chain.errors import RpcError
from backend.chain.indexer import indexer
from backend.compliance import affected
from backend.compliance.schemas import ComplianceRules
from backend.core import db
from backend.core.errors import NotFound, SignumError
from backend.core.pagination import where_given
from backend.lists.pages import Listing, Page
from backend.markets import halts
from backend.markets.models import MarketRow
from backend.markets.rules import LIVE
from backend.markets.schemas import Market, MarketList, MarketStatus
from backend.markets.terms import market_rules
from backend.requests.waiting import awaits_approval

MARKETS = sa.inspect(MarketRow).local_table
LIST = Listing.of(
    MARKETS.c,
    "created_at",
    "updated_at",
    names=(col(AssetRow.symbol), col(AssetRow.name)),
    codes=(MARKETS.c.market_address, MARKETS.c.asset_id),
)
ASSETS = ("asset_rules", "asset_max_holders", "asset_kyc_level")
"""Columns of the asset that are no fields of a market."""
PATIENCE = 2.0
"""Seconds that a chain has to report whether a market is halted."""


async def page(context: Context, page: Page, asset_id: UUID | None, status: MarketStatus | None) -> MarketList:
    """Return a page of the organization's markets, or of one asset's."""
    query = where_given(_query(context), (MARKETS.c.asset_id, asset_id), (MARKETS.c.status, status))
    shown, paging = await page.read(context.session, query)
    return MarketList(markets=[_market(r) for r in shown], **paging)


async def one(context: Context, asset_id: UUID, market_id: UUID) -> Market:
    """Return one market; the chain is queried now for whether it is halted."""
    row = await _row(context, asset_id, market_id)
    if row.market_address and row.status in LIVE:
        await _catch_up(context, row)
        row = await _row(context, asset_id, market_id)
    return _market(row)


async def _catch_up(context: Context, row: Any) -> None:
    """Wake the indexer if the chain differs from the tables; do nothing if the chain does not answer."""
    try:
        async with asyncio.timeout(PATIENCE):
            if await halts.differs(context.session, row):
                async with db.paused(context.session):
                    await indexer.catch_up(row.chain_eid, 0)
    except (SignumError, RpcError, TimeoutError):
        pass


async def _row(context: Context, asset_id: UUID, market_id: UUID) -> Any:
    query = _query(context).where(MARKETS.c.id == market_id, MARKETS.c.asset_id == asset_id)
    row = (await context.session.execute(query)).one_or_none()
    if row is None:
        raise NotFound("This asset has no market with this ID.")
    return row


def _query(context: Context) -> sa.Select[Any]:
    return (
        sa.select(
            MARKETS,
            col(AssetRow.symbol).label("asset_symbol"),
            col(AssetRow.name).label("asset_name"),
            col(AssetRow.decimals).label("asset_decimals"),
            col(AssetRow.compliance_rules).label("asset_rules"),
            col(AssetRow.max_holders).label("asset_max_holders"),
            col(AssetRow.required_kyc_level).label("asset_kyc_level"),
            col(ChainRow.display_name).label("chain_name"),
            awaits_approval(MARKETS),
        )
        .join(AssetRow, col(AssetRow.id) == MARKETS.c.asset_id)
        .outerjoin(ChainRow, col(ChainRow.xchain_eid) == MARKETS.c.chain_eid)
        .where(MARKETS.c.organization_id == context.organization_id)
    )


def _market(row: Any) -> Market:
    amounts = {name: str(getattr(row, name)) for name in ("max_tokens_per_holder", "volume")}
    price = None if row.last_price is None else str(row.last_price)
    known = {**row._mapping, **amounts, "last_price": price, "stricter_rules": _stricter(row)}
    return Market(**{name: value for name, value in known.items() if name not in ASSETS})


def _stricter(row: Any) -> list[str]:
    """Return the names of the market's rules that refuse more than the asset's."""
    terms = Terms(
        compliance_rules=ComplianceRules(**row.asset_rules),
        max_holders=row.asset_max_holders,
        required_kyc_level=row.asset_kyc_level,
    )
    return affected.stricter(market_rules(row), token_rules(terms, [row.chain_eid], row.chain_eid))
