"""API schemas of distributions (specification 4.5)."""

from enum import StrEnum
from typing import Annotated
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, JsonValue, StringConstraints

from backend.compliance.impact_schemas import StandingSource
from backend.core.fields import (
    UINT256,
    Acceptance,
    Address,
    Body,
    Eid,
    Id,
    Name,
    NullIs,
    Record,
    Timestamp,
    TokenAmount,
    Whole,
)
from backend.lists.schemas import RecordPage

Above0 = Annotated[TokenAmount, Field(json_schema_extra={"pattern": "^0*[1-9][0-9]*$", "format": UINT256})]


def _null(is_so: bool) -> JsonValue:
    return {"type": "null"} if is_so else {"not": {"type": "null"}}


Root = Annotated[str, StringConstraints(pattern=r"^0x[0-9a-fA-F]{64}$", to_lower=True)]
"""A merkle root; returned in lower case."""


DRAFT_DAYS = 30
"""Days after which a draft is deleted, unless its activation or cancellation was requested."""


class DistributionStatus(StrEnum):
    """`draft → activating → active → completed, cancelled`; a failed activation leaves a draft with its failure."""

    DRAFT = "draft"
    ACTIVATING = "activating"
    ACTIVE = "active"
    COMPLETED = "completed"
    CANCELLED = "cancelled"


class PaidIn(StrEnum):
    """What a distribution pays out: the `asset`, or the chain's `quote` currency, whose contract has no rules."""

    ASSET = "asset"
    QUOTE = "quote"


class BlockedRecipients(StrEnum):
    """What happens to recipients whom the asset's rules refuse. `include`: they are in the tree like all others, and
    the token refuses their claim until they are eligible; where the quote currency is paid out, nothing would refuse
    the claim, so it means `refuse`. `refuse`: nothing is created (409). `exclude`: they are
    omitted. `hold`: they are omitted from the tree, and listed as held."""

    INCLUDE = "include"
    REFUSE = "refuse"
    EXCLUDE = "exclude"
    HOLD = "hold"


class Recipient(Body):
    """A recipient and an amount, in base units of the currency."""

    address: Address
    amount: Above0


class HoldersAt(Body):
    """All holders of the asset on the chain at a block (default: now), in proportion to their holdings; the shares add
    up to `total_amount`. The treasury and distributors get nothing; tokens that a market held for a seller count as the
    seller's."""

    total_amount: TokenAmount
    block: Annotated[Whole, Field(ge=0, le=2**53)] | None = None


SOURCES = ("recipients", "holders", "total_amount", "held_of")


def _only(source: str | None) -> JsonValue:
    """Return the schema of a body with only this source, or with none."""
    properties: dict[str, JsonValue] = {name: _null(name != source) for name in SOURCES}
    return {"properties": properties} if source is None else {"required": [source], "properties": properties}


ONE_OF: list[JsonValue] = [_only(source) for source in (*SOURCES, None)]


class DistributionCreate(Body):
    """A new distribution from one source: `recipients` or `holders`, whose tree is built here, `held_of`, which
    releases the held recipients of an earlier distribution who are eligible now, or `total_amount`, which is paid out
    under the activation's root. Without any of them, transfers to the distributor fund it. `blocked` says what happens
    to recipients whom the asset's rules refuse; the shares of holders are not given to others. With `held_of`, they
    stay held where they are, and the currency is that of the earlier distribution. Amounts are base units of the asset,
    or of the chain's quote currency with `currency: "quote"`."""

    model_config = ConfigDict(json_schema_extra={"oneOf": ONE_OF})

    name: Name
    chain_eid: Eid
    recipients: Annotated[list[Recipient], Field(min_length=1, max_length=2_000_000)] | None = None
    holders: HoldersAt | None = None
    total_amount: Above0 | None = None
    held_of: Id | None = None
    currency: Annotated[PaidIn, NullIs(PaidIn.ASSET)] = PaidIn.ASSET
    blocked: Annotated[BlockedRecipients, NullIs(BlockedRecipients.INCLUDE)] = BlockedRecipients.INCLUDE


class DistributionActivate(Body):
    """What to activate. For a distribution with recipients, it must match the record."""

    chainEid: Eid
    merkleRoot: Root
    totalRecipients: Annotated[Whole, Field(ge=1, le=2**32 - 1)]


class Activated(BaseModel):
    """An empty object: the activation is durably accepted, or was before."""


class Distribution(Record):
    """A distribution record. Claimed amounts come from chain events. `excluded_recipients` and `held_recipients` were
    in its list, but not eligible when it was created. `held_of` is the distribution whose held recipients it pays.
    The `currency_…` fields name the quote currency of its amounts; they are null where the asset is paid out.
    `awaits_approval`: its activation waits for a second person, and nothing is paid until then. Events lack it."""

    id: UUID
    organization_id: UUID
    asset_id: UUID
    asset_symbol: str | None = None
    asset_decimals: int | None = None
    currency_address: str | None
    currency_symbol: str | None
    currency_decimals: int | None
    name: str
    chain_eid: int
    chain_name: str | None = None
    status: DistributionStatus
    awaits_approval: bool | None = None
    merkle_root: str | None
    total_recipients: int | None
    total_amount: str
    claimed_recipients: int
    claimed_amount: str
    has_recipients: bool
    excluded_recipients: int
    held_recipients: int
    held_of: UUID | None
    distributor_address: str | None
    request_id: UUID | None
    failure: str | None
    created_at: Timestamp
    updated_at: Timestamp


class DistributionList(RecordPage):
    """A page of distributions."""

    distributions: list[Distribution]
    nextCursor: str | None


class RecipientCheck(BaseModel):
    """A recipient, and the rules of the asset that refuse it. `index` is the position in the list that was sent."""

    index: int
    address: str
    name: str
    party_name: str | None = None
    wallet_label: str | None = None
    amount: str
    eligible: bool
    reasons: list[str]


class RecipientsCheck(BaseModel):
    """How the asset's rules judge the recipients: counts and sums of all, and the first 200, blocked ones first.
    `block` is where the chain's attestations were read; null if they come from the `tables`. `warnings` concern claims
    of all recipients, such as a lock-up."""

    eligible: int
    blocked: int
    total_eligible: str
    total_blocked: str
    source: StandingSource
    block: int | None
    warnings: list[str]
    recipients: list[RecipientCheck]


class DistributionPlan(BaseModel):
    """Response to `?dry_run=true`: all checks ran, nothing was changed. `check` is the eligibility of the recipients of
    a new distribution; null for other operations, and without recipients."""

    steps: list[str]
    impact: dict[str, str]
    check: RecipientsCheck | None = None


class DistributionAccepted(Acceptance):
    """Response to a cancellation."""

    distributionId: UUID


class RecipientPaymentAccepted(Acceptance):
    """Response to a payment: the distributor pays `address` its amount."""

    distributionId: UUID
    address: str


class Entitlement(Record):
    """A recipient of a distribution: the amount in base units of the currency, and whether it was claimed. `name` is
    what the address is to the organization, in words, `party_name` and `wallet_label` are the names of the party and
    the wallet that it knows there. `index` is the position in the list. `cannot_claim` are
    the reasons why it could not claim now; empty if it could, null if that was not checked."""

    index: int
    address: str
    name: str
    party_name: str | None = None
    wallet_label: str | None = None
    amount: str
    claimed: bool
    cannot_claim: list[str] | None = None


class EntitlementList(RecordPage):
    """A page of recipients."""

    recipients: list[Entitlement]
    nextCursor: str | None


class HeldRecipient(Record):
    """A recipient whom the asset's rules refused when the distribution was created, with the reasons of that time.
    `index` is the position in the list that was sent. `released_by` is the distribution that pays it; null while it is
    held, again after that distribution was deleted, or was cancelled before the recipient claimed."""

    index: int
    address: str
    name: str
    party_name: str | None = None
    wallet_label: str | None = None
    amount: str
    reasons: list[str]
    released_by: UUID | None


class HeldRecipientList(RecordPage):
    """A page of held recipients."""

    recipients: list[HeldRecipient]
    nextCursor: str | None


class Proof(BaseModel):
    """What a recipient passes to `claim`; the hashes lead from the leaf to the root."""

    index: int
    address: str
    amount: str
    proof: list[str]
    claimed: bool
