"""The chain list, the contracts deployed on each chain, and the chains an organization enabled."""

from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Field

from backend.core.columns import Row, organization_field


class OrganizationChainRow(Row, table=True):
    """A chain that an organization has enabled."""

    __tablename__ = "organization_chains"
    __table_args__ = (sa.UniqueConstraint("organization_id", "chain_id"),)

    organization_id: UUID = organization_field()
    chain_id: UUID = Field(foreign_key="chains.id", index=True)
