"""API schemas of issuer controls over a token and its holders."""

from enum import StrEnum
from typing import Annotated, Any
from uuid import UUID

from pydantic import BaseModel, Field

from backend.core.fields import Acceptance, Address, Body, Eid, Reason, TokenAmount, Whole, removed_by


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
    """Burn `amount` base units of an address. Tokens of an address other than the owner are first taken, then
    burned."""

    chain_eid: Eid
    address: Address
    amount: TokenAmount
    reason: Reason


class Pause(Body):
    """Pause or resume every movement; without a chain, on every chain that has the token."""

    chain_eid: Eid | None = None
    reason: Reason


class Freeze(Body):
    """Freeze or unfreeze `amount` base units of an address; without an amount, the whole account."""

    chain_eid: Eid
    address: Address
    amount: TokenAmount | None = None
    reason: Reason


class FreezeBatch(Body):
    """Accounts to freeze or unfreeze, one request each. A refused item does not stop the others."""

    items: list[Freeze] = Field(min_length=1, max_length=200)


class ForcedTransfer(Body):
    """Take tokens from an address, including frozen ones, and give them to an eligible one."""

    chain_eid: Eid
    from_address: Address
    to_address: Address
    amount: TokenAmount
    reason: Reason


class Recover(Body):
    """Move everything of a lost wallet to a new one of the same person: tokens, frozen amounts, and what its open
    orders hold; the orders are cancelled. The organization's own attestation of the lost wallet is revoked."""

    chain_eid: Eid
    lost_address: Address
    new_address: Address
    reason: Reason


class PausePath(Body):
    """Pause or resume the path between two chains, in both directions. A packet that arrives during a pause waits."""

    source_chain_eid: Eid
    destination_chain_eid: Eid
    reason: Reason


class LimitPath(Body):
    """Let at most `amount` base units pass between two chains in `window_seconds`, both directions together; "0"
    removes the limit. Each of the two tokens counts separately."""

    source_chain_eid: Eid
    destination_chain_eid: Eid
    amount: Annotated[TokenAmount, removed_by('"0"', is_required=True)]
    window_seconds: Annotated[Whole, Field(ge=60, le=31_536_000)] = 86_400
    reason: Reason


Control = Mint | Burn | Pause | Freeze | ForcedTransfer | Recover | PausePath | LimitPath


class ControlAccepted(Acceptance):
    """Response to a control."""

    assetId: UUID


class ControlStep(BaseModel):
    """One transaction of a plan, and its expected gas."""

    name: str
    title: str
    chain_eid: int
    chain_name: str
    gas_estimate: int


class Change(BaseModel):
    """One change. `field` is supply, balance, frozen or quote (base units of the token or the quote currency, which
    `symbol` and `decimals` name), orders (a number), or state, path, limit and attestation (text). `address_name` is
    the name of the party or wallet with the address."""

    chain_eid: int
    address: str | None = None
    address_name: str | None = None
    field: str
    before: str
    after: str
    symbol: str | None = None
    decimals: int | None = None


class ControlImpact(BaseModel):
    """What a control would do, and whether a second person must approve it: by the organization's policy, or because
    its amount exceeds the daily limit."""

    changes: list[Change]
    warnings: list[str]
    needs_second_person: bool = False


class ControlPlan(BaseModel):
    """Response to `?dry_run=true`: all checks ran, nothing was changed."""

    steps: list[ControlStep]
    impact: ControlImpact


class FreezeBatchResult(BaseModel):
    """The result of an item, in the order of the items: its acceptance, or its problem."""

    chain_eid: int
    address: str
    acceptance: ControlAccepted | None = None
    problem: dict[str, Any] | None = None


class FreezeBatchAccepted(BaseModel):
    """Response to a batch: counts of its items, and their results."""

    accepted: int
    refused: int
    results: list[FreezeBatchResult]


class FreezeItemPlan(BaseModel):
    """The plan of an item, in the order of the items, or its problem."""

    chain_eid: int
    address: str
    plan: ControlPlan | None = None
    problem: dict[str, Any] | None = None


class FreezeBatchPlan(BaseModel):
    """Response to `?dry_run=true`: counts of the items that would be accepted and refused, and their plans."""

    accepted: int
    refused: int
    results: list[FreezeItemPlan]


class AssetPath(BaseModel):
    """The bridge path from one of an asset's tokens to another, as the first token stores it now. `limit` and
    `available` are base units, null without a limit; `available` is what may pass immediately."""

    chain_eid: int
    other_chain_eid: int
    is_paused: bool
    limit: str | None
    window_seconds: int | None
    available: str | None


class AssetPathList(BaseModel):
    """Every bridge path of an asset, in one page."""

    paths: list[AssetPath]
    nextCursor: None = None
