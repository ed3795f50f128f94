"""API schemas of an investor's pages. Nothing in them is about another investor; of staff, they name one contact."""

from enum import StrEnum
from uuid import UUID

from pydantic import BaseModel

from backend.core.fields import Network, Record, Timestamp
from backend.markets.schemas import OrderSide, OrderStatus
from backend.parties.schemas import PartyKind, PartyStatus


class InvestorMembership(Record):
    """An organization of which the person is an investor. `agreed_at`: when they agreed to the membership; null where
    the organization could add them without asking, because they already belonged to its hierarchy."""

    id: UUID
    organization_id: UUID
    organization_name: str
    network: Network
    agreed_at: Timestamp | None
    created_at: Timestamp


class InvestorMembershipList(BaseModel):
    """The organizations of which the person is an investor, by name, at most 200."""

    memberships: list[InvestorMembership]


class InvestorParty(Record):
    """The person or company that the organization has recorded for the investor. The reasons of its reviews are the
    organization's own."""

    id: UUID
    kind: PartyKind
    name: str
    country: str
    wallet_address: str | None
    status: PartyStatus
    kyc_level: int
    accredited: bool


class InvestorAddress(BaseModel):
    """An address of the investor. `is_linked`: they have proven that they own it; otherwise, the organization
    recorded it for them. `is_kept`: it is a wallet that the organization keeps."""

    address: str
    is_linked: bool
    is_kept: bool


class InvestorContact(BaseModel):
    """The person of the organization whom the investor can contact."""

    name: str
    email: str


class Investor(BaseModel):
    """The investor, as the organization knows them. Without a party, the organization has not recorded them yet.
    `organizations_above`: their staff see what the organization sees, the nearest first. `agreed_at`: when the person
    agreed to the membership; null where they were added without being asked. `contact`: who added them, or, once that
    person is gone, a compliance officer or an admin; null without one who has an email."""

    id: UUID
    organization_id: UUID
    organization_name: str
    network: Network
    organizations_above: list[str]
    agreed_at: Timestamp | None
    member_since: Timestamp
    parties: list[InvestorParty]
    addresses: list[InvestorAddress]
    contact: InvestorContact | None = None


class InvestorAccount(BaseModel):
    """What one address holds on one chain, in base units. `frozen`: the part of it that is frozen. `is_frozen`: whether
    the whole account is frozen, including tokens that it receives later. These and `available` are null while the chain
    does not answer."""

    chain_eid: int
    chain_name: str
    address: str
    total: str
    in_orders: str
    frozen: str | None
    is_frozen: bool | None
    available: str | None


class InvestorHolding(BaseModel):
    """What the investor holds of an asset, in base units; `total` includes what markets hold for their orders. `since`:
    when one of its accounts first received the asset. `value` is the total at the price of the asset's last trade, in
    base units of that market's quote currency; null without a trade."""

    asset_id: UUID
    name: str
    symbol: str
    decimals: int
    since: Timestamp | None
    total: str
    in_orders: str
    frozen: str | None
    available: str | None
    value: str | None
    price: str | None
    priced_at: Timestamp | None
    quote_symbol: str | None
    quote_decimals: int | None
    accounts: list[InvestorAccount]


class InvestorCash(BaseModel):
    """The amount of a quote currency in one wallet of the investor, in base units; null while the chain does not
    answer."""

    chain_eid: int
    chain_name: str
    address: str
    symbol: str
    decimals: int
    amount: str | None


class InvestorHoldings(BaseModel):
    """Every holding of the investor, by symbol, and the `cash` in their wallets, where the organization has markets."""

    holdings: list[InvestorHolding]
    cash: list[InvestorCash] = []


class RefusedRule(BaseModel):
    """A rule of the asset that the investor does not satisfy."""

    rule: str
    code: int
    reason: str


class Lapse(StrEnum):
    """How the last attestation of an address ended: it `expired`, or the organization `revoked` it."""

    EXPIRED = "expired"
    REVOKED = "revoked"


class InvestorEligibility(BaseModel):
    """Whether an address may hold an asset on a chain. `kyc_level` is the level that counts there, `required_kyc_level`
    the one that the asset requires. `valid_until`: when the attestations of this organization no longer suffice; null
    without an end, and where `is_attested_here` is false, because another organization attested the address or none
    did. `lapse` and `lapsed_at`: how and when the last attestation of this organization ended; null while one is
    valid, and where there was none."""

    asset_id: UUID
    name: str
    symbol: str
    chain_eid: int
    chain_name: str
    address: str
    eligible: bool
    is_held: bool
    is_attested_here: bool
    kyc_level: int
    required_kyc_level: int
    requires_accreditation: bool
    valid_until: Timestamp | None
    lapse: Lapse | None
    lapsed_at: Timestamp | None
    refusals: list[RefusedRule]


class InvestorEligibilities(BaseModel):
    """The investor's eligibility per asset, chain and address; assets that they hold come first. At most 100 assets."""

    eligibility: list[InvestorEligibility]


class InvestorOrder(Record):
    """An order of the investor. Amounts as in the organization's orders. `is_blocked`: it cannot be filled now, because
    the investor is not eligible; `blocked_reason` says why."""

    id: UUID
    asset_id: UUID
    market_id: UUID
    symbol: str
    decimals: int
    quote_symbol: str | None
    quote_decimals: int | None
    chain_eid: int
    chain_name: str
    side: OrderSide
    status: OrderStatus
    price: str
    amount: str
    filled: str
    maker_address: str
    blocked_reason: str | None
    created_at: Timestamp


class InvestorOrders(BaseModel):
    """The investor's orders: the open ones, then the others, each newest first; at most 100."""

    orders: list[InvestorOrder]


class InvestorTrade(Record):
    """A trade of the investor, without the other side. `amount` is in base units of the token; `price`, `value`
    (without the fee) and `fee` are in base units of the quote currency."""

    id: UUID
    asset_id: UUID
    market_id: UUID
    order_id: UUID
    symbol: str
    decimals: int
    quote_symbol: str | None
    quote_decimals: int | None
    chain_eid: int
    chain_name: str
    side: OrderSide
    price: str
    amount: str
    value: str
    fee: str
    tx_hash: str
    executed_at: Timestamp


class InvestorTrades(BaseModel):
    """The investor's trades, newest first; at most 100."""

    trades: list[InvestorTrade]


class ClaimState(StrEnum):
    """`waiting`: the amount can be claimed; `claimed`: it was paid; `closed`: the distribution ended before."""

    WAITING = "waiting"
    CLAIMED = "claimed"
    CLOSED = "closed"


class ClaimPayment(StrEnum):
    """`sending`: the organization sends the claim; `failed`: its last attempt failed."""

    SENDING = "sending"
    FAILED = "failed"


class InvestorClaim(Record):
    """An amount of a distribution that is the investor's. `amount` is in base units of what the distribution pays: the
    asset or a quote currency, which `symbol` and `decimals` describe. `is_kept`: the organization keeps the wallet, and
    sends the claim; `payment` is how far that is, null if it was not asked to."""

    distribution_id: UUID
    name: str
    asset_id: UUID
    symbol: str
    decimals: int
    chain_eid: int
    chain_name: str
    address: str
    amount: str
    state: ClaimState
    is_kept: bool
    payment: ClaimPayment | None
    tx_hash: str | None
    created_at: Timestamp


class InvestorClaims(BaseModel):
    """The investor's amounts: those that wait, then the others, each newest first; at most 100."""

    claims: list[InvestorClaim]


class InvestorStatement(BaseModel):
    """A month (in UTC) with a statement. The current month is not complete: its statement goes up to now."""

    month: str
    is_complete: bool


class InvestorStatements(BaseModel):
    """The months with a statement, the newest first."""

    statements: list[InvestorStatement]
