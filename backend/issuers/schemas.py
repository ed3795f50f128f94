"""Attestation issuers (specification 4.1)."""

from enum import StrEnum
from typing import Annotated
from uuid import UUID

from pydantic import BaseModel, Field

from backend.fields import Body, Flag, KycLevel, Name, Record


class IssuerStatus(StrEnum):
    """How far a registration on one chain is."""

    PENDING = "pending"
    REGISTERED = "registered"
    FAILED = "failed"


DEFAULT_MAX_LEVEL = 3


class IssuerRegister(Body):
    """What the registry writes beside the wallet's address."""

    name: Name | None = None
    max_kyc_level: Annotated[KycLevel, Field(ge=1)] | None = DEFAULT_MAX_LEVEL
    can_revoke_others: Flag | None = False


class IssuerRegistered(BaseModel):
    """`registered`: whether every enabled chain has confirmed it already."""

    registered: bool


class IssuerImpact(BaseModel):
    """The wallet that would attest, by which terms, and the chains that would have to be written."""

    wallet_address: str
    name: str
    max_kyc_level: int
    can_revoke_others: bool
    chains: list[int]


class IssuerPlan(BaseModel):
    """Answer of `?dry_run=true`: every check was made, nothing was done."""

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
