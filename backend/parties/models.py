"""The tables of parties and of their documents."""

from datetime import datetime
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Field

from backend.core.columns import Row, filter_indexes, organization_field, sort_indexes, status_field, time_field
from backend.parties.schemas import DocumentKind, PartyKind, PartyStatus


class PartyRow(Row, table=True):
    """A party of an organization; a wallet address belongs to at most one party there."""

    __tablename__ = "parties"
    __table_args__ = (
        *sort_indexes("parties", "created_at", "updated_at", "lower(name)"),
        *filter_indexes("parties", "status"),
        sa.UniqueConstraint("organization_id", "wallet_address"),
    )

    organization_id: UUID = organization_field()
    kind: PartyKind = status_field(PartyKind, PartyKind.PERSON)
    name: str
    email: str | None = Field(default=None, index=True)
    country: str
    wallet_address: str | None = None
    status: PartyStatus = status_field(PartyStatus, PartyStatus.CREATED)
    kyc_level: int = 0
    accredited: bool = False
    reviewed_by: UUID | None = Field(default=None, foreign_key="users.id")
    reviewed_at: datetime | None = time_field(nullable=True)
    reason: str | None = None


class FileRow(Row, table=True):
    """A content, identified by its SHA-256 hash: stored once per organization, shared by its parties."""

    __tablename__ = "party_files"
    __table_args__ = (
        sa.UniqueConstraint("organization_id", "sha256"),
        # The quotas on bytes are sums over it alone.
        sa.Index("ix_party_files_bytes", "organization_id", postgresql_include=["size"]),
    )

    organization_id: UUID = organization_field()
    sha256: str = Field(max_length=64)
    media_type: str
    size: int
    parts: int


class FilePartRow(Row, table=True):
    """An encrypted piece of a content: a copy of the database does not reveal passports."""

    __tablename__ = "party_file_parts"
    __table_args__ = (sa.UniqueConstraint("file_id", "number"),)

    organization_id: UUID = organization_field()
    file_id: UUID = Field(foreign_key="party_files.id")
    number: int
    sealed: bytes = Field(sa_type=sa.LargeBinary)


class DocumentRow(Row, table=True):
    """A document of a party: a content and its kind."""

    __tablename__ = "party_documents"
    __table_args__ = (
        *sort_indexes("party_documents", "created_at", by="party_id"),
        sa.UniqueConstraint("party_id", "file_id"),
    )

    organization_id: UUID = organization_field()
    party_id: UUID = Field(foreign_key="parties.id")
    file_id: UUID = Field(foreign_key="party_files.id")
    kind: DocumentKind = status_field(DocumentKind)
    name: str
    uploaded_by: UUID | None = Field(default=None, foreign_key="users.id")
    is_from_investor: bool = Field(default=False, sa_column_kwargs={"server_default": sa.false()})
    """The party itself uploaded it, as an investor, and not staff."""
