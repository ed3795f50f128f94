"""The bridges table. `created_at` is unique per organization: it is the list's cursor."""

from datetime import datetime
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Field

from backend.bridges.schemas import BridgeStatus
from backend.core.columns import (
    Row,
    amount_field,
    filter_indexes,
    organization_field,
    sort_indexes,
    status_field,
    time_field,
)


class BridgeRow(Row, table=True):
    """A packet from one chain to another."""

    __tablename__ = "bridges"
    __table_args__ = (
        *sort_indexes("bridges", "created_at", "updated_at"),
        *sort_indexes("bridges", "created_at", by="asset_id"),
        *filter_indexes("bridges", "status"),
        sa.UniqueConstraint("organization_id", "created_at"),
    )

    organization_id: UUID = organization_field()
    asset_id: UUID = Field(foreign_key="assets.id", index=True)
    source_chain_eid: int = Field(sa_type=sa.BigInteger)
    destination_chain_eid: int = Field(sa_type=sa.BigInteger)
    status: BridgeStatus = status_field(BridgeStatus, BridgeStatus.PENDING)
    amount: int | None = amount_field(0)
    to_address: str | None = None
    guid: str | None = Field(default=None, unique=True)
    source_tx_hash: str | None = None
    destination_tx_hash: str | None = None
    arrived_at: datetime | None = time_field(nullable=True)
    """When its packet was first seen as delivered, with the confirmations that a request on the destination needs."""
    failure: str | None = None
    attempts: int = 0
    request_id: UUID | None = None
    return_request_id: UUID | None = None
    """The request that drops the packet and mints its supply back; while it is set, the bridge is not retried."""
    returned_at: datetime | None = time_field(nullable=True)
    return_tx_hash: str | None = None
    checked_at: datetime | None = time_field(nullable=True)
