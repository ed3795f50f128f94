"""API schemas of bridge transactions (specification 4.3)."""

from enum import StrEnum
from typing import Annotated
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


SHARED = "The asset's caps are shared with one more chain: the shares of the other chains decrease."
"""The warning of a plan whose `caps` are not empty."""
Fingerprint = Annotated[
    str, Field(min_length=32, max_length=32, pattern="^[0-9a-f]{32}$", examples=["9c1f0a37d2be4f5aa8e36b70cd914e22"])
]


class BridgeCreate(Body):
    """Bridge supply of an asset; amount 0 only brings the asset and its rules. `expected_caps`: the shares of the caps
    that every chain would have afterwards, as the dry run's `caps` shows them; 409 if they would be others.
    `expected_plan`: the `fingerprint` of the dry run's impact; 409 if the plan has changed since. `max_fee`: the most
    that the delivery may cost, in wei, such as the dry run's `fee`; 409 if it would cost more."""

    destination_chain_eid: Eid
    source_chain_eid: Eid | None = None
    amount: TokenAmount = "0"
    to_address: Address | None = None
    expected_caps: CapShares | None = None
    expected_plan: Fingerprint | None = None
    max_fee: TokenAmount | None = None


class BridgeImpact(BaseModel):
    """What would cross, to which address (null: the treasury), whether the token is deployed on the other chain first,
    and the shares of the caps that change.

    `sender_address` is the treasury that the amount leaves, `receiver_address` where it arrives (null if nothing does),
    both with a name where the organization knows one. `fee` is the most that the delivery costs on the source chain, in
    wei of `fee_currency`. `verification` says who verifies the packet. `fingerprint` stands for everything except names
    and fee: send it as `expected_plan`.
    """

    source_chain_eid: int
    source_chain_name: str
    destination_chain_eid: int
    destination_chain_name: str
    amount: str
    to_address: str | None
    sender_address: str
    sender_name: str | None
    receiver_address: str | None
    receiver_name: str | None
    deploys_token: bool
    fee: str
    fee_currency: str
    verification: str
    fingerprint: str
    caps: list[CapEffect] = Field(default_factory=list)
    warnings: list[str]


class BridgePlan(BaseModel):
    """Response to `?dry_run=true`: all checks ran, nothing was changed."""

    steps: list[str]
    impact: BridgeImpact


class Bridge(Record):
    """A bridge transaction record. `failure` is the decoded reason of the last refused delivery. A failed bridge whose
    packet was dropped has `returned_at` once its supply is minted back, by `return_tx_hash`. `finality` is the finality
    of the source transaction's block, in the chain's terms. `to_name` is the receiver's name, where the organization
    knows one. `can_retry`: a retry of its request can help. `awaits_approval`: its request waits for a second person,
    and nothing is sent until then. Events lack all three."""

    id: UUID
    organization_id: UUID
    asset_id: UUID
    asset_symbol: str | None = None
    asset_decimals: int | None = None
    source_chain_eid: int
    destination_chain_eid: int
    status: BridgeStatus
    awaits_approval: bool | None = None
    amount: str
    to_address: str | None
    to_name: str | None = None
    guid: str | None
    source_tx_hash: str | None
    finality: Finality | None = None
    destination_tx_hash: str | None
    failure: str | None
    can_retry: bool | None = None
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
