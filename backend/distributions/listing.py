"""Reading distributions."""

from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.assets.models import AssetRow
from backend.auth.principal import Context
from backend.chains.models import ChainRow
from backend.distributions.models import DistributionRow
from backend.distributions.schemas import Distribution, DistributionList, DistributionStatus
from backend.errors import NotFound
from backend.keyset import Page

ROWS = sa.inspect(DistributionRow).local_table


async def page(
    context: Context, page: Page, asset_id: UUID | None, status: DistributionStatus | None
) -> DistributionList:
    """A page of an asset's distributions, or of all assets'."""
    query = _query(context)
    if asset_id is not None:
        query = query.where(ROWS.c.asset_id == asset_id)
    if status is not None:
        query = query.where(ROWS.c.status == status)
    rows = (await context.session.execute(page.apply(query, ROWS.c.created_at, ROWS.c.id))).all()
    shown, cursor = page.cut(rows)
    return DistributionList(distributions=[_read(r) for r in shown], nextCursor=cursor)


async def one(context: Context, asset_id: UUID, distribution_id: UUID) -> Distribution:
    """One distribution; 404 where the asset has no such one."""
    query = _query(context).where(ROWS.c.id == distribution_id, ROWS.c.asset_id == asset_id)
    row = (await context.session.execute(query)).one_or_none()
    if row is None:
        raise NotFound("This asset has no such distribution.")
    return _read(row)


def _query(context: Context) -> sa.Select[Any]:
    return (
        sa.select(
            ROWS,
            col(AssetRow.symbol).label("asset_symbol"),
            col(AssetRow.decimals).label("asset_decimals"),
            col(ChainRow.display_name).label("chain_name"),
        )
        .join(AssetRow, col(AssetRow.id) == ROWS.c.asset_id)
        .outerjoin(ChainRow, col(ChainRow.xchain_eid) == ROWS.c.chain_eid)
        .where(ROWS.c.organization_id == context.organization_id)
    )


def _read(row: Any) -> Distribution:
    amounts = {name: str(int(getattr(row, name))) for name in ("total_amount", "claimed_amount")}
    return Distribution(**{**row._mapping, **amounts})
