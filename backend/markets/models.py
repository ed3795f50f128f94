"""Markets, their orders and trades."""

from datetime import datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY
from sqlmodel import Field

from backend.core.columns import (
    Row,
    amount_field,
    filter_indexes,
    organization_field,
    sort_indexes,
    status_field,
    time_field,
)
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
    volume: int | None = amount_field(0)
    """The amount of all its trades; set with them, as are the next two."""
    last_price: int | None = amount_field(None)
    last_trade_at: datetime | None = time_field(nullable=True)


class OrderRow(Row, table=True):
    """An order of a market. One that was accepted here has its row, with its request, before it is on the chain; the
    row gets its number, transaction and block from its event."""

    __tablename__ = "orders"
    __table_args__ = (
        *sort_indexes("orders", "created_at", "updated_at", by="market_id"),
        *filter_indexes("orders", "status", by="market_id"),
        sa.UniqueConstraint("market_id", "chain_order_id"),
        # Read after every pass of the indexer.
        sa.Index("ix_orders_open", "market_id", postgresql_where=sa.text("status in ('open', 'partial')")),
    )

    organization_id: UUID = organization_field()
    market_id: UUID = Field(foreign_key="markets.id", index=True)
    request_id: UUID | None = Field(default=None, unique=True)
    """The request that places it; None for an order that was placed outside Signum."""
    chain_order_id: int | None = Field(default=None, sa_type=sa.BigInteger)
    side: OrderSide = status_field(OrderSide)
    status: OrderStatus = status_field(OrderStatus, OrderStatus.PENDING)
    price: int | None = amount_field(0)
    amount: int | None = amount_field(0)
    filled: int | None = amount_field(0)
    maker_address: str = Field(index=True)
    tx_hash: str | None = None
    block_number: int | None = Field(default=None, sa_type=sa.BigInteger)
    failure: str | None = None
    blocked_reason: str | None = None
    """Why an open order cannot be filled: its maker is ineligible."""


class TradeRow(Row, table=True):
    """A fill of two orders, from the market's event. `created_at` is the time of its block."""

    __tablename__ = "trades"
    __table_args__ = (
        sa.UniqueConstraint("market_id", "tx_hash", "log_index"),
        sa.Index("ix_trades_place", "market_id", "block_number", "log_index"),
        sa.Index("ix_trades_time", "market_id", "created_at"),
        sa.Index("ix_trades_maker", "market_id", "maker_chain_id"),
        sa.Index("ix_trades_taker", "market_id", "taker_chain_id"),
    )

    organization_id: UUID = organization_field()
    market_id: UUID = Field(foreign_key="markets.id")
    maker_chain_id: int = Field(sa_type=sa.BigInteger)
    taker_chain_id: int = Field(sa_type=sa.BigInteger)
    """The numbers of the orders on chain."""
    price: int | None = amount_field(0)
    amount: int | None = amount_field(0)
    taker_fee: int | None = amount_field(0)
    maker_fee: int | None = amount_field(0)
    tx_hash: str
    log_index: int
    block_number: int = Field(sa_type=sa.BigInteger)


class AnnouncementRow(Row, table=True):
    """An event of an order or a trade that was announced, so that reading the chain again does not repeat it. The
    retention deletes it after 14 days."""

    __tablename__ = "market_announcements"
    __table_args__ = (sa.UniqueConstraint("key"), sa.Index("ix_market_announcements_age", "created_at"))

    organization_id: UUID = organization_field()
    key: str
