"""Organizations as they cross the door (specification 2.1)."""

from enum import StrEnum
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, Field, field_validator

from backend.fields import (
    Body,
    Country,
    Email,
    Flag,
    KycLevel,
    Name,
    Network,
    Record,
    Text,
    Timestamp,
    WaitHours,
    Whole,
    never_null,
)
from backend.ip_ranges import IpRanges
from backend.members.schemas import Role
from backend.organizations.fields import Domain, Jurisdiction, Kind, Url
from backend.requests.schemas import Action


class OrganizationStatus(StrEnum):
    """States of an organization."""

    ACTIVE = "active"
    SUSPENDED = "suspended"
    ARCHIVED = "archived"


class MemberRequirements(Body):
    """What an organization asks of the people it invites."""

    kyc_required: Flag = False
    min_kyc_level: KycLevel = 0
    accreditation_required: Flag = False
    blocked_countries: list[Country] = Field(default_factory=list, max_length=250)
    allowed_email_domains: list[Domain] = Field(default_factory=list, max_length=100)
    seats: Annotated[Whole, Field(ge=1, le=1_000_000)] | None = None


class OrganizationCreate(Body):
    """A new organization; below `sub-orgs` its parent is the path's, and so is its network unless one is named. A
    root's is the testnets unless it is."""

    name: Name
    email: Email | None = None
    org_type: Kind | None = None
    description: Text | None = None
    website: Url | None = None
    jurisdiction: Jurisdiction | None = None
    logo_url: Url | None = None
    banner_url: Url | None = None
    network: Network | None = None


class OrganizationUpdate(Body):
    """JSON merge patch of an organization."""

    name: Annotated[Name | None, Field(json_schema_extra=never_null)] = None
    email: Email | None = None
    org_type: Kind | None = None
    description: Text | None = None
    website: Url | None = None
    jurisdiction: Jurisdiction | None = None
    logo_url: Url | None = None
    banner_url: Url | None = None
    network: Annotated[Network | None, Field(json_schema_extra=never_null)] = None
    member_requirements: MemberRequirements | None = None
    approvals: Annotated[list[Action], Field(max_length=len(Action))] | None = None
    approver_wait_hours: Annotated[WaitHours | None, Field(json_schema_extra=never_null)] = None
    require_second_factor: Annotated[Flag | None, Field(json_schema_extra=never_null)] = None
    allowed_ip_ranges: IpRanges | None = None

    @field_validator("name", "network", "approver_wait_hours", "require_second_factor")
    @classmethod
    def _stays(cls, value: object) -> object:
        if value is None:
            raise ValueError("cannot be taken away")
        return value


class FieldChange(BaseModel):
    """One field of the record, before and after."""

    field: str
    before: Any
    after: Any


class OrganizationImpact(BaseModel):
    """Where the organization is (names from the root down), what changes of its record, and how many API keys follow a
    change of its network."""

    path: str
    changes: list[FieldChange]
    keys_following: int = 0


class OrganizationPlan(BaseModel):
    """Answer of `?dry_run=true`: every check was made, nothing was done."""

    steps: list[str]
    impact: OrganizationImpact


class OrganizationMove(Body):
    """Where a sub-organization goes."""

    newParentId: UUID


class Organization(Record):
    """The organization record. `hierarchy_path` is `/{id}/…/{id}`; a root's depth is 0."""

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
    approvals: list[Action] = Field(default_factory=list, description="The actions that need a second person.")
    approver_wait_hours: int = Field(
        default=24,
        description="Hours for which a new role does not let its person approve. Roles that are given within as many "
        "hours of the organization's creation approve at once.",
    )
    require_second_factor: bool = Field(
        default=False, description="Whether people need a second factor here and in the organizations below."
    )
    allowed_ip_ranges: list[str] = Field(
        default_factory=list,
        description="The IP addresses and CIDR ranges that may call, here and in the organizations below. Empty: every "
        "address.",
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


class OrganizationList(BaseModel):
    """A page of organizations."""

    organizations: list[OrganizationListed]
    nextCursor: str | None


class TreeNode(Record):
    """One node of the tree; its children are asked for when it is opened."""

    id: UUID
    name: str
    status: OrganizationStatus
    parent_id: UUID | None
    depth: int
    has_children: bool
    child_count: int


class Tree(BaseModel):
    """A page of the children of one node (`parent`), after the node itself when it is the first page."""

    nodes: list[TreeNode]
    nextCursor: str | None


class MovedNode(BaseModel):
    """What a move changes for one organization. Paths are of names, for people; ids stay as they are."""

    id: UUID
    name: str
    path_before: str
    path_after: str
    depth_before: int
    depth_after: int


class AccessChange(BaseModel):
    """A person whose role by inheritance a move gives or takes."""

    user_id: UUID
    display_name: str
    role: Role
    change: Literal["gained", "lost"]


class MoveImpact(BaseModel):
    """What a dry run of a move says; `nodes` are the first 100, nearest first."""

    descendants: int
    nodes: list[MovedNode]
    access: list[AccessChange]


class MovePlan(BaseModel):
    """Answer of `?dry_run=true`: nothing was done."""

    steps: list[str]
    impact: MoveImpact


class Access(Record):
    """A person whose role reaches an organization, and the organization it comes from."""

    user_id: UUID
    display_name: str | None
    email: str | None
    role: Role
    organization_id: UUID
    organization_name: str
    inherited: bool


class AccessList(BaseModel):
    """A page of the people who have access, own members first, then by how far above their role is given."""

    access: list[Access]
    nextCursor: str | None


class SummaryMembers(BaseModel):
    """Active members, by who has access."""

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
    """Transactions of the organization on every chain, by status."""

    pending: int
    submitting: int
    confirmed: int
    failed: int


class Attention(BaseModel):
    """What waits for a person."""

    failed_requests: int
    parties_waiting: int
    attestations_expiring: int
    pending_invitations: int
    approvals_waiting: int


class Summary(BaseModel):
    """Aggregated counts, by one round trip to the database."""

    members: SummaryMembers
    wallets: int
    assets: SummaryAssets
    enabled_chains: int
    api_keys: SummaryKeys
    transactions: SummaryTransactions
    sub_organizations: int
    attention: Attention
