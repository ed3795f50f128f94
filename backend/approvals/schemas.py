"""Approvals as they cross the door."""

from typing import Annotated, Any
from uuid import UUID

from pydantic import BaseModel, Field, field_validator

from backend.fields import Acceptance, Body, Flag, Reason, Record, Timestamp, WaitHours, never_null
from backend.ip_ranges import IpRanges
from backend.requests.schemas import Action, ApprovalStatus, Subject


class ApprovalDeny(Body):
    """Why not; who asked reads it."""

    reason: Reason


class PolicyChange(Body):
    """The actions that will need a second person, the hours for which a new approver waits, whether people need a
    second factor, and the allowed IP ranges. What is left out of the last three stays as it is."""

    approvals: Annotated[list[Action], Field(max_length=len(Action))]
    approver_wait_hours: Annotated[WaitHours | None, Field(json_schema_extra=never_null)] = None

    require_second_factor: Annotated[Flag | None, Field(json_schema_extra=never_null)] = None

    allowed_ip_ranges: Annotated[IpRanges | None, Field(json_schema_extra=never_null)] = None

    @field_validator("approver_wait_hours", "require_second_factor", "allowed_ip_ranges")
    @classmethod
    def _is_given(cls, value: object) -> object:
        if value is None:
            raise ValueError(
                "has no value. Leave the field out to keep it, or send 0, false or an empty list to lift it"
            )
        return value


class Approval(Record):
    """What a request waits for. `can_decide`: whether the caller may approve or deny it now. `asked_with` is the name
    of the API key or application that asked; who made the key, or connected the application, counts as who asked. With
    the end of either, the request can no longer be approved. `cause` names the daily limit that the request exceeds;
    null where the organization requires a second person for every such action."""

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


class ApprovalDetail(Approval):
    """One approval. `plan` is what the action would do now, or what it was going to do when it was approved; `obstacle`
    is why it cannot be done now. Both are shown to who holds the action's scope."""

    plan: ApprovalImpact | None = None
    obstacle: str | None = None


class ApprovalList(BaseModel):
    """A page of approvals."""

    approvals: list[Approval]
    nextCursor: str | None


class PolicyAccepted(Acceptance):
    """Answer to a change of the policy that was asked for."""

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
    """The actions that would need a second person from then on, those that would not any more, and what else would
    change."""

    added: list[Action]
    removed: list[Action]
    approver_wait_hours: WaitChange | None = None
    require_second_factor: FactorChange | None = None
    allowed_ip_ranges: RangesChange | None = None


class PolicyPlan(BaseModel):
    """Answer of `?dry_run=true`: nothing was done."""

    steps: list[str]
    impact: PolicyImpact
