"""API schemas of organizations (specification 2.1)."""

from enum import StrEnum
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, BeforeValidator, Field, field_validator

from backend.core.fields import (
    KEPT,
    Body,
    Country,
    Email,
    Flag,
    Id,
    KycLevel,
    Name,
    Network,
    Record,
    Text,
    Timestamp,
    WaitHours,
    Whole,
    removed_by,
)
from backend.core.ip_ranges import IpRanges
from backend.lists.schemas import RecordPage
from backend.organizations.fields import Domain, Jurisdiction, Kind, Url
from backend.requests.schemas import Action, ApproverObstacle
from backend.users.schemas import Role


class OrganizationStatus(StrEnum):
    """Status of an organization."""

    ACTIVE = "active"
    SUSPENDED = "suspended"
    ARCHIVED = "archived"


_Blocked = Annotated[list[Country], Field(max_length=250)]
_Domains = Annotated[list[Domain], Field(max_length=100)]
_Seats = Annotated[Whole, Field(ge=0, le=1_000_000)]


class MemberRequirements(Body):
    """What an organization requires of the people it invites. 0 seats means no limit."""

    kyc_required: Flag = False
    min_kyc_level: KycLevel = 0
    accreditation_required: Flag = False
    blocked_countries: _Blocked = []
    allowed_email_domains: _Domains = []
    seats: Annotated[_Seats, BeforeValidator(lambda stored: stored or 0)] = 0
    """Versions before 0.1.0 stored null for no limit."""


class RequirementsPatch(Body):
    """JSON merge patch of the requirements: omitted ones stay unchanged. 0, false or an empty list removes one; null is
    refused."""

    kyc_required: Annotated[Flag | None, KEPT, removed_by("false")] = None
    min_kyc_level: Annotated[KycLevel | None, KEPT, removed_by("0")] = None
    accreditation_required: Annotated[Flag | None, KEPT, removed_by("false")] = None
    blocked_countries: Annotated[_Blocked | None, KEPT, removed_by("an empty list")] = None
    allowed_email_domains: Annotated[_Domains | None, KEPT, removed_by("an empty list")] = None
    seats: Annotated[_Seats | None, KEPT, removed_by("0")] = None


class OrganizationCreate(Body):
    """A new organization. Below `sub-orgs`, the parent comes from the path, and the network defaults to the parent's. A
    root's network defaults to testnet."""

    name: Name
    email: Email | None = None
    org_type: Kind | None = None
    description: Text | None = None
    website: Url | None = None
    jurisdiction: Jurisdiction | None = None
    logo_url: Url | None = None
    banner_url: Url | None = None
    network: Network | None = None


Actions = Annotated[list[Action], Field(max_length=len(Action))]
_EACH = "each requirement as 0, false or an empty list"


class OrganizationUpdate(Body):
    """JSON merge patch of an organization. Null is refused for a protection: 0, false or an empty list removes one."""

    name: Annotated[Name | None, KEPT] = None
    email: Email | None = None
    org_type: Kind | None = None
    description: Text | None = None
    website: Url | None = None
    jurisdiction: Jurisdiction | None = None
    logo_url: Url | None = None
    banner_url: Url | None = None
    network: Annotated[Network | None, KEPT] = None
    member_requirements: Annotated[RequirementsPatch | None, KEPT, removed_by(_EACH)] = None
    approvals: Annotated[Actions | None, KEPT, removed_by("an empty list")] = None
    approver_wait_hours: Annotated[WaitHours | None, KEPT, removed_by("0")] = None
    require_second_factor: Annotated[Flag | None, KEPT, removed_by("false")] = None
    require_if_match: Annotated[Flag | None, KEPT, removed_by("false")] = None
    allowed_ip_ranges: Annotated[IpRanges | None, KEPT, removed_by("an empty list")] = None

    @field_validator("name", "network")
    @classmethod
    def _stays(cls, value: object) -> object:
        if value is None:
            raise ValueError("cannot be null")
        return value


class FieldChange(BaseModel):
    """A field of the record, before and after."""

    field: str
    before: Any
    after: Any


class OrganizationImpact(BaseModel):
    """Where the organization is (names from the root), which fields of its record change, and how many API keys follow
    a change of its network."""

    path: str
    changes: list[FieldChange]
    keys_following: int = 0


class OrganizationPlan(BaseModel):
    """Response to `?dry_run=true`: all checks ran, nothing was changed."""

    steps: list[str]
    impact: OrganizationImpact


class OrganizationMove(Body):
    """The new parent of a sub-organization."""

    newParentId: Id


class Organization(Record):
    """The organization record. `hierarchy_path` is `/{id}/…/{id}`; a root has depth 0."""

    id: UUID
    name: str
    status: OrganizationStatus
    created_at: Timestamp
    updated_at: Timestamp
    email: str | None = None
    org_type: str | None = None
    description: str | None = None
    website: str | None = None
    jurisdiction: str | None = None
    logo_url: str | None = None
    banner_url: str | None = None
    parent_id: UUID | None = None
    hierarchy_path: str | None = None
    depth: int | None = None
    network: Network = Network.TESTNET
    member_requirements: MemberRequirements = Field(default_factory=MemberRequirements)
    approvals: list[Action] = Field(default_factory=list, description="The actions that require a second person.")
    approver_wait_hours: int = Field(
        default=24,
        description="Hours during which a new role does not allow approvals. Roles assigned within 24 hours of the "
        "organization's creation can approve immediately.",
    )
    require_second_factor: bool = Field(
        default=False, description="Whether people need a second factor here and in the organizations below."
    )
    require_if_match: bool = Field(
        default=False, description="Whether changing an asset's compliance rules needs `If-Match` (428 without it)."
    )
    allowed_ip_ranges: list[str] = Field(
        default_factory=list,
        description="The IP addresses and CIDR ranges that may call, here and in the organizations below. Empty allows "
        "every address.",
    )


class OrganizationListed(Record):
    """An organization in a list or as a search result, with the names of its ancestors from the root down."""

    id: UUID
    name: str
    status: OrganizationStatus
    parent_id: UUID | None
    hierarchy_path: str
    depth: int
    ancestors: list[str]
    child_count: int
    created_at: Timestamp
    updated_at: Timestamp


class OrganizationList(RecordPage):
    """A page of organizations."""

    organizations: list[OrganizationListed]
    nextCursor: str | None


class TreeNode(Record):
    """One node of the tree. Request its children separately."""

    id: UUID
    name: str
    status: OrganizationStatus
    parent_id: UUID | None
    depth: int
    has_children: bool
    child_count: int


class Tree(RecordPage):
    """A page of the children of one node (`parent`); the first page starts with the node itself."""

    nodes: list[TreeNode]
    nextCursor: str | None


class MovedNode(BaseModel):
    """What a move changes for one organization. Paths consist of names, for display; IDs do not change."""

    id: UUID
    name: str
    path_before: str
    path_after: str
    depth_before: int
    depth_after: int


class AccessChange(BaseModel):
    """A person who gains or loses an inherited role through a move."""

    user_id: UUID
    display_name: str
    role: Role
    change: Literal["gained", "lost"]


class MoveImpact(BaseModel):
    """The result of a move's dry run; `nodes` are the first 100, nearest first."""

    descendants: int
    nodes: list[MovedNode]
    access: list[AccessChange]


class MovePlan(BaseModel):
    """Response to `?dry_run=true`: nothing was changed."""

    steps: list[str]
    impact: MoveImpact


class Access(Record):
    """A person whose role reaches an organization, and the organization that assigned it. `cannot_approve` is why this
    role does not let them approve a request: that of `approvalId`, or without it one that the caller would make now for
    an action of the role. Null if they could approve it."""

    user_id: UUID
    display_name: str | None
    email: str | None
    role: Role
    organization_id: UUID
    organization_name: str
    inherited: bool
    cannot_approve: ApproverObstacle | None = None


class AccessList(RecordPage):
    """A page of the people who have access: own members first, then by distance of the organization that assigned the
    role."""

    access: list[Access]
    nextCursor: str | None


class SummaryMembers(BaseModel):
    """Active members, by how they get access."""

    staff: int
    clients: int
    total: int


class SummaryAssets(BaseModel):
    """Assets by status."""

    total: int
    by_status: dict[str, int]


class SummaryKeys(BaseModel):
    """API keys."""

    active: int
    revoked: int


class SummaryTransactions(BaseModel):
    """Transactions of the organization on all chains, by status."""

    pending: int
    submitting: int
    confirmed: int
    failed: int


class Attention(BaseModel):
    """Items that wait for a person."""

    failed_requests: int
    parties_waiting: int
    attestations_expiring: int
    pending_invitations: int
    approvals_waiting: int


class Summary(BaseModel):
    """Aggregated counts, computed in one database round trip. `sub_organizations` are those directly below,
    `sub_organizations_all` those on every level, counted up to 10,000."""

    members: SummaryMembers
    wallets: int
    assets: SummaryAssets
    enabled_chains: int
    api_keys: SummaryKeys
    transactions: SummaryTransactions
    sub_organizations: int
    sub_organizations_all: int
    attention: Attention
