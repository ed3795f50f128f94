"""The organizations table. `parent_id` alone defines the hierarchy; paths and depths are derived."""

from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY
from sqlmodel import Field

from backend.core.columns import Row, json_field, status_field
from backend.core.fields import Network
from backend.organizations.schemas import OrganizationStatus


class OrganizationRow(Row, table=True):
    """An organization."""

    __tablename__ = "organizations"
    __table_args__ = (
        sa.Index("ix_organizations_children", "parent_id", sa.text("lower(name)"), "id"),
        sa.Index("ix_organizations_newest", "created_at", "id"),
        sa.Index("ix_organizations_approvals", "id", postgresql_where=sa.text("approvals <> '{}'")),
    )

    name: str
    status: OrganizationStatus = status_field(OrganizationStatus, OrganizationStatus.ACTIVE)
    parent_id: UUID | None = Field(default=None, foreign_key="organizations.id")
    origin_id: UUID | None = None
    """Of a root: the root or the person that daily limits count it for while it is new, beside itself. Null if an admin
    of the operator's organization founded it. Set at creation only."""
    email: str | None = None
    org_type: str | None = None
    description: str | None = None
    website: str | None = None
    jurisdiction: str | None = None
    logo_url: str | None = None
    banner_url: str | None = None
    network: Network = status_field(Network, Network.TESTNET)
    member_requirements: dict[str, Any] = json_field(dict)
    approvals: list[str] = Field(default_factory=list, sa_type=ARRAY(sa.Text))
    """The actions that require a second person."""
    approver_wait_hours: int = 24
    """Hours during which a new role here or above does not allow approvals."""
    require_second_factor: bool = False
    require_if_match: bool = False
    """Whether a change of an asset's rules must name the version it was made for."""
    """Whether people of this organization and of those below it need a second factor."""
    allowed_ip_ranges: list[str] = Field(default_factory=list, sa_type=ARRAY(sa.Text))
    """The allowed IP addresses and ranges, as `backend.core.ip_ranges` formats them; empty allows every address."""
    child_count: int = Field(default=0, sa_column_kwargs={"server_default": "0"})
    """The number of organizations directly below. A trigger keeps it."""
