"""Distributions as they cross the door (specification 4.5)."""

from enum import StrEnum
from typing import Annotated
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, JsonValue, StringConstraints

from backend.fields import (
    UINT256,
    Acceptance,
    Address,
    Body,
    Eid,
    Name,
    Record,
    Timestamp,
    TokenAmount,
    Whole,
)

Above0 = Annotated[TokenAmount, Field(json_schema_extra={"pattern": "^0*[1-9][0-9]*$", "format": UINT256})]


def _null(is_so: bool) -> JsonValue:
    return {"type": "null"} if is_so else {"not": {"type": "null"}}


Root = Annotated[str, StringConstraints(pattern=r"^0x[0-9a-fA-F]{64}$", to_lower=True)]
"""A merkle root; lower case comes out."""


class DistributionStatus(StrEnum):
    """`draft → activating → active → completed, cancelled`; a failed activation leaves a draft with its failure."""

    DRAFT = "draft"
    ACTIVATING = "activating"
    ACTIVE = "active"
    COMPLETED = "completed"
    CANCELLED = "cancelled"


class Recipient(Body):
    """Who gets how much, base units of the asset."""

    address: Address
    amount: Above0


class HoldersAt(Body):
    """Everybody who held the asset on the chain at a block (now, where none is named), in proportion to what they held;
    the shares add up to `total_amount`. The treasury and distributors get nothing; what a market held for a seller
    counts as the seller's."""

    total_amount: TokenAmount
    block: Annotated[Whole, Field(ge=0, le=2**53)] | None = None


SOURCES = ("recipients", "holders", "total_amount")


def _only(source: str | None) -> JsonValue:
    """A body that names this source and no other; none at all."""
    properties: dict[str, JsonValue] = {name: _null(name != source) for name in SOURCES}
    return {"properties": properties} if source is None else {"required": [source], "properties": properties}


ONE_OF: list[JsonValue] = [_only(source) for source in (*SOURCES, None)]


class DistributionCreate(Body):
    """A new distribution, by one of: `recipients` or `holders`, whose tree is built here, or `total_amount`, which is
    paid out under the root that activation brings. By none of them, what is transferred to the distributor is."""

    model_config = ConfigDict(json_schema_extra={"oneOf": ONE_OF})

    name: Name
    chain_eid: Eid
    recipients: Annotated[list[Recipient], Field(min_length=1, max_length=2_000_000)] | None = None
    holders: HoldersAt | None = None
    total_amount: Above0 | None = None


class DistributionActivate(Body):
    """What is activated. For a distribution with recipients it has to be what the record says."""

    chainEid: Eid
    merkleRoot: Root
    totalRecipients: Annotated[Whole, Field(ge=1, le=2**32 - 1)]


class Activated(BaseModel):
    """An empty object: the activation is durably accepted, or was before."""


class Distribution(Record):
    """A distribution record. What was claimed is what the chain's events say."""

    id: UUID
    organization_id: UUID
    asset_id: UUID
    asset_symbol: str | None = None
    asset_decimals: int | None = None
    name: str
    chain_eid: int
    chain_name: str | None = None
    status: DistributionStatus
    merkle_root: str | None
    total_recipients: int | None
    total_amount: str
    claimed_recipients: int
    claimed_amount: str
    has_recipients: bool
    distributor_address: str | None
    request_id: UUID | None
    failure: str | None
    created_at: Timestamp
    updated_at: Timestamp


class DistributionList(BaseModel):
    """A page of distributions."""

    distributions: list[Distribution]
    nextCursor: str | None


class DistributionPlan(BaseModel):
    """Answer of `?dry_run=true`: every check was made, nothing was done."""

    steps: list[str]
    impact: dict[str, str]


class DistributionAccepted(Acceptance):
    """Answer to a cancellation."""

    distributionId: UUID


class Proof(BaseModel):
    """What a recipient hands to `claim`; the hashes lead from the leaf to the root."""

    index: int
    address: str
    amount: str
    proof: list[str]
    claimed: bool
