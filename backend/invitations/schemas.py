"""API schemas of invitations."""

from enum import StrEnum
from typing import Annotated, Literal
from uuid import UUID

from pydantic import BaseModel, Field, StringConstraints

from backend.core.fields import Body, Email, Name, NullIs, Record, Timestamp
from backend.lists.schemas import RecordPage
from backend.mail.schemas import MailStatus
from backend.members.schemas import MemberImpact
from backend.users.schemas import Role


class InvitationStatus(StrEnum):
    """`pending` and three final states."""

    PENDING = "pending"
    ACCEPTED = "accepted"
    EXPIRED = "expired"
    REVOKED = "revoked"


class InvitationCreate(Body):
    """Whom to invite, and with which role."""

    email: Email
    role: Annotated[Role, NullIs(Role.CLIENT)] = Role.CLIENT


Token = Annotated[str, StringConstraints(min_length=1, max_length=256)]


class InvitationToken(Body):
    """The token of the email."""

    token: Token


class InvitationAccept(Body):
    """The token of the email; name and password if the person has no account yet."""

    token: Token
    display_name: Name | None = None
    password: Annotated[str, StringConstraints(min_length=1, max_length=256)] | None = None


class Invitation(Record):
    """An invitation. The token is only in the email."""

    id: UUID
    organization_id: UUID
    email: str
    role: Role
    status: InvitationStatus
    expires_at: Timestamp
    invited_by: UUID | None
    created_at: Timestamp
    updated_at: Timestamp


class SentInvitation(Invitation):
    """An invitation with the state of its email; null once the email is no longer stored."""

    delivery: MailStatus | None


class InvitationCreated(Invitation):
    """Response to a new invitation."""

    delivery: Literal[MailStatus.QUEUED, MailStatus.KEPT] = Field(
        description="`kept` where no mail server is set: the operator prints the link with `signum outbox`."
    )


class InvitationPlan(BaseModel):
    """Response to `?dry_run=true`: nothing was changed."""

    steps: list[str]
    impact: MemberImpact


class InvitationPreview(BaseModel):
    """What the holder of an email's token may see before accepting. With `has_account`, the person signs in first."""

    organization_id: UUID
    organization_name: str
    email: str
    role: Role
    status: InvitationStatus
    has_account: bool
    expires_at: Timestamp


class InvitationList(RecordPage):
    """A page of invitations."""

    invitations: list[SentInvitation]
    nextCursor: str | None


class InvitationAccepted(Record):
    """The membership that an invitation became."""

    member_id: UUID
    organization_id: UUID
    organization_name: str
    user_id: UUID
    email: str
    role: Role


class InvitationRevoked(BaseModel):
    """Response to a revocation."""

    message: str
