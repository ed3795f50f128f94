"""Lists of bridges. The list's cursor is the bare `created_at` of the last item (specification 4.3)."""

from collections.abc import Sequence
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
from backend.requests.models import RequestRow
from backend.requests.schemas import RequestStatus
from backend.requests.waiting import awaits_approval
from backend.wallets import known_names
from backend.wallets.known_names import KnownAddress

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
_CAN_RETRY = sa.func.coalesce(
    sa.and_(
        BRIDGES.c.status == BridgeStatus.FAILED,
        BRIDGES.c.return_request_id.is_(None),
        col(RequestRow.status) == RequestStatus.FAILED,
        col(RequestRow.can_retry),
    ),
    sa.false(),
)


async def page(context: Context, page: Page, asset_id: UUID | None, status: BridgeStatus | None) -> BridgeList:
    """Return a page of the organization's bridges."""
    query = where_given(_query(context), (BRIDGES.c.asset_id, asset_id), (BRIDGES.c.status, status))
    shown, paging = await page.read(context.session, query)
    return BridgeList(bridges=await _bridges(context, shown), **paging)


async def one(context: Context, bridge_id: UUID) -> Bridge:
    """Return one bridge. A failed one whose packet was delivered late becomes confirmed."""
    row = await _one(context, bridge_id)
    if row.status is BridgeStatus.FAILED and row.guid and not row.returned_at and await _arrived(context, bridge_id):
        row = await _one(context, bridge_id)
    (bridge,) = await _bridges(context, [row])
    return bridge


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
            _CAN_RETRY.label("can_retry"),
            awaits_approval(BRIDGES),
        )
        .join(AssetRow, col(AssetRow.id) == BRIDGES.c.asset_id)
        .outerjoin(RequestRow, col(RequestRow.id) == BRIDGES.c.request_id)
        .where(BRIDGES.c.organization_id == context.organization_id)
    )


async def _bridges(context: Context, rows: Sequence[Any]) -> list[Bridge]:
    receivers = {row.to_address for row in rows if row.to_address}
    known = await known_names.known(context.session, context.organization_id, receivers) if receivers else {}
    return [_bridge(row, known.get(row.to_address)) for row in rows]


def _bridge(row: Any, receiver: KnownAddress | None) -> Bridge:
    more = {"amount": str(row.amount), "to_name": receiver.title if receiver else None}
    return Bridge(**{**row._mapping, **more})
