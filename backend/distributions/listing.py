"""Lists of distributions."""

from typing import Any
from uuid import UUID

import sqlalchemy as sa
from fastapi import Response
from sqlmodel import col

from backend.assets.models import AssetRow
from backend.auth.principal import Context
from backend.chain.chain_models import ChainRow
from backend.core.errors import NotFound
from backend.core.pagination import where_given
from backend.distributions.models import DistributionRow
from backend.distributions.schemas import Distribution, DistributionList, DistributionStatus
from backend.lists import json_records
from backend.lists.pages import Listing, Page
from backend.requests.waiting import awaits_approval, awaits_sql

ROWS = sa.inspect(DistributionRow).local_table
_RECORD = json_records.column(
    Distribution,
    ROWS,
    asset_symbol=json_records.text("assets.symbol"),
    asset_decimals="assets.decimals",
    chain_name=json_records.text("chains.display_name"),
    awaits_approval=awaits_sql("distributions"),
)
LIST = Listing.of(
    ROWS.c,
    "created_at",
    "updated_at",
    names=(ROWS.c.name, col(AssetRow.symbol), col(AssetRow.name)),
    codes=(ROWS.c.merkle_root, ROWS.c.distributor_address),
)


async def page(context: Context, page: Page, asset_id: UUID | None, status: DistributionStatus | None) -> Response:
    """Return a page of an asset's distributions, or of all assets'."""
    query = where_given(_query(context), (ROWS.c.asset_id, asset_id), (ROWS.c.status, status))
    return await page.respond(context.session, query.with_only_columns(_RECORD, ROWS.c.id), DistributionList)


async def one(context: Context, asset_id: UUID, distribution_id: UUID) -> Distribution:
    """Return one distribution; 404 if the asset has none with this ID."""
    query = _query(context).where(ROWS.c.id == distribution_id, ROWS.c.asset_id == asset_id)
    row = (await context.session.execute(query)).one_or_none()
    if row is None:
        raise NotFound("This asset has no distribution with this ID.")
    return _read(row)


def _query(context: Context) -> sa.Select[Any]:
    return (
        sa.select(
            ROWS,
            col(AssetRow.symbol).label("asset_symbol"),
            col(AssetRow.decimals).label("asset_decimals"),
            col(ChainRow.display_name).label("chain_name"),
            awaits_approval(ROWS),
        )
        .join(AssetRow, col(AssetRow.id) == ROWS.c.asset_id)
        .outerjoin(ChainRow, col(ChainRow.xchain_eid) == ROWS.c.chain_eid)
        .where(ROWS.c.organization_id == context.organization_id)
    )


def _read(row: Any) -> Distribution:
    amounts = {name: str(int(getattr(row, name))) for name in ("total_amount", "claimed_amount")}
    return Distribution(**{**row._mapping, **amounts})
