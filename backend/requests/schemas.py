"""Requests: accepted asynchronous operations and how far they are."""

from enum import StrEnum
from typing import Any
from uuid import UUID

from pydantic import BaseModel

from backend.chain.terms import Finality
from backend.fields import Record, Timestamp


class RequestStatus(StrEnum):
    """States of a request; the last four are final, except that a failed one may be retried."""

    AWAITING_APPROVAL = "awaiting_approval"
    ACCEPTED = "accepted"
    RUNNING = "running"
    DENIED = "denied"
    SUCCEEDED = "succeeded"
    FAILED = "failed"


class Action(StrEnum):
    """What an organization may ask a second person for; the kind of the request that it makes."""

    ASSET_DEPLOY = "asset.deploy"
    ASSET_UPDATE = "asset.update"
    MINT = "token.mint"
    BURN = "token.burn"
    PAUSE = "token.pause"
    UNPAUSE = "token.unpause"
    FREEZE = "token.freeze"
    UNFREEZE = "token.unfreeze"
    FORCED_TRANSFER = "token.forced_transfer"
    RECOVER = "token.recover"
    PAUSE_PATH = "token.pause_path"
    UNPAUSE_PATH = "token.unpause_path"
    LIMIT_PATH = "token.limit_path"
    BRIDGE = "bridge.send"
    MARKET_DEPLOY = "market.deploy"
    ORDER_PLACE = "order.place"
    ORDER_CANCEL = "order.cancel"
    ATTEST = "attestation.issue"
    REVOKE = "attestation.revoke"
    DISTRIBUTION_ACTIVATE = "distribution.activate"
    DISTRIBUTION_CANCEL = "distribution.cancel"
    TRANSFER = "transfer.send"
    MEMBER_CHANGE_ROLE = "member.change_role"
    MEMBER_REMOVE = "member.remove"


class ApprovalStatus(StrEnum):
    """`pending → approved, denied, expired`, each final."""

    PENDING = "pending"
    APPROVED = "approved"
    DENIED = "denied"
    EXPIRED = "expired"


FINAL = frozenset({RequestStatus.SUCCEEDED, RequestStatus.FAILED, RequestStatus.DENIED})


class StepStatus(StrEnum):
    """States of a step."""

    WAITING = "waiting"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"


class Subject(BaseModel):
    """What a request is about."""

    type: str
    id: UUID


class RequestStep(Record):
    """One step: its times, and its transaction where it has one. `finality` is how sure the transaction's block is by
    the chain's terms; null before it is included."""

    name: str
    title: str
    status: StepStatus
    started_at: Timestamp | None
    finished_at: Timestamp | None
    chain_eid: int | None
    chain_name: str | None = None
    tx_hash: str | None
    explorer_url: str | None = None
    finality: Finality | None = None
    detail: str | None


class Request(Record):
    """An accepted operation. `problem` is why it failed; `can_retry` whether trying again can help. It is running with
    `awaits_finality` when all its work is done: it succeeds once its transactions are as sure as the chain's terms ask
    (`terms.succeeds_at` of the organization's chains)."""

    id: UUID
    organization_id: UUID
    kind: str
    title: str
    status: RequestStatus
    subject: Subject
    steps: list[RequestStep]
    problem: dict[str, Any] | None
    can_retry: bool
    awaits_finality: bool = False
    created_by: UUID | None
    created_by_name: str | None = None
    created_at: Timestamp
    updated_at: Timestamp


class RequestList(BaseModel):
    """A page of requests."""

    requests: list[Request]
    nextCursor: str | None
