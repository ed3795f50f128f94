"""API schemas of transfers."""

from enum import StrEnum
from typing import Any
from uuid import UUID

from pydantic import BaseModel, Field

from backend.chain.finality import Finality
from backend.core.fields import Acceptance, Address, Body, Eid, Id, Record, Timestamp, TokenAmount
from backend.lists.schemas import RecordPage


class TransferStatus(StrEnum):
    """`pending → submitting → confirmed, failed`."""

    PENDING = "pending"
    SUBMITTING = "submitting"
    CONFIRMED = "confirmed"
    FAILED = "failed"


class TransferCreate(Body):
    """Send `amount` base units of an asset from a server wallet of the organization."""

    asset_id: Id
    chain_eid: Eid
    from_wallet_id: Id
    to_address: Address
    amount: TokenAmount


class BalanceChange(BaseModel):
    """An address's balance of the asset on the chain (base units), before and after."""

    address: str
    before: str
    after: str


class TransferImpact(BaseModel):
    """What a transfer would move. `warnings` names a daily limit that it exceeds."""

    changes: list[BalanceChange]
    warnings: list[str] = Field(default_factory=list)


class TransferPlan(BaseModel):
    """Response to `?dry_run=true`: all checks ran, nothing was changed."""

    steps: list[str]
    impact: TransferImpact


class Transfer(Record):
    """A transfer record. `failure` is the decoded reason of a failed one; `from_name` and `to_name` are the
    parties of sender and receiver; `finality` is the finality of its block, in the chain's terms. `awaits_approval`:
    its request waits for a second person, and nothing is sent until then. Events lack it."""

    id: UUID
    organization_id: UUID
    asset_id: UUID
    asset_symbol: str | None = None
    asset_decimals: int | None = None
    chain_eid: int
    chain_name: str | None = None
    from_wallet_id: UUID | None
    from_address: str
    from_label: str | None = None
    from_name: str | None = None
    to_address: str
    to_name: str | None = None
    amount: str
    status: TransferStatus
    awaits_approval: bool | None = None
    tx_hash: str | None
    finality: Finality | None = None
    failure: str | None
    request_id: UUID | None
    created_at: Timestamp
    updated_at: Timestamp


class TransferList(RecordPage):
    """A page of transfers, newest first."""

    transfers: list[Transfer]
    nextCursor: str | None


class TransferAccepted(Acceptance):
    """Response to a transfer. `status` is `awaiting_approval` while the request waits for a second person."""

    transferId: UUID


class TransferBatch(Body):
    """Transfers to send, one request each. A refused item does not stop the others."""

    items: list[TransferCreate] = Field(min_length=1, max_length=200)


class TransferBatchResult(BaseModel):
    """The result of an item, in the order of the items: its acceptance, or its problem."""

    to_address: str
    amount: str
    acceptance: TransferAccepted | None = None
    problem: dict[str, Any] | None = None


class TransferBatchAccepted(BaseModel):
    """Response to a batch: counts of its items, and their results."""

    accepted: int
    refused: int
    results: list[TransferBatchResult]


class TransferItemPlan(BaseModel):
    """The plan of an item, in the order of the items, or its problem."""

    to_address: str
    amount: str
    plan: TransferPlan | None = None
    problem: dict[str, Any] | None = None


class TransferBatchPlan(BaseModel):
    """Response to `?dry_run=true`: counts of the items that would be accepted and refused, and their plans."""

    accepted: int
    refused: int
    results: list[TransferItemPlan]
