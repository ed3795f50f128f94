"""Keys of server wallets."""

from datetime import datetime

import sqlalchemy as sa
from sqlmodel import Field, SQLModel

from backend.core.columns import time_field


class WalletKeyRow(SQLModel, table=True):
    """The private key of a server wallet, sealed for its address."""

    __tablename__ = "wallet_keys"
    __table_args__ = (
        sa.Index("uq_wallet_keys_operator", "is_operator", unique=True, postgresql_where=sa.text("is_operator")),
    )

    address: str = Field(primary_key=True)
    sealed: bytes = Field(sa_type=sa.LargeBinary)
    is_operator: bool = Field(default=False, sa_column_kwargs={"server_default": sa.false()})
    """The operator's own key, of which there is one."""
    created_at: datetime = time_field(sa_column_kwargs={"server_default": sa.func.now()})
