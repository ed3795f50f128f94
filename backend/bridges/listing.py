"""Lists of bridges. The list's cursor is the bare `created_at` of the last item (specification 4.3)."""

from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.assets.models import AssetRow
from backend.auth.principal import Context
from backend.bridges import late_deliveries
from backend.bridges.models import BridgeRow
from backend.bridges.schemas import Bridge, BridgeList, BridgeStatus
from backend.chain.models import finality_of
from backend.core import db
from backend.core.errors import NotFound
from backend.core.pagination import where_given
from backend.lists.pages import Listing, Page

BRIDGES = sa.inspect(BridgeRow).local_table
LIST = Listing(
    {"created_at": BRIDGES.c.created_at, "updated_at": BRIDGES.c.updated_at},
    tie=BRIDGES.c.id,
    created=BRIDGES.c.created_at,
    updated=BRIDGES.c.updated_at,
    names=(col(AssetRow.symbol), col(AssetRow.name)),
    codes=(BRIDGES.c.id, BRIDGES.c.guid, BRIDGES.c.source_tx_hash, BRIDGES.c.destination_tx_hash),
    has_bare_cursor=True,
)


async def page(context: Context, page: Page, asset_id: UUID | None, status: BridgeStatus | None) -> BridgeList:
    """Return a page of the organization's bridges."""
    query = where_given(_query(context), (BRIDGES.c.asset_id, asset_id), (BRIDGES.c.status, status))
    shown, paging = await page.read(context.session, query)
    return BridgeList(bridges=[_bridge(r) for r in shown], **paging)


async def one(context: Context, bridge_id: UUID) -> Bridge:
    """Return one bridge. A failed one whose packet was delivered late becomes confirmed."""
    row = await _one(context, bridge_id)
    if row.status is BridgeStatus.FAILED and row.guid and not row.returned_at and await _arrived(context, bridge_id):
        row = await _one(context, bridge_id)
    return _bridge(row)


async def _one(context: Context, bridge_id: UUID) -> Any:
    row = (await context.session.execute(_query(context).where(BRIDGES.c.id == bridge_id))).one_or_none()
    if row is None:
        raise NotFound("There is no bridge with this ID in this organization.")
    return row


async def _arrived(context: Context, bridge_id: UUID) -> bool:
    """Check the destination again. If the chain does not answer, nothing changes."""
    row = await context.session.get_one(BridgeRow, bridge_id)
    async with db.paused(context.session):
        arrival = await late_deliveries.look(row)
    if arrival is not None:
        await late_deliveries.note(context.session, bridge_id, arrival)
    return arrival is not None


def _query(context: Context) -> sa.Select[Any]:
    return (
        sa.select(
            BRIDGES,
            col(AssetRow.symbol).label("asset_symbol"),
            col(AssetRow.decimals).label("asset_decimals"),
            finality_of(BRIDGES.c.source_chain_eid, BRIDGES.c.source_tx_hash),
        )
        .join(AssetRow, col(AssetRow.id) == BRIDGES.c.asset_id)
        .where(BRIDGES.c.organization_id == context.organization_id)
    )


def _bridge(row: Any) -> Bridge:
    return Bridge(**{**row._mapping, "amount": str(row.amount)})
