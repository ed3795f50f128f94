"""API schemas of members (specification 2.3, 4.7, 4.9)."""

from enum import StrEnum
from typing import Annotated
from uuid import UUID

from pydantic import BaseModel, Field, StringConstraints

from backend.compliance.schemas import Resolution
from backend.core.fields import Acceptance, Address, Body, Eid, Email, Id, KycLevel, Name, NullIs, Record, Timestamp
from backend.lists.schemas import RecordPage
from backend.users.schemas import MemberStatus, Role

STAFF = (Role.ADMIN, Role.COMPLIANCE_OFFICER, Role.MEMBER, Role.VIEWER)


class MemberCreate(Body):
    """Either `user_id` (an existing user) or `wallet_address` (the owner of that wallet). `email` and `display_name`
    say who is meant until the person agrees."""

    user_id: Id | None = None
    wallet_address: Address | None = None
    chain_eid: Eid | None = None
    email: Email | None = None
    display_name: Name | None = None
    role: Annotated[Role, NullIs(Role.CLIENT)] = Role.CLIENT


class MemberUpdate(Body):
    """A change of role."""

    role: Role


class MemberUser(Record):
    """The person of a membership; for a pending one, only what the organization entered."""

    id: UUID
    email: str | None
    display_name: str | None
    wallet_addresses: list[str]


class Appointment(BaseModel):
    """Who assigned a member's role, by name: null for a founder, and if the organization does not know the name."""

    by: str | None
    agreed_by: str | None
    """The second person who approved; null if no approval was needed."""
    at: Timestamp


class Member(Record):
    """A member record."""

    id: UUID
    organization_id: UUID
    user_id: UUID
    role: Role
    status: MemberStatus
    created_at: Timestamp
    updated_at: Timestamp
    user: MemberUser
    appointment: Appointment


class MemberAdded(Member):
    """Response to an addition. `acceptance` is the call by which the person accepts a pending membership, signed in as
    themselves; null for an active one."""

    acceptance: Resolution | None


class MemberList(RecordPage):
    """A page of members."""

    members: list[Member]
    nextCursor: str | None


class MemberAccepted(Acceptance):
    """Response to a change of a member that waits for a second person."""

    memberId: UUID


class MemberFieldChange(BaseModel):
    """The new value of a field; null if the membership ends."""

    field: str
    before: Role | None
    after: Role | None


class MemberImpact(BaseModel):
    """What a change of a member would do. Of an added or invited person: the user ID, wallet or email by which they are
    found."""

    changes: list[MemberFieldChange]
    user_id: UUID | None = None
    wallet_address: str | None = None
    email: str | None = None


class MemberPlan(BaseModel):
    """Response to `?dry_run=true`: nothing was changed."""

    steps: list[str]
    impact: MemberImpact


class EligibilityCheck(Body):
    """Up to 50 addresses. Any text is accepted: an invalid address returns a warning."""

    emails: list[Annotated[str, StringConstraints(max_length=2_000)]] = Field(max_length=50)


class WarningCode(StrEnum):
    """Kinds of warnings about an invitation."""

    INVALID_EMAIL = "invalid_email"
    DUPLICATE_IN_REQUEST = "duplicate_in_request"
    ALREADY_MEMBER = "already_member"
    PENDING_INVITATION = "pending_invitation"
    DOMAIN_NOT_ALLOWED = "domain_not_allowed"
    NO_ACCOUNT = "no_account"
    KYC_MISSING = "kyc_missing"
    KYC_LEVEL_INSUFFICIENT = "kyc_level_insufficient"
    JURISDICTION_BLOCKED = "jurisdiction_blocked"
    ACCREDITATION_MISSING = "accreditation_missing"


class Severity(StrEnum):
    """Orders the warnings; none of them blocks."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class EligibilityWarning(BaseModel):
    """One finding about one address."""

    email: str
    code: WarningCode
    severity: Severity
    message: str


class OrgRequirements(BaseModel):
    """What the organization requires of its members."""

    kycRequired: bool
    minKycLevel: KycLevel
    accreditationRequired: bool
    blockedCountries: list[str]
    allowedEmailDomains: list[str]
    seatsRemaining: int | None


class Eligibility(BaseModel):
    """Findings per address, and what the organization requires."""

    warnings: list[EligibilityWarning]
    orgRequirements: OrgRequirements
