"""Invitations."""

from datetime import datetime
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Field

from backend.core.columns import Row, organization_field, sort_indexes, status_field, time_field
from backend.invitations.schemas import InvitationStatus
from backend.users.schemas import Role


class InvitationRow(Row, table=True):
    """An invitation; at most one is pending per address and organization."""

    __tablename__ = "invitations"
    __table_args__ = (
        *sort_indexes("invitations", "created_at", "updated_at"),
        sa.Index(
            "uq_invitations_pending",
            "organization_id",
            "email",
            unique=True,
            postgresql_where=sa.text("status = 'pending'"),
        ),
    )

    organization_id: UUID = organization_field()
    email: str
    role: Role = status_field(Role, Role.CLIENT)
    status: InvitationStatus = status_field(InvitationStatus, InvitationStatus.PENDING)
    token_hash: str = Field(unique=True)
    expires_at: datetime = time_field()
    invited_by: UUID | None = Field(default=None, foreign_key="users.id")
    agreed_by: UUID | None = Field(default=None, foreign_key="users.id")
    """The second person who approved it; null if no approval was needed."""
    maker_key_id: UUID | None = Field(default=None, foreign_key="api_keys.id")
    maker_grant_id: UUID | None = None
    """The key or application's grant that made the invitation, and with which it ends. The grant has no foreign key,
    because sessions are deleted some time after they end."""
