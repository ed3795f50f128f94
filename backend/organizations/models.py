"""The organizations table. `parent_id` is the only truth of the hierarchy; paths and depths are derived."""

from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY
from sqlmodel import Field

from backend.db import Row, json_field, status_field
from backend.fields import Network
from backend.organizations.schemas import OrganizationStatus


class OrganizationRow(Row, table=True):
    """An organization."""

    __tablename__ = "organizations"
    __table_args__ = (sa.Index("ix_organizations_children", "parent_id", sa.text("lower(name)"), "id"),)

    name: str
    status: OrganizationStatus = status_field(OrganizationStatus, OrganizationStatus.ACTIVE)
    parent_id: UUID | None = Field(default=None, foreign_key="organizations.id")
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
    """The actions that need a second person."""
    approver_wait_hours: int = 24
    """Hours for which a new role here, or above, does not let its person approve."""
    require_second_factor: bool = False
    """Whether its people, and those of the organizations below it, need a second factor."""
    allowed_ip_ranges: list[str] = Field(default_factory=list, sa_type=ARRAY(sa.Text))
    """The IP addresses and ranges it works from, as `backend.ip_ranges` writes them; empty means everywhere."""
