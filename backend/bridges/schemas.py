"""API schemas of bridge transactions (specification 4.3)."""

from enum import StrEnum
from uuid import UUID

from pydantic import BaseModel, Field

from backend.caps.schemas import CapEffect, CapShares
from backend.chain.finality import Finality
from backend.core.fields import Acceptance, Address, Body, Eid, Reason, Record, Timestamp, TokenAmount
from backend.lists.schemas import RecordPage


class BridgeStatus(StrEnum):
    """`pending → submitting → confirmed, failed`."""

    PENDING = "pending"
    SUBMITTING = "submitting"
    CONFIRMED = "confirmed"
    FAILED = "failed"


class BridgeCreate(Body):
    """Bridge supply of an asset; amount 0 only brings the asset and its rules. `expected_caps`: the shares of the caps
    that every chain would have afterwards, as the dry run's `caps` shows them; 409 if they would be others."""

    destination_chain_eid: Eid
    source_chain_eid: Eid | None = None
    amount: TokenAmount = "0"
    to_address: Address | None = None
    expected_caps: CapShares | None = None


class BridgeImpact(BaseModel):
    """What would cross, to which address (null: the treasury), whether the token is deployed on the other chain first,
    and the shares of the caps that change."""

    source_chain_eid: int
    destination_chain_eid: int
    amount: str
    to_address: str | None
    deploys_token: bool
    caps: list[CapEffect] = Field(default_factory=list)
    warnings: list[str]


class BridgePlan(BaseModel):
    """Response to `?dry_run=true`: all checks ran, nothing was changed."""

    steps: list[str]
    impact: BridgeImpact


class Bridge(Record):
    """A bridge transaction record. `failure` is the decoded reason of the last refused delivery. A failed bridge whose
    packet was dropped has `returned_at` once its supply is minted back, by `return_tx_hash`. `finality` is the finality
    of the source transaction's block, in the chain's terms."""

    id: UUID
    organization_id: UUID
    asset_id: UUID
    asset_symbol: str | None = None
    asset_decimals: int | None = None
    source_chain_eid: int
    destination_chain_eid: int
    status: BridgeStatus
    amount: str
    to_address: str | None
    guid: str | None
    source_tx_hash: str | None
    finality: Finality | None = None
    destination_tx_hash: str | None
    failure: str | None
    request_id: UUID | None
    return_request_id: UUID | None
    returned_at: Timestamp | None
    return_tx_hash: str | None
    checked_at: Timestamp | None
    created_at: Timestamp
    updated_at: Timestamp


class BridgeList(RecordPage):
    """A page of bridge transactions, newest first; the cursor is the last item's `created_at`."""

    bridges: list[Bridge]
    nextCursor: str | None


class BridgeAccepted(Acceptance):
    """Response to a bridge request."""

    bridgeId: UUID


class BridgeReturn(Body):
    """Why the packet is abandoned."""

    reason: Reason


class BridgeReturnImpact(BaseModel):
    """What is minted back to whom; the packet can never be delivered afterwards."""

    source_chain_eid: int
    destination_chain_eid: int
    amount: str
    to_address: str
    can_be_undone: bool
    warnings: list[str]


class BridgeReturnPlan(BaseModel):
    """Response to `?dry_run=true`: all checks ran, nothing was changed."""

    steps: list[str]
    impact: BridgeReturnImpact


class BridgeReturnAccepted(Acceptance):
    """Response to a requested return; it waits for a second person."""

    bridgeId: UUID
