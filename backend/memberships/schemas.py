"""API schemas of memberships, as the person who is asked sees them."""

from uuid import UUID

from backend.core.fields import Record, Timestamp
from backend.lists.schemas import RecordPage
from backend.users.schemas import MemberStatus, Role


class PendingMembership(Record):
    """An organization that has added the person and waits for them to agree."""

    id: UUID
    organization_id: UUID
    organization_name: str
    role: Role
    created_at: Timestamp


class PendingMembershipList(RecordPage):
    """A page of pending memberships."""

    memberships: list[PendingMembership]
    nextCursor: str | None


class Membership(Record):
    """A membership that the person accepted."""

    id: UUID
    organization_id: UUID
    organization_name: str
    user_id: UUID
    role: Role
    status: MemberStatus
