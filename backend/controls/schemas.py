"""What an issuer can do to a token and its holders, as it crosses the door."""

from enum import StrEnum
from typing import Annotated
from uuid import UUID

from pydantic import BaseModel, Field

from backend.fields import Acceptance, Address, Body, Eid, Reason, TokenAmount, Whole


class ControlKind(StrEnum):
    """One control each; a request's kind is `token.{kind}`."""

    MINT = "mint"
    BURN = "burn"
    PAUSE = "pause"
    UNPAUSE = "unpause"
    FREEZE = "freeze"
    UNFREEZE = "unfreeze"
    FORCED_TRANSFER = "forced_transfer"
    RECOVER = "recover"
    PAUSE_PATH = "pause_path"
    UNPAUSE_PATH = "unpause_path"
    LIMIT_PATH = "limit_path"


class Mint(Body):
    """Issue `amount` base units to an eligible receiver, or to the treasury."""

    chain_eid: Eid
    to_address: Address
    amount: TokenAmount
    reason: Reason | None = None


class Burn(Body):
    """Destroy `amount` base units of an address. Another's than the owner's are taken first, then destroyed."""

    chain_eid: Eid
    address: Address
    amount: TokenAmount
    reason: Reason


class Pause(Body):
    """Stop every movement, or let it go on; without a chain, on every chain that has the token."""

    chain_eid: Eid | None = None
    reason: Reason


class Freeze(Body):
    """Freeze `amount` base units of an address more, or fewer; without an amount, the whole account."""

    chain_eid: Eid
    address: Address
    amount: TokenAmount | None = None
    reason: Reason


class ForcedTransfer(Body):
    """Take from an address, frozen tokens too, and give to an eligible one."""

    chain_eid: Eid
    from_address: Address
    to_address: Address
    amount: TokenAmount
    reason: Reason


class Recover(Body):
    """Move everything of a lost wallet to a new one of the same person: tokens, frozen amounts, and what lies in its
    open orders, which end."""

    chain_eid: Eid
    lost_address: Address
    new_address: Address
    reason: Reason


class PausePath(Body):
    """Stop what goes between two chains, in both directions, or let it go on. A packet that arrives meanwhile waits."""

    source_chain_eid: Eid
    destination_chain_eid: Eid
    reason: Reason


class LimitPath(Body):
    """Let at most `amount` base units pass between two chains in `window_seconds`, both directions together; without an
    amount the limit is removed. Each of the two tokens keeps its own account of it."""

    source_chain_eid: Eid
    destination_chain_eid: Eid
    amount: TokenAmount | None = None
    window_seconds: Annotated[Whole, Field(ge=60, le=31_536_000)] = 86_400
    reason: Reason


Control = Mint | Burn | Pause | Freeze | ForcedTransfer | Recover | PausePath | LimitPath


class ControlAccepted(Acceptance):
    """Answer to a control."""

    assetId: UUID


class ControlStep(BaseModel):
    """One transaction of a plan, and the gas it is expected to cost."""

    name: str
    title: str
    chain_eid: int
    chain_name: str
    gas_estimate: int


class Change(BaseModel):
    """What would be different. `field` is supply, balance or frozen (base units of the token), quote (base units of the
    currency named by `symbol` and `decimals`), orders (a number), or state, path and limit (words)."""

    chain_eid: int
    address: str | None = None
    field: str
    before: str
    after: str
    symbol: str | None = None
    decimals: int | None = None


class ControlImpact(BaseModel):
    """What a control would do."""

    changes: list[Change]
    warnings: list[str]


class ControlPlan(BaseModel):
    """Answer of `?dry_run=true`: every check was made and nothing was done."""

    steps: list[ControlStep]
    impact: ControlImpact


class AssetPath(BaseModel):
    """The bridge path from one of an asset's tokens to another, as the first token has it now. `limit` and `available`
    are base units, null without a limit; `available` is what may pass at once."""

    chain_eid: int
    other_chain_eid: int
    is_paused: bool
    limit: str | None
    window_seconds: int | None
    available: str | None


class AssetPathList(BaseModel):
    """Every bridge path of an asset: one page."""

    paths: list[AssetPath]
    nextCursor: None = None
