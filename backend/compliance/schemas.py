"""Compliance rules as they cross the door, and the answer to "can this transfer happen?"."""

from typing import Annotated

from pydantic import BaseModel, Field

from backend.fields import Address, Body, Countries, Eid, RegulationType, TokenAmount, UnixTime


class ComplianceRules(Body):
    """The rules of an asset beside its framework, level and holder cap."""

    requires_accreditation: bool = False
    blocked_countries: Countries = Field(default_factory=list)
    lockup_end_time: UnixTime = 0
    max_tokens_per_holder: TokenAmount = "0"
    trusted_issuers: Annotated[list[Address], Field(max_length=16)] = Field(default_factory=list)


class Preset(BaseModel):
    """Values a framework starts from (configuration, not legal advice)."""

    regulation_type: RegulationType
    name: str
    summary: str
    enforces: list[str]
    leaves_to_issuer: list[str]
    required_kyc_level: int
    max_holders: int
    requires_accreditation: bool
    blocked_countries: list[str]
    lockup_months: int


class TransferCheck(Body):
    """A transfer that has not happened."""

    chain_eid: Eid
    from_address: Address
    to_address: Address
    amount: TokenAmount


class Resolution(BaseModel):
    """The call that would put something right."""

    method: str
    path: str
    description: str


class RuleVerdict(BaseModel):
    """One rule's word on a transfer."""

    rule: str
    passed: bool
    code: int
    reason: str
    resolution: Resolution | None = None


class TransferVerdict(BaseModel):
    """Every rule, and whether the contract on chain comes to the same end."""

    allowed: bool
    chain_agrees: bool
    rules: list[RuleVerdict]
