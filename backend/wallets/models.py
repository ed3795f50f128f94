"""Wallets of organizations."""

from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Field

from backend.core.columns import Row, organization_field, sort_indexes, status_field
from backend.wallets.schemas import WalletKind


class WalletRow(Row, table=True):
    """A wallet. The provider holds a server wallet's key under `key_ref`."""

    __tablename__ = "wallets"
    __table_args__ = (
        *sort_indexes("wallets", "created_at", "updated_at", "lower(label)"),
        sa.UniqueConstraint("organization_id", "address"),
        sa.Index("uq_wallets_default", "organization_id", unique=True, postgresql_where=sa.text("is_default")),
        sa.Index("uq_wallets_server_address", "address", unique=True, postgresql_where=sa.text("kind = 'server'")),
    )

    organization_id: UUID = organization_field()
    label: str
    address: str = Field(index=True)
    kind: WalletKind = status_field(WalletKind, WalletKind.SERVER)
    provider: str | None = None
    key_ref: str | None = None
    is_default: bool = False
