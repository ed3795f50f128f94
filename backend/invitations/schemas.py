"""Invitations as they cross the door."""

from enum import StrEnum
from typing import Annotated
from uuid import UUID

from pydantic import BaseModel, StringConstraints

from backend.fields import Acceptance, Body, Email, Name, NullIs, Record, Timestamp
from backend.members.schemas import MemberImpact, Role


class InvitationStatus(StrEnum):
    """`pending` and three final states."""

    PENDING = "pending"
    ACCEPTED = "accepted"
    EXPIRED = "expired"
    REVOKED = "revoked"


class InvitationCreate(Body):
    """Whom to invite as what."""

    email: Email
    role: Annotated[Role, NullIs(Role.CLIENT)] = Role.CLIENT


Token = Annotated[str, StringConstraints(min_length=1, max_length=256)]


class InvitationToken(Body):
    """The token of the mail."""

    token: Token


class InvitationAccept(Body):
    """The token of the mail; name and password where the person has no account yet."""

    token: Token
    display_name: Name | None = None
    password: Annotated[str, StringConstraints(min_length=1, max_length=256)] | None = None


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


class InvitationWaiting(Acceptance):
    """Answer to an invitation that waits for a second person; no mail is sent before they agree."""

    invitationId: UUID


class InvitationPlan(BaseModel):
    """Answer of `?dry_run=true`: nothing was done."""

    steps: list[str]
    impact: MemberImpact


class InvitationPreview(BaseModel):
    """What the holder of a mail's token may know before accepting. `has_account`: signing in comes first."""

    organization_id: UUID
    organization_name: str
    email: str
    role: Role
    status: InvitationStatus
    has_account: bool
    expires_at: Timestamp


class InvitationList(BaseModel):
    """A page of invitations."""

    invitations: list[Invitation]
    nextCursor: str | None


class InvitationAccepted(Record):
    """The membership an invitation became."""

    member_id: UUID
    organization_id: UUID
    organization_name: str
    user_id: UUID
    email: str
    role: Role


class InvitationRevoked(BaseModel):
    """Answer of a revocation."""

    message: str
