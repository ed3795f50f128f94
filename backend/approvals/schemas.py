"""Request and response bodies of approvals."""

from typing import Annotated, Any
from uuid import UUID

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, StringConstraints

from backend.core.content_rules import PLAIN, at_most, plain_text, visible
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

Comment = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=1_000),
    AfterValidator(plain_text),
    AfterValidator(visible),
    Field(json_schema_extra={"pattern": PLAIN["reason"]}),
    BeforeValidator(at_most(1_000)),
]
"""Text of a comment."""


class ApprovalDeny(Body):
    """The reason of a denial, shown to the requester."""

    reason: Reason


class ApprovalWithdraw(Body):
    """The reason of a withdrawal, shown to the people who could decide; it can be omitted."""

    reason: Reason | None = None


class ApprovalCommentCreate(Body):
    """A comment on a pending approval, for the requester and for people who can decide."""

    text: Comment


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

    `can_decide`: whether the caller may approve or deny it now. `asked_with` names the API key or application that
    made the request; the person who created the key, or connected the application, counts as the requester. When
    either ends, the request can no longer be approved. `cause` names the daily limit that the request exceeds, or the
    organization below whose policy it needs; null where the organization itself requires a second person for every
    such action. `is_withdrawn`: the requester ended it, so it is `denied` and they are its decider. `rule_lifted`: the
    organization has stopped requiring one since; this request still needs its approval.
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
    is_withdrawn: bool = False
    rule_lifted: bool = False
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


class ArgumentAccount(BaseModel):
    """The account that an argument names. `name` is what it is to the organization: `own wallet "Custody", party
    Kestrel`, or an unknown wallet; `party_name` and `wallet_label` are the names of its party and of its wallet.
    """

    address: str
    name: str
    party_name: str | None
    wallet_label: str | None


class Argument(BaseModel):
    """An argument of the requested call. `name` is its name in the operation's path or body, such as
    `compliance_rules.max_tokens_per_holder`, and `value` its value there. `label` and `text` say the same for people:
    amounts with their units, and the names of wallets, parties, members and chains. `account` is set where the value is
    the address of a holder.
    """

    name: str
    label: str
    value: Any
    text: str
    account: ArgumentAccount | None = None


class PlanChange(BaseModel):
    """A fact in the plan that has changed since the request. `name` is the path of the field in the plan, such as
    `impact.changes.before`; `label`, `at_request` and `now` are text for people.
    """

    name: str
    label: str
    at_request: str
    now: str


class ApprovalComment(BaseModel):
    """A comment on an approval."""

    id: UUID
    user_id: UUID
    user_name: str | None
    text: str
    created_at: Timestamp


class ApprovalDocument(BaseModel):
    """A document of a party that the action concerns. Its content is at
    `/v1/identity/parties/{party_id}/documents/{id}`.
    """

    id: UUID
    party_id: UUID
    party_name: str
    kind: str
    name: str
    created_at: Timestamp


class ApprovalDetail(Approval):
    """An approval.

    `arguments` is the whole call that was requested, with the defaults of omitted fields. `plan` is the current plan of
    the action, or the plan at its approval; `obstacle` is why it is not possible now. `changed_since` compares the plan
    with the one at `planned_at`, shortly after the request; `planned_at` is null where there was none, and then nothing
    is compared. `comments` are oldest first. `documents` are those of the parties that the action concerns, for callers
    with `attestations:read`. All of these are shown only to callers with the action's scope.
    """

    arguments: list[Argument] = []
    plan: ApprovalImpact | None = None
    obstacle: str | None = None
    planned_at: Timestamp | None = None
    changed_since: list[PlanChange] = []
    comments: list[ApprovalComment] = []
    documents: list[ApprovalDocument] = []


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
