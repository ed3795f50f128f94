"""The transaction store: signers, their nonces, and every signed transaction, stored before it is broadcast."""

from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Field

from backend.db import Row, amount_field, json_field, status_field, time_field


class TransactionStatus(StrEnum):
    """`pending` (to be sent) `→ submitting` (broadcast) `→ confirmed, failed` (reverted, or given up)."""

    PENDING = "pending"
    SUBMITTING = "submitting"
    CONFIRMED = "confirmed"
    FAILED = "failed"


class SignerRow(Row, table=True):
    """A signer on a chain and the next nonce it has to give."""

    __tablename__ = "signers"
    __table_args__ = (sa.UniqueConstraint("chain_eid", "address"),)

    chain_eid: int = Field(sa_type=sa.BigInteger)
    address: str
    next_nonce: int = Field(default=0, sa_type=sa.BigInteger)


class TransactionRow(Row, table=True):
    """A signed transaction. `key` is the intent's: the same intent finds its own row again after a crash."""

    __tablename__ = "transactions"
    __table_args__ = (
        sa.UniqueConstraint("key"),
        sa.UniqueConstraint("chain_eid", "signer", "nonce"),
        sa.Index("ix_transactions_open", "chain_eid", postgresql_where=sa.text("status in ('pending', 'submitting')")),
        sa.Index("ix_transactions_block", "chain_eid", "block_number"),
    )

    organization_id: UUID | None = Field(default=None, foreign_key="organizations.id", index=True)
    key: str
    chain_eid: int = Field(sa_type=sa.BigInteger)
    signer: str
    nonce: int = Field(sa_type=sa.BigInteger)
    to_address: str | None = None
    data: str
    value: int | None = amount_field(0)
    gas: int = Field(default=0, sa_type=sa.BigInteger)
    max_fee: int | None = amount_field(0)
    tip: int | None = amount_field(0)
    raw: str
    tx_hash: str = Field(index=True)
    earlier: list[dict[str, str]] = json_field(list)
    """`tx_hash` and `raw` of what this one has replaced with more fee; any of them may be the one that is mined."""
    sent_at: datetime = time_field()
    """When the newest of them was signed."""
    status: TransactionStatus = status_field(TransactionStatus, TransactionStatus.PENDING)
    block_number: int | None = Field(default=None, sa_type=sa.BigInteger)
    block_hash: str | None = None
    receipt: dict[str, Any] | None = json_field(None, nullable=True)
    problem: dict[str, Any] | None = json_field(None, nullable=True)
    label: str = ""

    @property
    def hashes(self) -> list[str]:
        """Every hash under which it may be mined, the newest first."""
        return [self.tx_hash, *(entry["tx_hash"] for entry in reversed(self.earlier))]


class CursorRow(Row, table=True):
    """How far the indexer has read a stream of logs: block number and the hash it had then."""

    __tablename__ = "cursors"
    __table_args__ = (sa.UniqueConstraint("chain_eid", "stream"),)

    chain_eid: int = Field(sa_type=sa.BigInteger)
    stream: str
    block_number: int = Field(sa_type=sa.BigInteger)
    block_hash: str


class TokenTransferRow(Row, table=True):
    """A token's Transfer event; the cap table is their sum."""

    __tablename__ = "token_transfers"
    __table_args__ = (sa.UniqueConstraint("chain_eid", "tx_hash", "log_index"),)

    organization_id: UUID = Field(foreign_key="organizations.id", index=True)
    asset_id: UUID = Field(foreign_key="assets.id", index=True)
    chain_eid: int = Field(sa_type=sa.BigInteger)
    from_address: str = Field(index=True)
    to_address: str = Field(index=True)
    amount: int | None = amount_field(0)
    tx_hash: str
    log_index: int
    block_number: int = Field(sa_type=sa.BigInteger)
