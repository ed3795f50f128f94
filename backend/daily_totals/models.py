"""Tables of daily totals. Days are UTC days of block time; all chains of an asset are added up.

Every row follows from the indexed events alone and is written again when an event of its day appears or disappears.
"""

from datetime import date, datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import UUID as PgUuid
from sqlmodel import Field, SQLModel

from backend.core.columns import amount_field, organization_field, time_field


def _part_of(table: str) -> Any:
    return Field(sa_column=sa.Column(PgUuid(as_uuid=True), sa.ForeignKey(f"{table}.id"), primary_key=True))


class AssetDayRow(SQLModel, table=True):
    """The tokens of an asset on a day. `transfers` are those between accounts, without deposits in markets, and
    `holders` is by how much the number of holders changed, contracts and treasuries included."""

    __tablename__ = "asset_days"

    organization_id: UUID = organization_field()
    asset_id: UUID = _part_of("assets")
    day: date = Field(primary_key=True)
    mints: int = 0
    burns: int = 0
    transfers: int = 0
    minted: int | None = amount_field(0)
    burnt: int | None = amount_field(0)
    holders: int = 0


class OrganizationDayRow(SQLModel, table=True):
    """By how much the number of addresses that hold any asset of an organization changed on a day."""

    __tablename__ = "organization_days"

    organization_id: UUID = _part_of("organizations")
    day: date = Field(primary_key=True)
    holders: int = 0


class HolderChangeRow(SQLModel, table=True):
    """A day at whose end an address holds an asset and did not a day before (`change` 1), or the reverse (-1). What a
    market holds for a seller is the seller's."""

    __tablename__ = "holder_changes"
    __table_args__ = (
        sa.Index("ix_holder_changes_day", "asset_id", "day", postgresql_include=["change"]),
        sa.Index("ix_holder_changes_address", "organization_id", "address"),
    )

    organization_id: UUID = Field(sa_type=PgUuid(as_uuid=True), foreign_key="organizations.id")
    asset_id: UUID = _part_of("assets")
    address: str = Field(primary_key=True)
    day: date = Field(primary_key=True)
    change: int = Field(sa_type=sa.SmallInteger)


class AnyHolderChangeRow(SQLModel, table=True):
    """The same for any asset of an organization."""

    __tablename__ = "any_holder_changes"
    __table_args__ = (sa.Index("ix_any_holder_changes_day", "organization_id", "day", postgresql_include=["change"]),)

    organization_id: UUID = _part_of("organizations")
    address: str = Field(primary_key=True)
    day: date = Field(primary_key=True)
    change: int = Field(sa_type=sa.SmallInteger)


class MarketDayRow(SQLModel, table=True):
    """The trades of a market on a day with trades. `amount` is in base units of the asset, everything else in base
    units of the quote currency; `last_at` is the time of the last trade."""

    __tablename__ = "market_days"

    organization_id: UUID = organization_field()
    market_id: UUID = _part_of("markets")
    day: date = Field(primary_key=True)
    trades: int = 0
    open: int | None = amount_field(0)
    high: int | None = amount_field(0)
    low: int | None = amount_field(0)
    close: int | None = amount_field(0)
    amount: int | None = amount_field(0)
    value: int | None = amount_field(0)
    last_at: datetime = time_field()
