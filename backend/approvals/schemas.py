"""Approvals as they cross the door."""

from typing import Annotated, Any
from uuid import UUID

from pydantic import BaseModel, Field

from backend.fields import Acceptance, Body, Reason, Record, Timestamp
from backend.requests.schemas import Action, ApprovalStatus, Subject


class ApprovalDeny(Body):
    """Why not; who asked reads it."""

    reason: Reason


class PolicyChange(Body):
    """The actions that shall need a second person from then on."""

    approvals: Annotated[list[Action], Field(max_length=len(Action))]


class Approval(Record):
    """What a request waits for. `can_decide`: whether the caller may approve or deny it now. `asked_with` is the name
    of the API key that asked; who made it counts as who asked."""

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


class PolicyImpact(BaseModel):
    """What would need a second person from then on, and what no more."""

    added: list[Action]
    removed: list[Action]


class PolicyPlan(BaseModel):
    """Answer of `?dry_run=true`: nothing was done."""

    steps: list[str]
    impact: PolicyImpact
