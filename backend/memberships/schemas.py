"""Memberships as the person sees them who is asked."""

from uuid import UUID

from pydantic import BaseModel

from backend.fields import Record, Timestamp
from backend.members.schemas import MemberStatus, Role


class PendingMembership(Record):
    """An organization that has added the person and waits for them to agree."""

    id: UUID
    organization_id: UUID
    organization_name: str
    role: Role
    created_at: Timestamp


class PendingMembershipList(BaseModel):
    """A page of them."""

    memberships: list[PendingMembership]
    nextCursor: str | None


class Membership(Record):
    """A membership that the person has agreed to."""

    id: UUID
    organization_id: UUID
    organization_name: str
    user_id: UUID
    role: Role
    status: MemberStatus
