"""The parties table."""

from datetime import datetime
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Field

from backend.db import Row, organization_field, status_field, time_field
from backend.parties.schemas import PartyKind, PartyStatus


class PartyRow(Row, table=True):
    """A party of an organization; one wallet address stands for one party there."""

    __tablename__ = "parties"
    __table_args__ = (sa.UniqueConstraint("organization_id", "wallet_address"),)

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
