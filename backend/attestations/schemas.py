"""API schemas of attestations."""

from enum import StrEnum
from typing import Any
from uuid import UUID

from pydantic import BaseModel, Field

from backend.chain.finality import Finality
from backend.compliance.impact_schemas import ClaimEffect, OrderEffect
from backend.core.fields import Acceptance, Body, Eid, Flag, Id, KycLevel, Moment, Reason, Record, Timestamp
from backend.lists.schemas import RecordPage

REVOKE = "attestation.revoke"
"""The kind of a request that revokes."""
REPLACED = "Replaced by a newer attestation of this wallet."
"""The reason of an attestation that ended because a newer one took its place; no one decided to revoke it."""


class AttestationStatus(StrEnum):
    """`pending → active → revoked, expired, failed`."""

    PENDING = "pending"
    ACTIVE = "active"
    REVOKED = "revoked"
    EXPIRED = "expired"
    FAILED = "failed"


class AttestationCreate(Body):
    """What to attest; level and accreditation default to the party's verified values and may not exceed them."""

    party_id: Id
    chain_eid: Eid
    kyc_level: KycLevel | None = Field(None, ge=1)
    accredited: Flag | None = None
    expires_at: Moment | None = None


class AttestationRevoke(Body):
    """Why an attestation is revoked; the reason is written on chain."""

    reason: Reason


class AttestationParty(Record):
    """The party an attestation is about, as lists show it."""

    id: UUID
    name: str
    email: str | None


class Attestation(Record):
    """An attestation record. `status` was read back from the chain."""

    id: UUID
    organization_id: UUID
    party_id: UUID
    party: AttestationParty | None = None
    wallet_address: str
    chain_eid: int
    schema_: str = Field("kyc", serialization_alias="schema", validation_alias="schema")
    kyc_level: int
    accredited: bool
    country: str
    expires_at: Timestamp | None
    uid: str | None
    status: AttestationStatus
    tx_hash: str | None
    finality: Finality | None = None
    request_id: UUID | None
    revocation_reason: str | None = None
    revoked_at: Timestamp | None = None
    failure: str | None = None
    created_at: Timestamp
    updated_at: Timestamp


class AttestationRead(Attestation):
    """An attestation, with the label of its wallet where the organization has it, and the name of the person who asked
    for its revocation. An attestation that a newer one replaced ended at `revoked_at` without a person.
    `awaits_approval`: its request waits for a second person, and nothing is attested until then."""

    awaits_approval: bool = False
    wallet_label: str | None = None
    revoked_by_name: str | None = None


class AttestationProof(BaseModel):
    """An attestation's current state on chain."""

    chain_eid: int
    registry_address: str
    attester: str
    is_valid: bool
    kyc_level: int
    accredited: bool
    country: str
    expires_at: Timestamp | None
    revoked: bool
    block_number: int
    agrees: bool


class AttestationDetail(AttestationRead):
    """An attestation with its current proof on chain; null if the chain did not answer or does not have it yet."""

    proof: AttestationProof | None = None


class AttestationList(RecordPage):
    """A page of attestations."""

    attestations: list[AttestationRead]
    nextCursor: str | None


class AttestationAccepted(Acceptance):
    """Response to create and revoke."""

    attestationId: UUID


class AffectedHolding(BaseModel):
    """A token that a wallet holds, in base units, and what its rules would still allow without the attestation.

    `can_send` is also needed to sell, `can_receive` also to buy and to claim. Another valid attestation of the wallet
    may count for one token and not for another.
    """

    asset_id: UUID
    symbol: str
    decimals: int
    amount: str
    can_send: bool
    can_receive: bool


class WaitingRequest(BaseModel):
    """A request that waits for a second person and names the wallet or its party. Its checks run again when it is
    approved, and may then refuse it."""

    request_id: UUID
    approval_id: UUID
    kind: str
    title: str


class AttestationImpact(BaseModel):
    """What an attestation or its revocation changes. `replaces` is the wallet's active one on that chain.

    Of a revocation: `holdings` on its chain, the wallet's open orders that could not be filled and its unclaimed
    amounts that it could not claim, as the dry run of new rules counts them, and the requests that wait.
    """

    wallet_address: str
    chain_eid: int
    kyc_level: int
    accredited: bool
    country: str
    expires_at: Timestamp | None
    replaces: UUID | None = None
    holdings: list[AffectedHolding] = []
    orders_total: int = 0
    orders: list[OrderEffect] = []
    claims_total: int = 0
    claims: list[ClaimEffect] = []
    requests: list[WaitingRequest] = []


class AttestationPlan(BaseModel):
    """Response to `?dry_run=true`: all checks ran, nothing was changed."""

    steps: list[str]
    impact: AttestationImpact


class AttestationBatch(Body):
    """Attestations to issue, one request each. A refused item does not stop the others."""

    items: list[AttestationCreate] = Field(min_length=1, max_length=200)


class AttestationBatchResult(BaseModel):
    """The result of an item, in the order of the items: its acceptance, or its problem.

    `awaits_approval`: its request waits for a second person.
    """

    party_id: UUID
    chain_eid: int
    acceptance: AttestationAccepted | None = None
    awaits_approval: bool = False
    problem: dict[str, Any] | None = None


class AttestationBatchAccepted(BaseModel):
    """Response to a batch: counts of its items, and their results."""

    accepted: int
    refused: int
    results: list[AttestationBatchResult]


class AttestationItemPlan(BaseModel):
    """The plan of an item, in the order of the items, or its problem."""

    party_id: UUID
    chain_eid: int
    plan: AttestationPlan | None = None
    problem: dict[str, Any] | None = None


class AttestationBatchPlan(BaseModel):
    """Response to `?dry_run=true`: counts of the items that would be accepted and refused, and their plans."""

    accepted: int
    refused: int
    results: list[AttestationItemPlan]
