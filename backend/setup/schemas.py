"""API schemas of the steps to an organization's first market."""

from enum import StrEnum

from pydantic import BaseModel


class SetupStep(StrEnum):
    """A step from an empty organization to its first market."""

    CHAIN = "chain"
    TREASURY = "treasury"
    ISSUER = "issuer"
    PARTY = "party"
    ATTESTATION = "attestation"
    ASSET = "asset"
    MARKET = "market"
    INVITATION = "invitation"


class SetupStepStatus(BaseModel):
    """A step. `count` is what is done (enabled chains, verified parties, active attestations, people besides the
    first), `in_progress` what has begun, such as parties to review; `blocked_by` are undone steps to take before."""

    step: SetupStep
    is_done: bool
    count: int
    in_progress: int
    blocked_by: list[SetupStep]


class Setup(BaseModel):
    """Every step, in the order in which people take them."""

    steps: list[SetupStepStatus]
    is_complete: bool
