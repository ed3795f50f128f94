"""The transaction store: signers, their nonces, and every signed transaction, stored before it is broadcast."""

from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Field, SQLModel

from backend.chain.finality import Finality
from backend.core.columns import (
    Row,
    amount_field,
    json_field,
    organization_field,
    record_time_field,
    status_field,
    time_field,
)


class TransactionStatus(StrEnum):
    """`pending` (to be sent) `→ submitting` (broadcast) `→ confirmed, failed` (reverted, or given up)."""

    PENDING = "pending"
    SUBMITTING = "submitting"
    CONFIRMED = "confirmed"
    FAILED = "failed"


class SignerRow(Row, table=True):
    """A signer on a chain and its next nonce."""

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
        sa.Index(
            "ix_transactions_unsettled", "chain_eid", postgresql_where=sa.text("finality in ('included', 'safe')")
        ),
        sa.Index(
            "ix_transactions_unmined",
            "chain_eid",
            postgresql_where=sa.text("status = 'failed' and block_number is null"),
        ),
        sa.Index(
            "ix_transactions_superseded",
            sa.text("split_part(key, '#failed', 1)"),
            postgresql_where=sa.text("key like '%#failed%'"),
        ),
        sa.Index("ix_transactions_due", "chain_eid", postgresql_where=sa.text("is_check_due")),
    )

    organization_id: UUID | None = Field(default=None, foreign_key="organizations.id", index=True)
    request_id: UUID | None = Field(default=None, index=True)
    """The request it belongs to; None if the installation itself sent it."""
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
    """`tx_hash` and `raw` of the versions that this one replaced with a higher fee; any of them may be mined."""
    sent_at: datetime = record_time_field()
    """When the newest version was signed."""
    status: TransactionStatus = status_field(TransactionStatus, TransactionStatus.PENDING)
    block_number: int | None = Field(default=None, sa_type=sa.BigInteger)
    block_hash: str | None = None
    receipt: dict[str, Any] | None = json_field(None, nullable=True)
    problem: dict[str, Any] | None = json_field(None, nullable=True)
    label: str = ""
    finality: Finality | None = status_field(Finality, nullable=True)
    """The finality of its block; None before it is included."""
    taken_since: datetime | None = time_field(nullable=True)
    taken_sightings: int = 0
    """Since when, and how often in a row, its nonce was seen as used while none of its hashes had a receipt."""
    reopened_at: datetime | None = time_field(nullable=True)
    """When a reorg last replaced its block."""
    reopened_receipt: dict[str, Any] | None = json_field(None, nullable=True)
    """Its receipt in the block that was replaced."""
    is_check_due: bool = False
    """Whether the indexing process should compare it with the chain again."""

    @property
    def hashes(self) -> list[str]:
        """Return every hash under which it may be mined, the newest first."""
        return [self.tx_hash, *(entry["tx_hash"] for entry in reversed(self.earlier))]


_OURS = sa.inspect(TransactionRow).local_table.alias()
"""Made once: an alias copies every column, which would take longer than a list's query."""


def finality_of(chain_eid: Any, tx_hash: Any) -> Any:
    """Return the finality of our transaction with a hash, for lists: a scalar subquery over two columns."""
    found = sa.select(_OURS.c.finality).where(_OURS.c.tx_hash == tx_hash, _OURS.c.chain_eid == chain_eid)
    return found.limit(1).scalar_subquery().label("finality")


class CursorRow(Row, table=True):
    """The position of the indexer on a chain (stream `head`), or an earlier block (stream `trail:<number>`): block
    number and hash. Only the head uses the last three columns."""

    __tablename__ = "cursors"
    __table_args__ = (sa.UniqueConstraint("chain_eid", "stream"),)

    chain_eid: int = Field(sa_type=sa.BigInteger)
    stream: str
    block_number: int = Field(sa_type=sa.BigInteger)
    block_hash: str
    revision: int = Field(default=0, sa_type=sa.BigInteger)
    """Rises with every write of the indexer, so that a pass detects a write of another one."""
    asked: int = Field(default=0, sa_type=sa.BigInteger)
    """Number of the newest pass requested by a process that does not index the chain itself."""
    served: int = Field(default=0, sa_type=sa.BigInteger)
    """Number of the newest requested pass that has been made."""


class FollowedContractRow(Row, table=True):
    """A contract whose logs the indexer reads."""

    __tablename__ = "followed_contracts"
    __table_args__ = (sa.UniqueConstraint("chain_eid", "address"),)

    chain_eid: int = Field(sa_type=sa.BigInteger)
    address: str
    read_to: int | None = Field(default=None, sa_type=sa.BigInteger)
    """The block up to which its history has been read; None once it has reached the cursor and moves with it."""


class StateEventRow(Row, table=True):
    """An event that replaces a state (an order's status, a halt, a pause, a venue, an end). The current state is that
    of the newest event, so that it can be derived again when events are undone or found late. `created_at` is the time
    of its block."""

    __tablename__ = "chain_events"
    __table_args__ = (
        sa.UniqueConstraint("chain_eid", "tx_hash", "log_index"),
        sa.Index("ix_chain_events_subject", "chain_eid", "address", "subject", "block_number", "log_index"),
        sa.Index("ix_chain_events_block", "chain_eid", "block_number"),
    )

    organization_id: UUID = organization_field()
    chain_eid: int = Field(sa_type=sa.BigInteger)
    address: str
    """The contract that emitted it."""
    name: str
    subject: str = ""
    """The part of the contract it is about: an order's number, a venue's address; empty for the contract itself."""
    arguments: dict[str, Any] = json_field(dict)
    tx_hash: str
    log_index: int
    block_number: int = Field(sa_type=sa.BigInteger)


class TokenTransferRow(Row, table=True):
    """A token's Transfer event. `created_at` is the time of its block."""

    __tablename__ = "token_transfers"
    __table_args__ = (
        sa.UniqueConstraint("chain_eid", "tx_hash", "log_index"),
        sa.Index("ix_token_transfers_time", "asset_id", "created_at"),
        sa.Index("ix_token_transfers_chain_time", "asset_id", "chain_eid", "created_at"),
        sa.Index("ix_token_transfers_block", "asset_id", "chain_eid", "block_number"),
    )

    organization_id: UUID = Field(foreign_key="organizations.id", index=True)
    asset_id: UUID = Field(foreign_key="assets.id")
    chain_eid: int = Field(sa_type=sa.BigInteger)
    from_address: str = Field(index=True)
    to_address: str = Field(index=True)
    amount: int | None = amount_field(0)
    tx_hash: str
    log_index: int
    block_number: int = Field(sa_type=sa.BigInteger)


class TokenBalanceRow(SQLModel, table=True):
    """What an account holds of a token: the sum of its transfers, which triggers keep (`migrations/sql/balances.sql`).
    The zero address has what was burned minus what was minted."""

    __tablename__ = "token_balances"
    __table_args__ = (
        sa.Index("ix_token_balances_largest", "asset_id", "balance", "chain_eid", "address"),
        sa.Index("ix_token_balances_address", "organization_id", "address"),
    )

    organization_id: UUID = Field(foreign_key="organizations.id")
    asset_id: UUID = Field(foreign_key="assets.id", primary_key=True)
    chain_eid: int = Field(sa_type=sa.BigInteger, primary_key=True)
    address: str = Field(primary_key=True)
    balance: int | None = amount_field(0)


class AlarmKind(StrEnum):
    """Kinds of chain alarms. `deep_reorg`: the indexer stopped below its trail and needs an operator. `difference`:
    tables and chain differ and re-reading does not repair it. `executed_twice`: two transactions of one intent were
    mined. `unreadable`: a followed contract emits events that none of our contracts would, and is not read."""

    DEEP_REORG = "deep_reorg"
    DIFFERENCE = "difference"
    EXECUTED_TWICE = "executed_twice"
    UNREADABLE = "unreadable"


class ChainAlarmRow(Row, table=True):
    """An alarm about a chain for the operator. It is open until the cause is gone; `created_at` is when it began.
    Shared by all organizations, so `detail` contains no tenant's data."""

    __tablename__ = "chain_alarms"
    __table_args__ = (sa.UniqueConstraint("chain_eid", "kind", "subject"),)

    chain_eid: int = Field(sa_type=sa.BigInteger)
    kind: AlarmKind = status_field(AlarmKind)
    subject: str = ""
    """Its subject, such as an address or a request ID; empty for the chain itself."""
    detail: str
    """One sentence for the operator: what happened and what to do."""
