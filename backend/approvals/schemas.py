"""Request and response bodies of approvals."""

from typing import Annotated, Any
from uuid import UUID

from pydantic import BaseModel, Field

from backend.core.fields import (
    KEPT,
    Acceptance,
    Body,
    Flag,
    Reason,
    Record,
    Timestamp,
    WaitHours,
    removed_by,
)
from backend.core.ip_ranges import IpRanges
from backend.lists.schemas import RecordPage
from backend.requests.schemas import Action, ApprovalStatus, Subject


class ApprovalDeny(Body):
    """The reason of a denial, shown to the requester."""

    reason: Reason


class PolicyChange(Body):
    """The actions that will need a second person, the hours for which a new approver waits, whether people need a
    second factor, and the allowed IP ranges.

    Each of the last three stays unchanged if it is omitted.
    """

    approvals: Annotated[list[Action], Field(max_length=len(Action))]
    approver_wait_hours: Annotated[WaitHours | None, KEPT, removed_by("0")] = None
    require_second_factor: Annotated[Flag | None, KEPT, removed_by("false")] = None
    allowed_ip_ranges: Annotated[IpRanges | None, KEPT, removed_by("an empty list")] = None


class Approval(Record):
    """The approval that a request waits for.

    `can_decide`: whether the caller may approve or deny it now. `asked_with` names the API key or application that made
    the request; the person who created the key, or connected the application, counts as the requester. When either
    ends, the request can no longer be approved. `cause` names the daily limit that the request exceeds, or the
    organization below whose policy it needs; null where the organization itself requires a second person for every such
    action.
    """

    id: UUID
    organization_id: UUID
    request_id: UUID
    action: str
    title: str
    subject: Subject
    scope: str
    status: ApprovalStatus
    asked_by: UUID | None
    asked_by_name: str | None = None
    asked_with: str | None = None
    cause: str | None = None
    expires_at: Timestamp
    decided_by: UUID | None
    decided_by_name: str | None = None
    decided_at: Timestamp | None
    reason: str | None
    can_decide: bool
    created_at: Timestamp
    updated_at: Timestamp


class ApprovalImpact(BaseModel):
    """The plan of the action's own dry run."""

    steps: list[Any]
    impact: dict[str, Any]


class Argument(BaseModel):
    """An argument of the requested call. `name` is its name in the operation's path or body, such as
    `compliance_rules.max_tokens_per_holder`, and `value` its value there. `label` and `text` say the same for people:
    amounts with their units, and the names of wallets, parties, members and chains.
    """

    name: str
    label: str
    value: Any
    text: str


class ApprovalDetail(Approval):
    """An approval.

    `arguments` is the whole call that was requested, with the defaults of omitted fields. `plan` is the current plan of
    the action, or the plan at its approval; `obstacle` is why it is not possible now. They are shown only to callers
    with the action's scope.
    """

    arguments: list[Argument] = []
    plan: ApprovalImpact | None = None
    obstacle: str | None = None


class ApprovalDecided(ApprovalDetail):
    """Response to a decision: the approval, and the ID of its request as in every acceptance."""

    requestId: UUID

    @classmethod
    def of(cls, approval: ApprovalDetail) -> "ApprovalDecided":
        """Return the response with a decided approval."""
        return cls.model_validate({**dict(approval), "requestId": approval.request_id})


class ApprovalList(RecordPage):
    """A page of approvals."""

    approvals: list[Approval]
    nextCursor: str | None


class PolicyAccepted(Acceptance):
    """Response to a requested change of the policy."""

    approvalId: UUID


class WaitChange(BaseModel):
    """Hours for which a new approver waits, before and after."""

    before: int
    after: int


class FactorChange(BaseModel):
    """Whether people need a second factor, before and after."""

    before: bool
    after: bool


class RangesChange(BaseModel):
    """Allowed IP ranges, before and after. An empty list allows every address."""

    before: list[str]
    after: list[str]


class PolicyImpact(BaseModel):
    """Effects of the change: the actions that would newly need a second person, those that would no longer, and other
    settings.
    """

    added: list[Action]
    removed: list[Action]
    approver_wait_hours: WaitChange | None = None
    require_second_factor: FactorChange | None = None
    allowed_ip_ranges: RangesChange | None = None


class PolicyPlan(BaseModel):
    """Response to `?dry_run=true`: nothing was done."""

    steps: list[str]
    impact: PolicyImpact
