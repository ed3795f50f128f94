"""The transfers table."""

from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Field

from backend.core.columns import Row, amount_field, filter_indexes, organization_field, sort_indexes, status_field
from backend.transfers.schemas import TransferStatus


class TransferRow(Row, table=True):
    """A requested transfer. `token_transfers` has what moved on chain; this row has its status."""

    __tablename__ = "transfers"
    __table_args__ = (
        *sort_indexes("transfers", "created_at", "updated_at"),
        *sort_indexes("transfers", "created_at", by="asset_id"),
        *filter_indexes("transfers", "status"),
    )

    organization_id: UUID = organization_field()
    asset_id: UUID = Field(foreign_key="assets.id", index=True)
    chain_eid: int = Field(sa_type=sa.BigInteger)
    from_wallet_id: UUID | None = Field(default=None, foreign_key="wallets.id", ondelete="SET NULL", index=True)
    """Null after the wallet was deleted; its address stays."""
    from_address: str
    to_address: str
    amount: int | None = amount_field(0)
    status: TransferStatus = status_field(TransferStatus, TransferStatus.PENDING)
    tx_hash: str | None = None
    failure: str | None = None
    request_id: UUID | None = None
