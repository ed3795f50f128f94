"""The transfers table."""

from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Field

from backend.db import Row, amount_field, organization_field, status_field
from backend.transfers.schemas import TransferStatus


class TransferRow(Row, table=True):
    """A transfer that was asked for. What the chain moved is in `token_transfers`; this row says how far it is."""

    __tablename__ = "transfers"
    __table_args__ = (sa.Index("ix_transfers_page", "organization_id", "created_at", "id"),)

    organization_id: UUID = organization_field()
    asset_id: UUID = Field(foreign_key="assets.id", index=True)
    chain_eid: int = Field(sa_type=sa.BigInteger)
    from_wallet_id: UUID | None = Field(default=None, foreign_key="wallets.id", ondelete="SET NULL", index=True)
    """Null once the wallet was forgotten; its address stays."""
    from_address: str
    to_address: str
    amount: int | None = amount_field(0)
    status: TransferStatus = status_field(TransferStatus, TransferStatus.PENDING)
    tx_hash: str | None = None
    failure: str | None = None
    request_id: UUID | None = None
