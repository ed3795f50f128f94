"""Markets, and their orders as indexed."""

from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY
from sqlmodel import Field

from backend.core.columns import Row, amount_field, organization_field, sort_indexes, status_field
from backend.core.fields import RegulationType
from backend.markets.schemas import MarketStatus, OrderSide, OrderStatus

_LIVE: Any = sa.text("status <> 'failed'")


class MarketRow(Row, table=True):
    """A market; at most one that has not failed per asset and chain."""

    __tablename__ = "markets"
    __table_args__ = (
        *sort_indexes("markets", "created_at", "updated_at"),
        sa.Index("uq_markets_live", "asset_id", "chain_eid", unique=True, postgresql_where=_LIVE),
    )

    organization_id: UUID = organization_field()
    asset_id: UUID = Field(foreign_key="assets.id", index=True)
    chain_eid: int = Field(sa_type=sa.BigInteger)
    status: MarketStatus = status_field(MarketStatus, MarketStatus.DEPLOYING)
    request_id: UUID | None = None
    bridge_id: UUID | None = Field(default=None, foreign_key="bridges.id")
    market_address: str | None = Field(default=None, index=True)
    block_number: int | None = Field(default=None, sa_type=sa.BigInteger)
    rwa_token_address: str | None = None
    market_factory_address: str
    quote_token_address: str | None = None
    quote_symbol: str | None = None
    quote_decimals: int | None = None
    regulation_type: RegulationType = status_field(RegulationType, RegulationType.NONE)
    min_kyc_level: int = 0
    requires_accreditation: bool = False
    blocked_countries: list[str] = Field(default_factory=list, sa_type=ARRAY(sa.Text))
    lockup_end_time: int = Field(default=0, sa_type=sa.BigInteger)
    max_holders: int = Field(default=0, sa_type=sa.BigInteger)
    max_tokens_per_holder: int | None = amount_field(0)
    taker_fee_bps: int = 30
    maker_fee_bps: int = 0
    failure: str | None = None
    is_halted: bool = False
    """From the market's own events; `status` follows from this, the token's state, its rules and the time."""
    halt_reason: str | None = None


class OrderRow(Row, table=True):
    """An order of a market, keyed by its number on chain."""

    __tablename__ = "orders"
    __table_args__ = (
        *sort_indexes("orders", "created_at", "updated_at", by="market_id"),
        sa.UniqueConstraint("market_id", "chain_order_id"),
    )

    organization_id: UUID = organization_field()
    market_id: UUID = Field(foreign_key="markets.id", index=True)
    chain_order_id: int = Field(sa_type=sa.BigInteger)
    side: OrderSide = status_field(OrderSide)
    status: OrderStatus = status_field(OrderStatus, OrderStatus.OPEN)
    price: int | None = amount_field(0)
    amount: int | None = amount_field(0)
    filled: int | None = amount_field(0)
    maker_address: str = Field(index=True)
    tx_hash: str
    block_number: int = Field(sa_type=sa.BigInteger)
