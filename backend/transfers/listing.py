"""Lists of transfers."""

from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.assets.models import AssetRow
from backend.auth.principal import Context
from backend.chain.chain_models import ChainRow
from backend.chain.models import finality_of
from backend.core.errors import NotFound
from backend.core.pagination import where_given
from backend.lists.pages import Listing, Page
from backend.parties.models import PartyRow
from backend.requests.waiting import awaits_approval
from backend.transfers.models import TransferRow
from backend.transfers.schemas import Transfer, TransferList, TransferStatus
from backend.wallets.models import WalletRow

TRANSFERS = sa.inspect(TransferRow).local_table
LIST = Listing.of(
    TRANSFERS.c,
    "created_at",
    "updated_at",
    names=(col(AssetRow.symbol), col(AssetRow.name)),
    codes=(TRANSFERS.c.tx_hash, TRANSFERS.c.to_address, TRANSFERS.c.from_address),
)


def _name(of: Any, name: str, address: str, whose: Any) -> Any:
    """Return the name that the organization gave an account; if several parties share a wallet, one is shown."""
    table = sa.inspect(of).local_table.alias()
    known = (
        table.c.organization_id == TRANSFERS.c.organization_id,
        table.c[address] == whose,
    )
    return sa.select(table.c[name]).where(*known).limit(1).scalar_subquery()


_RECEIVER = TRANSFERS.c.to_address
_QUERY = (
    sa.select(
        TRANSFERS,
        col(AssetRow.symbol).label("asset_symbol"),
        col(AssetRow.decimals).label("asset_decimals"),
        col(ChainRow.display_name).label("chain_name"),
        col(WalletRow.label).label("from_label"),
        _name(PartyRow, "name", "wallet_address", TRANSFERS.c.from_address).label("from_name"),
        sa.func.coalesce(
            _name(PartyRow, "name", "wallet_address", _RECEIVER), _name(WalletRow, "label", "address", _RECEIVER)
        ).label("to_name"),
        finality_of(TRANSFERS.c.chain_eid, TRANSFERS.c.tx_hash),
        awaits_approval(TRANSFERS),
    )
    .join(AssetRow, col(AssetRow.id) == TRANSFERS.c.asset_id)
    .outerjoin(ChainRow, col(ChainRow.xchain_eid) == TRANSFERS.c.chain_eid)
    .outerjoin(WalletRow, col(WalletRow.id) == TRANSFERS.c.from_wallet_id)
)
"""Made once, because its aliases copy every column."""


async def page(context: Context, page: Page, asset_id: UUID | None, status: TransferStatus | None) -> TransferList:
    """Return a page of the organization's transfers."""
    query = where_given(_of(context), (TRANSFERS.c.asset_id, asset_id), (TRANSFERS.c.status, status))
    shown, paging = await page.read(context.session, query)
    return TransferList(transfers=[_transfer(r) for r in shown], **paging)


async def one(context: Context, transfer_id: UUID) -> Transfer:
    """Return one transfer; 404 if it does not belong to this organization."""
    row = (await context.session.execute(_of(context).where(TRANSFERS.c.id == transfer_id))).one_or_none()
    if row is None:
        raise NotFound("There is no transfer with this ID in this organization.")
    return _transfer(row)


def _of(context: Context) -> sa.Select[Any]:
    return _QUERY.where(TRANSFERS.c.organization_id == context.organization_id)


def _transfer(row: Any) -> Transfer:
    return Transfer(**{**row._mapping, "amount": str(row.amount)})
