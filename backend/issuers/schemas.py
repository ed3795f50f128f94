"""API schemas of attestation issuers (specification 4.1)."""

from enum import StrEnum
from typing import Annotated
from uuid import UUID

from pydantic import BaseModel, Field

from backend.core.fields import Body, Flag, KycLevel, Name, Record


class IssuerStatus(StrEnum):
    """Status of a registration on one chain."""

    PENDING = "pending"
    REGISTERED = "registered"
    FAILED = "failed"


DEFAULT_MAX_LEVEL = 3


class IssuerRegister(Body):
    """What the registry stores with the wallet's address."""

    name: Name | None = None
    max_kyc_level: Annotated[KycLevel, Field(ge=1)] | None = DEFAULT_MAX_LEVEL
    can_revoke_others: Flag | None = False


class IssuerRegistered(Record):
    """`registered`: whether every enabled chain has confirmed it. `requestId` is the last registration, and `message`
    says what it waits for while it is in progress."""

    registered: bool
    request_id: UUID | None = Field(default=None, serialization_alias="requestId", validation_alias="requestId")
    message: str | None = Field(default=None, exclude_if=lambda message: message is None)


class IssuerImpact(BaseModel):
    """The wallet that would attest, its terms, and the chains that would be written."""

    wallet_address: str
    name: str
    max_kyc_level: int
    can_revoke_others: bool
    chains: list[int]


class IssuerPlan(BaseModel):
    """Response to `?dry_run=true`: all checks ran, nothing was changed."""

    steps: list[str]
    impact: IssuerImpact


class IssuerWallet(Record):
    """The attester on one chain, its status read from the chain."""

    chain_eid: int
    address: str
    status: IssuerStatus
    tx_hash: str | None


class Issuer(BaseModel):
    """An organization as an issuer."""

    name: str
    max_kyc_level: int
    can_revoke_others: bool
    request_id: UUID | None
    wallets: list[IssuerWallet]
