"""Tables of the log and the heads of its chains.

Neither has a foreign key: an insert would lock the organization's row, and the transaction that holds that row may be
waiting for the head of the chain. Permissions are in backend/migrations/sql/audit.sql.
"""

from datetime import datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.dialects.postgresql import UUID as PgUuid
from sqlmodel import Field, SQLModel

from backend.core.columns import time_field


def _organization() -> Any:
    return Field(sa_type=PgUuid(as_uuid=True), primary_key=True)


def _fields() -> Any:
    return Field(default=None, sa_type=JSONB(none_as_null=True), nullable=True)


class AuditRow(SQLModel, table=True):
    """One change. `seq` counts from 1 without gaps in each organization."""

    __tablename__ = "audit_log"
    __table_args__ = (
        sa.Index("ix_audit_log_subject", "organization_id", "subject_id", "seq"),
        sa.Index("ix_audit_log_action", "organization_id", "action", "seq"),
        sa.Index("ix_audit_log_actor", "organization_id", "actor", "seq"),
        sa.Index("ix_audit_log_at", "organization_id", "at"),
    )

    organization_id: UUID = _organization()
    seq: int = Field(sa_type=sa.BigInteger, primary_key=True)
    at: datetime = time_field()
    actor: UUID | None = Field(default=None, sa_type=PgUuid(as_uuid=True), nullable=True)
    credential: str
    action: str
    subject_type: str
    subject_id: str
    before: dict[str, Any] | None = _fields()
    after: dict[str, Any] | None = _fields()
    request_id: str | None = None
    address: str | None = None
    previous_hash: str
    hash: str
    """Of the content as it was written, also where personal data was erased from it later."""
    erased_by: int | None = Field(default=None, sa_type=sa.BigInteger, nullable=True)
    """The erasure, an entry of the same log, that removed personal data from this entry. Not hashed."""


class AuditHeadRow(SQLModel, table=True):
    """The head of an organization's chain. An appending transaction holds its lock until it ends."""

    __tablename__ = "audit_heads"

    organization_id: UUID = _organization()
    seq: int = Field(sa_type=sa.BigInteger)
    hash: str
