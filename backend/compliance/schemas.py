"""API schemas of compliance rules and of transfer checks."""

from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, Field

from backend.core.fields import (
    KEPT,
    Address,
    Body,
    Countries,
    Eid,
    Flag,
    RegulationType,
    Timestamp,
    TokenAmount,
    UnixTime,
    removed_by,
)

Issuers = Annotated[list[Address], Field(max_length=16)]


class ComplianceRules(Body):
    """The rules of an asset, except its framework, level and holder cap."""

    requires_accreditation: Flag = False
    blocked_countries: Countries = Field(default_factory=list)
    lockup_end_time: UnixTime = 0
    max_tokens_per_holder: TokenAmount = "0"
    trusted_issuers: Issuers = Field(default_factory=list)


class RulesPatch(Body):
    """JSON merge patch of the rules: omitted ones stay unchanged. 0, false or an empty list removes one; null is
    refused."""

    requires_accreditation: Annotated[Flag | None, KEPT, removed_by("false")] = None
    blocked_countries: Annotated[Countries | None, KEPT, removed_by("an empty list")] = None
    lockup_end_time: Annotated[UnixTime | None, KEPT, removed_by("0")] = None
    max_tokens_per_holder: Annotated[TokenAmount | None, KEPT, removed_by('"0"')] = None
    trusted_issuers: Annotated[Issuers | None, KEPT, removed_by("an empty list")] = None


class Preset(BaseModel):
    """Initial values of a framework (configuration, not legal advice): the rules that it sets, and those that it leaves
    unset (`omits`)."""

    regulation_type: RegulationType
    name: str
    summary: str
    enforces: list[str]
    omits: list[str]
    leaves_to_issuer: list[str]
    required_kyc_level: int
    max_holders: int
    requires_accreditation: bool
    blocked_countries: list[str]
    lockup_months: int


class TransferCheck(Body):
    """A transfer to check."""

    chain_eid: Eid
    from_address: Address
    to_address: Address
    amount: TokenAmount


class ResolutionBody(BaseModel):
    """The fields of a call's body that resolve the refusal, as JSON Schema: `const` is the value to send, `examples`
    show values that the caller chooses."""

    type: Literal["object"] = "object"
    required: list[str]
    properties: dict[str, dict[str, Any]]


class Resolution(BaseModel):
    """How to resolve a refusal, and the API call; null if no single call resolves it. `path` is relative to
    `{base_url}`, `href` is the same address in full. `body` is absent where the call needs no fields. `title` names the
    action in a few words, in the problem of a failed request."""

    method: str | None
    path: str | None
    href: str | None
    description: str
    title: str | None = Field(default=None, exclude_if=lambda title: title is None)
    body: ResolutionBody | None = Field(default=None, exclude_if=lambda body: body is None)


class Revocation(BaseModel):
    """The revocation of the latest attestation of an account, or of its party, on a chain.

    `revoked_by_name`: the person who asked for it. `detail` has all of it in words.
    """

    attestation_id: UUID
    party_id: UUID
    revoked_at: Timestamp | None
    revoked_by_name: str | None
    reason: str | None
    detail: str


class RuleVerdict(BaseModel):
    """One rule's verdict on a transfer. `revocation`: why the account is not attested, where its attestation was
    revoked and the caller may read attestations."""

    rule: str
    passed: bool
    code: int
    reason: str
    resolution: Resolution | None = None
    revocation: Revocation | None = Field(default=None, exclude_if=lambda revocation: revocation is None)


class TransferVerdict(BaseModel):
    """Every rule's verdict, and whether the contract on chain agrees."""

    allowed: bool
    chain_agrees: bool
    rules: list[RuleVerdict]


class PresetList(BaseModel):
    """A list of frameworks."""

    presets: list[Preset]
