"""The attestations table."""

from datetime import datetime
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Field

from backend.attestations.schemas import AttestationStatus
from backend.core.columns import Row, filter_indexes, organization_field, sort_indexes, status_field, time_field

EXPIRY = sa.text("coalesce(expires_at, '9999-12-31 00:00:00+00'::timestamptz)")
"""The sort by expiry: attestations that never expire come last."""


class AttestationRow(Row, table=True):
    """One attestation on one chain. The API names the kind of statement ("kyc") `schema`."""

    __tablename__ = "attestations"
    __table_args__ = (
        *sort_indexes("attestations", "created_at", "updated_at"),
        *filter_indexes("attestations", "status"),
        sa.Index("ix_attestations_by_expires_at", "organization_id", EXPIRY, "id"),
    )

    organization_id: UUID = organization_field()
    party_id: UUID = Field(foreign_key="parties.id", index=True)
    wallet_address: str = Field(index=True)
    chain_eid: int = Field(sa_type=sa.BigInteger)
    schema_name: str = "kyc"
    kyc_level: int
    accredited: bool = False
    country: str
    expires_at: datetime | None = time_field(nullable=True)
    uid: str | None = Field(default=None, index=True)
    status: AttestationStatus = status_field(AttestationStatus, AttestationStatus.PENDING)
    tx_hash: str | None = None
    request_id: UUID | None = None
    revocation_reason: str | None = None
    attested_at: datetime | None = time_field(nullable=True)
    """The time of its block; None before it is on the chain."""
    revoked_at: datetime | None = time_field(nullable=True)
    """The time of the block that revoked or replaced it."""
    failure: str | None = None
