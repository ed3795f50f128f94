"""Tables of requests, their steps and approvals."""

from datetime import datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Field

from backend.core.columns import (
    Row,
    filter_indexes,
    json_field,
    organization_field,
    sort_indexes,
    status_field,
    time_field,
)
from backend.requests.schemas import ApprovalStatus, RequestStatus, StepStatus


class RequestRow(Row, table=True):
    """An accepted operation. Its id is its workflow's first id."""

    __tablename__ = "requests"
    __table_args__ = (
        *sort_indexes("requests", "created_at", "updated_at"),
        *filter_indexes("requests", "status"),
        sa.Index("ix_requests_awaiting", "id", postgresql_where=sa.text("awaits_finality")),
    )

    organization_id: UUID = organization_field()
    kind: str
    title: str
    status: RequestStatus = status_field(RequestStatus, RequestStatus.ACCEPTED, index=True)
    subject_type: str
    subject_id: UUID = Field(index=True)
    scope: str
    """Scope of the action, also required to retry it."""
    arguments: dict[str, Any] = json_field(dict)
    problem: dict[str, Any] | None = json_field(None, nullable=True)
    can_retry: bool = False
    attempt: int = 1
    created_by: UUID | None = Field(default=None, foreign_key="users.id")
    awaits_finality: bool = False
    """Whether all work is done, and the request succeeds once its transactions reach the finality that the chains'
    terms require.
    """
    origin: dict[str, Any] = json_field(dict)
    """Actor of the latest run, as `backend.core.changes.Who.noted`."""


class RequestStepRow(Row, table=True):
    """A step of a request, in the order of `position`."""

    __tablename__ = "request_steps"
    __table_args__ = (sa.UniqueConstraint("request_id", "name"),)

    organization_id: UUID = organization_field()
    request_id: UUID = Field(foreign_key="requests.id", index=True)
    position: int
    name: str
    title: str
    status: StepStatus = status_field(StepStatus, StepStatus.WAITING)
    started_at: datetime | None = time_field(nullable=True)
    finished_at: datetime | None = time_field(nullable=True)
    chain_eid: int | None = Field(default=None, sa_type=sa.BigInteger)
    tx_hash: str | None = None
    detail: str | None = None


class ApprovalRow(Row, table=True):
    """The approval that a request waits for, from another person than the requester.

    `call` is the requested operation, so that it can be checked again; `plan` is the plan shown to the approver;
    `executes` is what the request executes, as approved (`backend.requests.resolved_values`).
    """

    __tablename__ = "approvals"
    __table_args__ = sort_indexes("approvals", "created_at", "updated_at")

    organization_id: UUID = organization_field()
    request_id: UUID = Field(foreign_key="requests.id", unique=True)
    status: ApprovalStatus = status_field(ApprovalStatus, ApprovalStatus.PENDING, index=True)
    call: dict[str, Any] = json_field(dict)
    asked_by: UUID | None = Field(default=None, foreign_key="users.id")
    asked_with: UUID | None = Field(default=None, foreign_key="api_keys.id")
    asked_grant: UUID | None = None
    """The session of the requesting application. Not a foreign key: sessions are deleted some time after their end."""
    asked_application: str | None = None
    """The application's name at the time: the decider may have no access to the application's organization."""
    expires_at: datetime = time_field()
    decided_by: UUID | None = Field(default=None, foreign_key="users.id")
    decided_at: datetime | None = time_field(nullable=True)
    reason: str | None = None
    plan: dict[str, Any] | None = json_field(None, nullable=True)
    plan_at_request: dict[str, Any] | None = json_field(None, nullable=True)
    """The plan when the action was requested, with which the current one is compared."""
    planned_at: datetime | None = time_field(nullable=True)
    """When `plan_at_request` was made."""
    executes: dict[str, Any] | None = json_field(None, nullable=True)
    cause: str | None = None
    """The exceeded daily limit, or the policy of an organization below; null where the action always needs a second
    person."""
