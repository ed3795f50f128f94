"""Distributions, their recipients and trees, and indexed claims."""

from datetime import datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import UUID as PgUuid
from sqlmodel import Field, SQLModel

from backend.core.columns import Row, amount_field, organization_field, sort_indexes, status_field, time_field
from backend.distributions.schemas import DistributionStatus


def _part_of() -> Any:
    """Return a foreign key to the distribution; deleting it deletes the row."""
    return Field(
        sa_column=sa.Column(
            PgUuid(as_uuid=True), sa.ForeignKey("distributions.id", ondelete="CASCADE"), primary_key=True
        )
    )


def _owner() -> Any:
    """Return the organization column, for row-level security; the distribution's foreign key proves that it exists."""
    return Field(sa_type=PgUuid(as_uuid=True), nullable=False)


class DistributionRow(Row, table=True):
    """A distribution. `ended_block` is the block that completed or closed it, so that a reorg can undo that."""

    __tablename__ = "distributions"
    __table_args__ = (
        *sort_indexes("distributions", "created_at", "updated_at"),
        # The quota on stored recipients is a sum over these alone.
        sa.Index(
            "ix_distributions_recipients",
            "organization_id",
            postgresql_include=["total_recipients", "held_recipients"],
            postgresql_where=sa.text("has_recipients"),
        ),
    )

    organization_id: UUID = organization_field()
    asset_id: UUID = Field(foreign_key="assets.id", index=True)
    name: str
    chain_eid: int = Field(sa_type=sa.BigInteger)
    status: DistributionStatus = status_field(DistributionStatus, DistributionStatus.DRAFT)
    merkle_root: str | None = None
    total_recipients: int | None = Field(default=None, sa_type=sa.BigInteger)
    total_amount: int | None = amount_field(0)
    claimed_recipients: int = Field(default=0, sa_type=sa.BigInteger)
    claimed_amount: int | None = amount_field(0)
    has_recipients: bool = False
    excluded_recipients: int = Field(default=0, sa_type=sa.BigInteger)
    held_recipients: int = Field(default=0, sa_type=sa.BigInteger)
    currency_address: str | None = None
    currency_symbol: str | None = None
    currency_decimals: int | None = None
    held_of: UUID | None = Field(default=None, foreign_key="distributions.id", ondelete="SET NULL", index=True)
    distributor_address: str | None = Field(default=None, index=True)
    block_number: int | None = Field(default=None, sa_type=sa.BigInteger)
    activated_at: datetime | None = time_field(nullable=True)
    """The time of the block that activated it."""
    ended_block: int | None = Field(default=None, sa_type=sa.BigInteger)
    request_id: UUID | None = None
    failure: str | None = None


class RecipientRow(SQLModel, table=True):
    """One entitlement; `node` is the position of its leaf in the tree."""

    __tablename__ = "distribution_recipients"
    __table_args__ = (sa.UniqueConstraint("distribution_id", "address"),)

    organization_id: UUID = _owner()
    distribution_id: UUID = _part_of()
    index: int = Field(primary_key=True, sa_type=sa.BigInteger)
    address: str
    amount: int | None = amount_field(0)
    node: int = Field(sa_type=sa.BigInteger)


class HeldRecipientRow(SQLModel, table=True):
    """A recipient outside the tree, whom the rules refused; `reasons` are separated by line ends. `released_by` is the
    later distribution that pays it."""

    __tablename__ = "distribution_held_recipients"

    organization_id: UUID = _owner()
    distribution_id: UUID = _part_of()
    index: int = Field(primary_key=True, sa_type=sa.BigInteger)
    address: str
    amount: int | None = amount_field(0)
    reasons: str
    released_by: UUID | None = Field(default=None, foreign_key="distributions.id", ondelete="SET NULL", index=True)


class TreePartRow(SQLModel, table=True):
    """Some consecutive nodes of a tree, 32 bytes each."""

    __tablename__ = "distribution_tree_parts"

    organization_id: UUID = _owner()
    distribution_id: UUID = _part_of()
    part: int = Field(primary_key=True)
    nodes: bytes


class ClaimRow(Row, table=True):
    """A paid entitlement. `created_at` is the time of its block."""

    __tablename__ = "distribution_claims"
    __table_args__ = (sa.UniqueConstraint("distribution_id", "index"),)

    organization_id: UUID = organization_field()
    distribution_id: UUID = Field(foreign_key="distributions.id")
    index: int = Field(sa_type=sa.BigInteger)
    address: str
    amount: int | None = amount_field(0)
    tx_hash: str
    log_index: int
    block_number: int = Field(sa_type=sa.BigInteger, index=True)
