"""API keys; only their SHA-256 is stored."""

from datetime import datetime
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY
from sqlmodel import Field

from backend.core.columns import SecurityRow, organization_field, sort_indexes, time_field


class ApiKeyRow(SecurityRow, table=True):
    """A key of an organization. It ends with its maker: a key (`parent_id`) or an application's grant (`grant_id`);
    `signum_key_ended` says when."""

    __tablename__ = "api_keys"
    __table_args__ = sort_indexes("api_keys", "created_at", "updated_at")

    organization_id: UUID = organization_field()
    name: str
    scopes: list[str] = Field(sa_type=ARRAY(sa.Text))
    network: str | None = None
    key_hash: str = Field(unique=True)
    prefix: str
    last_four: str
    created_by: UUID | None = Field(default=None, foreign_key="users.id")
    parent_id: UUID | None = Field(default=None, foreign_key="api_keys.id", index=True)
    client_id: UUID | None = Field(default=None, foreign_key="oauth_clients.id", index=True)
    grant_id: UUID | None = Field(default=None, index=True)
    """The application's session. No foreign key, because sessions are deleted some time after they end."""
    allowed_ip_ranges: list[str] = Field(default_factory=list, sa_type=ARRAY(sa.Text))
    """The allowed IP addresses and ranges, as `backend.core.ip_ranges` formats them; empty allows every address."""
    last_used_at: datetime | None = time_field(nullable=True)
    expires_at: datetime | None = time_field(nullable=True)
    revoked_at: datetime | None = time_field(nullable=True)
    keeps_requests: bool = Field(default=False, sa_column_kwargs={"server_default": sa.false()})
    """Whether requests that the key made continue after its revocation."""
