"""Compliance rules as they cross the door, and the answer to "can this transfer happen?"."""

from typing import Annotated, Any

from pydantic import BaseModel, Field, WithJsonSchema

from backend.fields import Address, Body, Countries, Eid, Flag, RegulationType, TokenAmount, UnixTime


class ComplianceRules(Body):
    """The rules of an asset beside its framework, level and holder cap."""

    requires_accreditation: Flag = False
    blocked_countries: Countries = Field(default_factory=list)
    lockup_end_time: UnixTime = 0
    max_tokens_per_holder: TokenAmount = "0"
    trusted_issuers: Annotated[list[Address], Field(max_length=16)] = Field(default_factory=list)


def _patch_of(kind: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema of a merge patch: every field may be left out, and null takes it back to its default."""
    fields = kind.model_json_schema()["properties"]
    kinds = {name: {k: v for k, v in field.items() if k not in ("default", "title")} for name, field in fields.items()}
    properties = {name: {"anyOf": [field, {"type": "null"}]} for name, field in kinds.items()}
    return {"type": "object", "additionalProperties": False, "properties": properties}


RulesPatch = Annotated[dict[str, Any], WithJsonSchema(_patch_of(ComplianceRules))]
"""JSON merge patch of the rules."""


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
    """What would put something right, and the call that does it; null where no single call of ours does."""

    method: str | None
    path: str | None
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


class PresetList(BaseModel):
    """The frameworks."""

    presets: list[Preset]
