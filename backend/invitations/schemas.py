"""Invitations as they cross the door."""

from enum import StrEnum
from uuid import UUID

from pydantic import BaseModel, EmailStr

from backend.fields import Body, Record, Timestamp
from backend.members.schemas import Role


class InvitationStatus(StrEnum):
    """`pending` and three final states."""

    PENDING = "pending"
    ACCEPTED = "accepted"
    EXPIRED = "expired"
    REVOKED = "revoked"


class InvitationCreate(Body):
    """Whom to invite as what."""

    email: EmailStr
    role: Role = Role.CLIENT


class InvitationAccept(Body):
    """The token of the mail; name and password where the person has no account yet."""

    token: str
    display_name: str | None = None
    password: str | None = None


class Invitation(Record):
    """An invitation. The token is only in the mail."""

    id: UUID
    organization_id: UUID
    email: str
    role: Role
    status: InvitationStatus
    expires_at: Timestamp
    invited_by: UUID | None
    created_at: Timestamp
    updated_at: Timestamp


class InvitationList(BaseModel):
    """A page of invitations."""

    invitations: list[Invitation]
    nextCursor: str | None


class InvitationRevoked(BaseModel):
    """Answer of a revocation."""

    message: str
