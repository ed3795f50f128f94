"""What an issuer can do to a token and its holders, as it crosses the door."""

from enum import StrEnum
from uuid import UUID

from pydantic import BaseModel

from backend.fields import Acceptance, Address, Body, Eid, Reason, TokenAmount


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


Control = Mint | Burn | Pause | Freeze | ForcedTransfer | Recover


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
    currency named by `symbol` and `decimals`), orders (a number), or state (words)."""

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
