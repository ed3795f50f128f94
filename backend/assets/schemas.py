"""Assets as they cross the door (specification 2.4, 4.8)."""

from enum import StrEnum
from typing import Annotated, Any
from uuid import UUID

from pydantic import BaseModel, Field, StringConstraints

from backend.compliance.schemas import ComplianceRules, RulesPatch
from backend.fields import (
    Acceptance,
    Body,
    Count,
    Eid,
    Flag,
    KycLevel,
    Name,
    Record,
    RegulationType,
    Text,
    Timestamp,
    TokenAmount,
    Whole,
    never_null,
)


class AssetStatus(StrEnum):
    """`draft → deploying → active ↔ updating`; `failed`, `archived`."""

    DRAFT = "draft"
    DEPLOYING = "deploying"
    ACTIVE = "active"
    UPDATING = "updating"
    FAILED = "failed"
    ARCHIVED = "archived"


class DeploymentStatus(StrEnum):
    """How far an asset's token on one chain is."""

    DEPLOYING = "deploying"
    ACTIVE = "active"
    FAILED = "failed"


class AssetCreate(Body):
    """A new asset, deployed on `chain_eid`; its supply goes to the organization's default server wallet."""

    name: Name
    symbol: Annotated[str, StringConstraints(pattern=r"^[A-Z0-9]{1,11}$")]
    chain_eid: Eid
    description: Text | None = None
    decimals: Annotated[Whole, Field(ge=6, le=18)] = 18
    initial_supply: TokenAmount = "0"
    regulation_type: RegulationType = RegulationType.NONE
    compliance_rules: ComplianceRules = Field(default_factory=ComplianceRules)
    max_holders: Count = 0
    required_kyc_level: KycLevel = 0
    org_only: Flag = False


class AssetUpdate(Body):
    """JSON merge patch of an asset; what concerns the chain is written there on every deployment."""

    name: Annotated[Name | None, Field(json_schema_extra=never_null)] = None
    description: Text | None = None
    regulation_type: RegulationType | None = None
    compliance_rules: RulesPatch | None = None
    max_holders: Count | None = None
    required_kyc_level: KycLevel | None = None
    org_only: Flag | None = None


class Deployment(Record):
    """The asset's token on one chain."""

    chain_eid: int
    chain_name: str | None = None
    token_address: str | None
    status: DeploymentStatus
    tx_hash: str | None
    supply: str | None = None
    """Base units, read from the chain when one asset is asked for; null in lists or where it does not answer."""
    paused: bool | None = None
    """Whether every movement is stopped; read and null as `supply` is."""


class Asset(Record):
    """An asset record. `total_supply` is the sum over its deployments, base units."""

    id: UUID
    organization_id: UUID
    name: str
    symbol: str
    description: str | None
    decimals: int
    status: AssetStatus
    regulation_type: RegulationType
    compliance_rules: ComplianceRules
    max_holders: int
    required_kyc_level: int
    org_only: bool
    total_supply: str
    deployments: list[Deployment]
    request_id: UUID | None = None
    failure: str | None = None
    created_at: Timestamp
    updated_at: Timestamp


class AssetList(BaseModel):
    """A page of assets."""

    assets: list[Asset]
    nextCursor: str | None


class AssetAccepted(Acceptance):
    """Answer to create and update."""

    assetId: UUID


class RuleChange(BaseModel):
    """One field of the rules, before and after."""

    field: str
    before: Any
    after: Any


class HolderImpact(BaseModel):
    """A holder who could no longer receive or send under the new rules."""

    wallet_address: str
    name: str | None
    balance: str
    reasons: list[str]


class MarketImpact(BaseModel):
    """A market that the new rules would halt or leave alone."""

    market_id: UUID
    chain_eid: int
    halts: bool
    reason: str


class AssetImpact(BaseModel):
    """What an update would do."""

    changes: list[RuleChange]
    holders_total: int
    holders_excluded: list[HolderImpact]
    markets: list[MarketImpact]


class AssetPlan(BaseModel):
    """Answer of `?dry_run=true` on an update: nothing was done."""

    steps: list[str]
    impact: AssetImpact


class AssetCreateImpact(BaseModel):
    """What a new asset would be: who owns its token and gets the supply (the treasury), and its first rules."""

    symbol: str
    chain_eid: int
    owner: str
    initial_supply: str
    rules: dict[str, Any]


class AssetCreatePlan(BaseModel):
    """Answer of `?dry_run=true` on a creation: every check was made, nothing was done."""

    steps: list[str]
    impact: AssetCreateImpact


class AssetArchiveImpact(BaseModel):
    """What archiving would change."""

    symbol: str
    before: AssetStatus
    after: AssetStatus


class AssetArchivePlan(BaseModel):
    """Answer of `?dry_run=true` on an archiving: every check was made, nothing was done."""

    steps: list[str]
    impact: AssetArchiveImpact


class Holder(BaseModel):
    """A holder of the asset on one chain, read from the chain's transfers.

    `frozen` (base units, maybe more than the balance) is asked of the chain; null where it does not answer.
    """

    address: str
    chain_eid: int
    balance: str
    frozen: str | None = None
    party_id: UUID | None
    party_name: str | None
    is_treasury: bool


class HolderList(BaseModel):
    """The cap table."""

    holders: list[Holder]
    nextCursor: str | None


class RulesOnChain(BaseModel):
    """The rules that a token has on one chain, with its share of the caps. Amounts are base units, 0 is no limit."""

    regulation_type: RegulationType
    min_kyc_level: int
    requires_accreditation: bool
    org_only: bool
    blocked_countries: list[str]
    lockup_end_time: int
    max_holders: int
    max_tokens_per_holder: str
    trusted_issuers: list[str]


class RuleSet(Record):
    """Rules that a token took on a chain, and what they changed of those before. `at` is the time of the block; null
    where the chain does not answer."""

    id: UUID
    chain_eid: int
    chain_name: str | None
    version: int
    rules: RulesOnChain
    changes: list[RuleChange]
    block_number: int
    tx_hash: str
    at: Timestamp | None


class RuleSetList(BaseModel):
    """A page of the rules that an asset's tokens have had."""

    rule_sets: list[RuleSet]
    nextCursor: str | None
