"""Requests: accepted asynchronous operations and their progress."""

from enum import StrEnum
from typing import Any
from uuid import UUID

from pydantic import BaseModel, Field

from backend.auth.scopes import Scope
from backend.chain.finality import Finality
from backend.core.fields import Record, Timestamp
from backend.lists.schemas import RecordPage


class RequestStatus(StrEnum):
    """States of a request. The last three are final, except that a failed one may be retried."""

    AWAITING_APPROVAL = "awaiting_approval"
    ACCEPTED = "accepted"
    RUNNING = "running"
    DENIED = "denied"
    SUCCEEDED = "succeeded"
    FAILED = "failed"


class Action(StrEnum):
    """Actions for which an organization may require a second person; the kind of the request that each creates."""

    ASSET_DEPLOY = "asset.deploy"
    ASSET_UPDATE = "asset.update"
    SHARE_CAPS = "asset.share_caps"
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


ENDING = frozenset(
    {
        Action.PAUSE,
        Action.UNPAUSE,
        Action.FREEZE,
        Action.UNFREEZE,
        Action.PAUSE_PATH,
        Action.UNPAUSE_PATH,
        Action.ORDER_CANCEL,
        Action.REVOKE,
        Action.DISTRIBUTION_CANCEL,
        "bridge.return",
        "distribution.pay",
    }
)
"""Kinds of requests that end or stop something, undo that, or pay what is due. They also work on chains that the
organization has disabled: its protections and its debts do not depend on its plans for a chain."""


class ApprovalStatus(StrEnum):
    """`pending → approved, denied, expired`, each final."""

    PENDING = "pending"
    APPROVED = "approved"
    DENIED = "denied"
    EXPIRED = "expired"


class ApproverObstacle(StrEnum):
    """Why a person may not approve a request: they made it (`requester`), their role does not include the action
    (`role`), they sign in with a wallet of the requester (`wallet`), their role is newer than the request (`newer`),
    the requester gave it to them (`appointed`), the same person appointed both (`placed`), or the role is too new to
    approve yet (`waiting`)."""

    REQUESTER = "requester"
    ROLE = "role"
    WALLET = "wallet"
    NEWER = "newer"
    APPOINTED = "appointed"
    PLACED = "placed"
    WAITING = "waiting"


FINAL = frozenset({RequestStatus.SUCCEEDED, RequestStatus.FAILED, RequestStatus.DENIED})


class StepStatus(StrEnum):
    """States of a step."""

    WAITING = "waiting"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"


class Subject(BaseModel):
    """Subject of a request. `asset_id` and `market_id` are those of an order, whose path names them; any other
    subject lacks them."""

    type: str
    id: UUID
    asset_id: UUID | None = Field(default=None, exclude_if=lambda asset: asset is None)
    market_id: UUID | None = Field(default=None, exclude_if=lambda market: market is None)

    @classmethod
    def of(cls, kind: str, id_: UUID, arguments: dict[str, Any]) -> "Subject":
        """Return the subject of a stored request."""
        within = {name: arguments.get(name) for name in ("asset_id", "market_id")} if kind == "order" else {}
        return cls(type=kind, id=id_, **within)


class RequestStep(Record):
    """One step: its times, and its transaction if it has one.

    `finality` is the finality of the transaction's block under the chain's terms; null before it is included.
    """

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
    """An accepted operation.

    `problem` is why it failed; its `resolution` is the call that removes the cause, where one does, with a `title` for
    a button. `cause_is_gone`: the chain no longer refuses what it refused, so the call is not needed; it is read when a
    single request is requested, and false in lists. `can_retry` is whether a retry can help. It is running with
    `awaits_finality` when all its work is done: it succeeds once its transactions reach the finality that the chain's
    terms require (`terms.succeeds_at` of the organization's chains). `notice` says what it means for the request that a
    chain was disabled in the meantime; null if none was. `scope` is what a retry needs. `reason` is the one its
    requester gave, and `approval_id` the approval that it needs or needed; null without one. `is_withdrawn`: its
    requester withdrew it before anyone decided, so it is `denied`.
    """

    id: UUID
    organization_id: UUID
    kind: str
    title: str
    scope: Scope
    status: RequestStatus
    subject: Subject
    steps: list[RequestStep]
    problem: dict[str, Any] | None
    can_retry: bool
    cause_is_gone: bool = False
    awaits_finality: bool = False
    notice: str | None = None
    reason: str | None = None
    approval_id: UUID | None = None
    is_withdrawn: bool = False
    created_by: UUID | None
    created_by_name: str | None = None
    created_at: Timestamp
    updated_at: Timestamp


class RequestRetried(Request):
    """Response to a retry: the request, which runs again under the same ID."""

    requestId: UUID


class RequestList(RecordPage):
    """A page of requests."""

    requests: list[Request]
    nextCursor: str | None
