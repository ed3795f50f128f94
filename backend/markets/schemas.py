"""API schemas of markets and orders (specification 4.2, 4.10)."""

from datetime import date
from enum import StrEnum
from typing import Annotated
from uuid import UUID

from pydantic import BaseModel, Field

from backend.caps.schemas import CapEffect, CapShares
from backend.chain.finality import Finality
from backend.compliance.impact_schemas import Effects
from backend.core.fields import (
    Acceptance,
    Address,
    Body,
    Bps,
    Count,
    Countries,
    Eid,
    Flag,
    Id,
    KycLevel,
    NullIs,
    Record,
    RegulationType,
    Timestamp,
    TokenAmount,
    UnixTime,
)
from backend.lists.schemas import RecordPage


class MarketStatus(StrEnum):
    """`pending_bridge → deploying → active ⇄ halted`; `failed`. If the token is already there, it starts at deploying.
    A market halted by its owner, a pause of the token or a change of its rules becomes active again when that ends."""

    PENDING_BRIDGE = "pending_bridge"
    DEPLOYING = "deploying"
    ACTIVE = "active"
    HALTED = "halted"
    FAILED = "failed"


class OrderStatus(StrEnum):
    """`pending → open → partial → filled`; `open, partial → cancelled`; `pending → failed`. A pending order is accepted
    and not on the chain yet. A reorganization of the chain can undo the last changes."""

    PENDING = "pending"
    OPEN = "open"
    PARTIAL = "partial"
    FILLED = "filled"
    CANCELLED = "cancelled"
    FAILED = "failed"


class OrderSide(StrEnum):
    """Side of the order book."""

    BUY = "buy"
    SELL = "sell"


class MarketCreate(Body):
    """A deploy request. Omitted rules come from the asset. `bridge_amount`: base units that the treasury gets on the
    chain if the asset is bridged there first; with 0 only the asset and its rules arrive. `expected_caps`: the shares
    of the asset's caps that every chain would have afterwards, as the dry run's `caps` shows them; 409 if they would be
    others."""

    chain_eid: Eid = Field(json_schema_extra={"default": 40362})
    market_factory_address: Address
    rwa_token_address: Address | None = None
    bridge_amount: TokenAmount = "0"
    regulation_type: RegulationType | None = None
    min_kyc_level: KycLevel | None = None
    requires_accreditation: Flag | None = None
    blocked_countries: Countries | None = None
    lockup_end_time: UnixTime | None = None
    max_holders: Count | None = None
    max_tokens_per_holder: TokenAmount | None = None
    taker_fee_bps: Annotated[Bps, NullIs(30)] = 30
    maker_fee_bps: Annotated[Bps, NullIs(0)] = 0
    expected_caps: CapShares | None = None


class MarketAccepted(Acceptance):
    """Response to a deploy request."""

    marketId: UUID
    assetId: UUID
    chainEid: int


class Market(Record):
    """A market record. The rules were read back from the chain when it became active; `halt_reason` says why it is
    halted there. `stricter_rules` names those that refuse more than the asset's do now: rules of a market are final, a
    change of the asset's does not reach them. `volume` is the amount of all trades in base units of the token,
    `last_price` the price of the newest trade, in base units of the quote currency for one whole token.
    `awaits_approval`: its request waits for a second person, and nothing is deployed until then. Events lack it."""

    id: UUID
    organization_id: UUID
    asset_id: UUID
    asset_symbol: str | None = None
    asset_name: str | None = None
    asset_decimals: int | None = None
    chain_eid: int
    chain_name: str | None = None
    status: MarketStatus
    awaits_approval: bool | None = None
    request_id: UUID | None
    bridge_id: UUID | None
    market_address: str | None
    rwa_token_address: str | None
    market_factory_address: str
    quote_token_address: str | None
    quote_symbol: str | None
    quote_decimals: int | None
    regulation_type: RegulationType
    min_kyc_level: int
    requires_accreditation: bool
    blocked_countries: list[str]
    lockup_end_time: int
    max_holders: int
    max_tokens_per_holder: str
    taker_fee_bps: int
    maker_fee_bps: int
    failure: str | None
    halt_reason: str | None
    stricter_rules: list[str] = []
    volume: str = "0"
    last_price: str | None = None
    last_trade_at: Timestamp | None = None
    created_at: Timestamp
    updated_at: Timestamp


class MarketList(RecordPage):
    """A page of markets."""

    markets: list[Market]
    nextCursor: str | None


class PlanStep(BaseModel):
    """One step of a plan: what happens, on which chain, and its expected gas."""

    name: str
    title: str
    chain_eid: int
    chain_name: str
    detail: str
    gas_estimate: int | None = None


class PlanCost(BaseModel):
    """What a plan's gas may cost on a chain at its present price, in wei of the chain's currency."""

    chain_eid: int
    chain_name: str
    amount: str
    currency: str


class MarketPlanImpact(BaseModel):
    """What a deployment would do and cost. `effects` names the holders who could not trade in the market, or who would
    exceed the share of a cap that their chain keeps. `caps`: the shares of the asset's caps that change."""

    will_bridge: bool
    source_chain_eid: int | None
    rules: dict[str, str]
    taker_fee_bps: int
    maker_fee_bps: int
    eligible_parties: int
    effects: Effects = Field(default_factory=Effects)
    caps: list[CapEffect] = Field(default_factory=list)
    costs: list[PlanCost] = []
    warnings: list[str]


class MarketPlan(BaseModel):
    """Response to `?dry_run=true`: nothing was changed."""

    steps: list[PlanStep]
    impact: MarketPlanImpact


class OrderCreate(Body):
    """A limit order from a server wallet. `price`: quote base units per whole token; `amount`: token base units."""

    side: OrderSide
    price: TokenAmount
    amount: TokenAmount
    wallet_id: Id


class OrderCheck(Body):
    """A hypothetical order by any address; `amount` in base units of the token."""

    side: OrderSide
    address: Address
    amount: TokenAmount


class OrderAccepted(Acceptance):
    """Response to place and cancel."""

    orderId: UUID
    marketId: UUID


class OwnOrder(BaseModel):
    """An open order of the organization's own wallets that a new order would meet. `fills`: the new order would trade
    with it; false for an order of the same wallet, which the contract skips. `amount`: its unfilled amount, in base
    units of the token; `price` in base units of the quote currency for one whole token."""

    order_id: UUID
    wallet_address: str
    wallet_name: str
    price: str
    amount: str
    fills: bool


class OrderImpact(BaseModel):
    """What an order would commit or release: at most `amount` base units of `currency`, fees included. `price` is in
    base units of the quote currency for one whole token. `own_orders`: the open orders of the same owner that it would
    meet, best price first."""

    order_id: UUID | None = None
    market_id: UUID
    side: OrderSide
    price: str
    wallet_address: str
    amount: str
    currency: str
    own_orders: list[OwnOrder] = []


class OrderPlan(BaseModel):
    """Response to `?dry_run=true`: all checks ran, nothing was changed."""

    steps: list[str]
    impact: OrderImpact


class Order(Record):
    """An order. `chain_order_id`, its number in the market's contract, and its transaction are null while it is
    pending, and if it `failed`; `failure` then says why. `request_id` is null if it was placed outside Signum.
    `finality` is the finality of its transaction's block, in the chain's terms; null if Signum did not send the
    transaction. `blocked_reason` says why an open order cannot be filled now: its maker is ineligible under the rules
    of the token or the market. The order stays until it is cancelled, and is filled once the maker is eligible again.
    `awaits_approval`: its request waits for a second person, and nothing is placed until then. Events lack it."""

    id: UUID
    asset_id: UUID
    market_id: UUID
    request_id: UUID | None
    chain_order_id: int | None
    side: OrderSide
    status: OrderStatus
    awaits_approval: bool | None = None
    price: str
    amount: str
    filled: str
    maker_address: str
    maker_name: str | None = None
    tx_hash: str | None
    finality: Finality | None = None
    failure: str | None
    blocked_reason: str | None = None
    created_at: Timestamp
    updated_at: Timestamp


class OrderList(RecordPage):
    """A page of orders."""

    orders: list[Order]
    nextCursor: str | None


class Trade(Record):
    """A fill of a resting order, the maker's, by a new one, the taker's, at the maker's `price`. `amount` is in base
    units of the token; `value`, without the fees, and both fees are in base units of the quote currency. `executed_at`
    is the time of its block."""

    id: UUID
    asset_id: UUID
    market_id: UUID
    chain_eid: int
    price: str
    amount: str
    value: str
    taker_fee: str
    maker_fee: str
    taker_side: OrderSide | None
    maker_order_id: UUID | None
    taker_order_id: UUID | None
    buyer_address: str | None
    buyer_name: str | None = None
    seller_address: str | None
    seller_name: str | None = None
    tx_hash: str
    block_number: int
    finality: Finality | None = None
    executed_at: Timestamp


class TradeList(RecordPage):
    """A page of trades."""

    trades: list[Trade]
    nextCursor: str | None


class DailyPrice(BaseModel):
    """The trades of a UTC day by block time. `amount` is in base units of the token; everything else is in base units
    of the quote currency, prices for one whole token."""

    day: date
    trades: int
    open: str
    high: str
    low: str
    close: str
    amount: str
    value: str


class DailyPrices(BaseModel):
    """The days with trades from `since` to `until`, oldest first."""

    since: date
    until: date
    days: list[DailyPrice]
