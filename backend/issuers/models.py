"""Issuers and their attesters per chain."""

from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Field

from backend.core.columns import Row, organization_field, status_field
from backend.issuers.schemas import IssuerStatus


class IssuerRow(Row, table=True):
    """An organization that may attest."""

    __tablename__ = "issuers"
    __table_args__ = (sa.UniqueConstraint("organization_id"),)

    organization_id: UUID = organization_field()
    name: str
    max_kyc_level: int
    can_revoke_others: bool = False
    wallet_id: UUID = Field(foreign_key="wallets.id")
    request_id: UUID | None = None


class IssuerWalletRow(Row, table=True):
    """An issuer's attester on one chain."""

    __tablename__ = "issuer_wallets"
    __table_args__ = (sa.UniqueConstraint("issuer_id", "chain_eid"),)

    organization_id: UUID = organization_field()
    issuer_id: UUID = Field(foreign_key="issuers.id")
    chain_eid: int = Field(sa_type=sa.BigInteger)
    address: str
    status: IssuerStatus = status_field(IssuerStatus, IssuerStatus.PENDING)
    tx_hash: str | None = None
