"""API schemas of caps: each chain of an asset enforces its share of a cap."""

from enum import StrEnum
from typing import Annotated

from pydantic import BaseModel, Field

from backend.core.fields import Body, Count, Eid, Reason, TokenAmount


class CapRule(StrEnum):
    """A rule that is shared among the chains of an asset."""

    MAX_HOLDERS = "max_holders"
    MAX_TOKENS = "max_tokens_per_holder"


class CapShare(Body):
    """A chain's share of the caps; 0 for a cap that the asset does not have."""

    chain_eid: Eid
    max_holders: Count = 0
    max_tokens_per_holder: TokenAmount = "0"


CapShares = Annotated[list[CapShare], Field(max_length=100)]


class CapSharesUpdate(Body):
    """The shares of all chains, and why they are set. They add up to the asset's caps."""

    shares: Annotated[list[CapShare], Field(min_length=1, max_length=100)]
    reason: Reason


class CapEffect(BaseModel):
    """A chain's share of a cap, before (null: no token there yet) and after an operation. `used`: the number of
    holders there, or the largest holding. `total`: the cap itself, after the operation. 0 is no limit."""

    chain_eid: int
    chain_name: str
    rule: CapRule
    before: str | None
    after: str
    used: str
    total: str


class ChainCaps(BaseModel):
    """A chain's share of the caps in force (0: no limit; null: no token there yet), and how much of it is used: the
    number of holders, and the largest holding, both without the treasury."""

    chain_eid: int
    chain_name: str
    max_holders: int | None
    max_tokens_per_holder: str | None
    holders: int
    largest_holding: str


class AssetCaps(BaseModel):
    """The caps of an asset and the share that each chain enforces.

    `is_set_by_hand`: the shares were set by a person; otherwise they are as equal as possible. `in_step`: every chain
    enforces the share that it should have now.
    """

    max_holders: int
    max_tokens_per_holder: str
    is_set_by_hand: bool
    in_step: bool
    chains: list[ChainCaps]


class CapSharesImpact(BaseModel):
    """The shares that would change."""

    caps: list[CapEffect]


class CapSharesPlan(BaseModel):
    """Response to `?dry_run=true`: all checks ran, nothing was changed."""

    steps: list[str]
    impact: CapSharesImpact
