"""API schemas of assets (specification 2.4, 4.8)."""

from enum import StrEnum
from typing import Annotated, Any
from uuid import UUID

from pydantic import BaseModel, Field, StringConstraints

from backend.caps.schemas import CapEffect, CapShare
from backend.compliance.impact_schemas import Effects, MarketImpact
from backend.compliance.schemas import ComplianceRules, RulesPatch
from backend.core.fields import (
    KEPT,
    Acceptance,
    Body,
    Count,
    Eid,
    Flag,
    KycLevel,
    Name,
    Reason,
    Record,
    RegulationType,
    Text,
    Timestamp,
    TokenAmount,
    Whole,
    removed_by,
)
from backend.lists.schemas import RecordPage
from backend.wallets.schemas import AddressKind


class AssetStatus(StrEnum):
    """`draft → deploying → active ↔ updating`; `failed`, `archived`."""

    DRAFT = "draft"
    DEPLOYING = "deploying"
    ACTIVE = "active"
    UPDATING = "updating"
    FAILED = "failed"
    ARCHIVED = "archived"


class DeploymentStatus(StrEnum):
    """Status of an asset's token on one chain."""

    DEPLOYING = "deploying"
    ACTIVE = "active"
    FAILED = "failed"


Nominal = Annotated[
    str, StringConstraints(pattern=r"^[0-9]{1,15}([.][0-9]{1,6})?$", max_length=22), Field(examples=["100.00"])
]
"""A price of a whole token, in whole units of a quote currency."""


class AssetCreate(Body):
    """A new asset, deployed on `chain_eid`; its supply is minted to the organization's default server wallet."""

    name: Name
    symbol: Annotated[str, StringConstraints(pattern=r"^[A-Z0-9]{1,11}$")]
    chain_eid: Eid
    description: Text | None = None
    decimals: Annotated[Whole, Field(ge=6, le=18)] = 18
    nominal_value: Nominal | None = None
    initial_supply: TokenAmount = "0"
    regulation_type: RegulationType = RegulationType.NONE
    compliance_rules: ComplianceRules = Field(default_factory=ComplianceRules)
    max_holders: Count = 0
    required_kyc_level: KycLevel = 0
    org_only: Flag = False


class OpenOrders(StrEnum):
    """What happens to open orders whose makers are ineligible under the new rules: `keep` them, marked, or `cancel`
    them as the owner of the markets, those that are open when the rules have been set."""

    KEEP = "keep"
    CANCEL = "cancel"


class AssetUpdate(Body):
    """JSON merge patch of an asset; on-chain fields are written to every deployment. Omitted fields stay unchanged, and
    null is refused for protections: 0, false, "none" or an empty list removes one."""

    name: Annotated[Name | None, KEPT] = None
    description: Text | None = None
    nominal_value: Nominal | None = None
    regulation_type: Annotated[RegulationType | None, KEPT, removed_by('"none"')] = None
    compliance_rules: Annotated[RulesPatch | None, KEPT, removed_by("each rule as 0, false or an empty list")] = None
    max_holders: Annotated[Count | None, KEPT, removed_by("0")] = None
    required_kyc_level: Annotated[KycLevel | None, KEPT, removed_by("0")] = None
    org_only: Annotated[Flag | None, KEPT, removed_by("false")] = None
    orders: OpenOrders | None = None
    reason: Reason | None = None
    """Why; it is recorded in the audit log and in the history of the rules."""

    def given(self) -> set[str]:
        """Return the names of the fields that are changed, those of rules as `compliance_rules.{name}`."""
        rules = self.compliance_rules.model_fields_set if self.compliance_rules else ()
        return (self.model_fields_set - {"compliance_rules", "orders", "reason"}) | {
            f"compliance_rules.{name}" for name in rules
        }


class Deployment(Record):
    """The asset's token on one chain."""

    chain_eid: int
    chain_name: str | None = None
    token_address: str | None
    status: DeploymentStatus
    tx_hash: str | None
    supply: str | None = None
    """Base units, read from the chain when a single asset is requested; null in lists or if the chain does not
    answer."""
    paused: bool | None = None
    """Whether the token is paused; read like `supply`, and null in the same cases."""


class Asset(Record):
    """An asset record. `total_supply` is the sum over its deployments, base units. `nominal_value` is that of a whole
    token in its quote currency, which values the asset before its first trade. `cap_shares`: the shares of the caps
    that a person set for each chain; empty where they are calculated. `awaits_approval`: its request waits for a second
    person, and nothing is sent until then. Events lack it."""

    id: UUID
    organization_id: UUID
    name: str
    symbol: str
    description: str | None
    decimals: int
    nominal_value: str | None = None
    status: AssetStatus
    awaits_approval: bool | None = None
    regulation_type: RegulationType
    compliance_rules: ComplianceRules
    max_holders: int
    required_kyc_level: int
    org_only: bool
    cap_shares: list[CapShare] = Field(default_factory=list)
    total_supply: str
    deployments: list[Deployment]
    request_id: UUID | None = None
    failure: str | None = None
    created_at: Timestamp
    updated_at: Timestamp


class AssetList(RecordPage):
    """A page of assets."""

    assets: list[Asset]
    nextCursor: str | None


class AssetAccepted(Acceptance):
    """Response to create and update."""

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


class AssetImpact(BaseModel):
    """What an update would do. `effects` names everyone affected; `holders_excluded` and `markets` repeat its lists.
    `caps`: the shares of the caps that change on any chain."""

    changes: list[RuleChange]
    holders_total: int
    holders_excluded: list[HolderImpact]
    markets: list[MarketImpact]
    effects: Effects = Field(default_factory=Effects)
    caps: list[CapEffect] = Field(default_factory=list)


class AssetPlan(BaseModel):
    """Response to `?dry_run=true` on an update: nothing was changed."""

    steps: list[str]
    impact: AssetImpact


class AssetCreateImpact(BaseModel):
    """What a new asset would be: its owner, which receives the supply (the treasury), and its first rules."""

    symbol: str
    chain_eid: int
    owner: str
    initial_supply: str
    rules: dict[str, Any]


class AssetCreatePlan(BaseModel):
    """Response to `?dry_run=true` on a creation: all checks ran, nothing was changed."""

    steps: list[str]
    impact: AssetCreateImpact


class AssetArchiveImpact(BaseModel):
    """What archiving would change."""

    symbol: str
    before: AssetStatus
    after: AssetStatus


class AssetArchivePlan(BaseModel):
    """Response to `?dry_run=true` on an archiving: all checks ran, nothing was changed."""

    steps: list[str]
    impact: AssetArchiveImpact


class Holder(BaseModel):
    """A holder of the asset on one chain, from the chain's transfers. Amounts in base units.

    `balance` is everything the holder owns: `available`, frozen, and `escrowed`, which markets hold for open sell
    orders. `wholly_frozen`: the whole account is frozen, including what it receives later. `frozen`, `wholly_frozen`
    and `available` are null if the chain does not answer. `share_bps` is the share of all holders' balances in
    hundredths of a percent; the shares of an asset add up to 10,000, unless it has more than 10,000 holders: then each
    is rounded for itself. It is null in a list at a block. `name` is that of the party, wallet, distribution or other
    contract. `eligible`: whether the rules of the token let the account hold it now, and `reasons` why not; null for
    the treasury, for contracts, in a list at a block, and if the chain does not answer.
    """

    address: str
    chain_eid: int
    kind: AddressKind = AddressKind.UNKNOWN
    name: str | None = None
    balance: str
    available: str | None = None
    escrowed: str = "0"
    frozen: str | None = None
    wholly_frozen: bool | None = None
    share_bps: int | None = None
    party_id: UUID | None
    party_name: str | None
    is_treasury: bool
    eligible: bool | None = None
    reasons: list[str] = []


class HolderList(RecordPage):
    """The cap table. `total_balance` is what all holders own, on every chain, and `total_escrowed` the part of it in
    open sell orders. `investors` counts the holders without the treasury and the organization's distributions, each
    once however many chains they hold it on. All three are null in a list at a block."""

    holders: list[Holder]
    total_balance: str | None = None
    total_escrowed: str | None = None
    investors: int | None = None
    nextCursor: str | None


class RulesOnChain(BaseModel):
    """The rules of a token on one chain, with its share of the caps. Amounts are base units; 0 is no limit."""

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
    """Rules that a token took on a chain, and what they changed. `at` is the time of the block. `request_id`, its
    title, its reason and the person who made it are null if no request of the organization wrote them."""

    id: UUID
    chain_eid: int
    chain_name: str | None
    version: int
    rules: RulesOnChain
    changes: list[RuleChange]
    block_number: int
    tx_hash: str
    at: Timestamp
    request_id: UUID | None = None
    request_title: str | None = None
    changed_by_name: str | None = None
    reason: str | None = None


class RuleSetList(RecordPage):
    """A page of the rules history of an asset's tokens."""

    rule_sets: list[RuleSet]
    nextCursor: str | None
