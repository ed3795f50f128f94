"""API schemas of an investor's trading: markets, orders to check, and transactions to sign in their own wallet."""

from uuid import UUID

from pydantic import BaseModel

from backend.core.fields import Address, Body, Record, Timestamp, TokenAmount
from backend.investors.schemas import ClaimPayment, RefusedRule
from backend.markets.schemas import MarketStatus, OrderSide


class InvestorMarket(Record):
    """A market of the organization. `last_price`, `best_bid` and `best_ask` are in base units of the quote currency for
    one whole token; null without a trade or an order. `halt_reason` says why a market is halted."""

    id: UUID
    asset_id: UUID
    name: str
    symbol: str
    decimals: int
    quote_symbol: str
    quote_decimals: int
    chain_eid: int
    chain_name: str
    status: MarketStatus
    halt_reason: str | None
    taker_fee_bps: int
    maker_fee_bps: int
    last_price: str | None
    last_trade_at: Timestamp | None
    best_bid: str | None
    best_ask: str | None


class InvestorMarketList(BaseModel):
    """The markets in which the investor can place orders, by symbol, at most 100."""

    markets: list[InvestorMarket]


class InvestorLevel(BaseModel):
    """All open orders at one price, without their makers. `amount` is in base units of the token."""

    price: str
    amount: str


class InvestorWallet(BaseModel):
    """What a wallet of the investor can use in a market, in base units: `tokens`, without those that are `frozen`, and
    the `quote` currency. `is_frozen`: whether the whole account is frozen, including tokens that it receives later.
    Null while the chain does not answer."""

    address: str
    tokens: str | None
    frozen: str | None
    is_frozen: bool | None
    quote: str | None


class InvestorBook(BaseModel):
    """The order book of a market: the best 10 prices of each side, best first, without orders that cannot be filled
    now. `wallets`: the linked wallets, with which the investor can trade there. `kept`: the wallets that the
    organization keeps for them, with which it places their orders."""

    market: InvestorMarket
    bids: list[InvestorLevel]
    asks: list[InvestorLevel]
    wallets: list[InvestorWallet]
    kept: list[InvestorWallet]


class InvestorOrderCreate(Body):
    """A limit order that the investor signs. `address`: one of their linked wallets. `price`: quote base units per
    whole token; `amount`: token base units."""

    address: Address
    side: OrderSide
    price: TokenAmount
    amount: TokenAmount


class InvestorOrderCheck(BaseModel):
    """Whether an order would be accepted. `refusals`: the rules of token and market that refuse it; `problem`: what
    else prevents it, such as too little money. `total`: price times amount. `fee`: the most that the fee can be. Both
    are in base units of the quote currency. `holds`: what the wallet holds of what the order needs, in base units."""

    allowed: bool
    refusals: list[RefusedRule]
    problem: str | None
    total: str
    fee: str
    holds: str


class InvestorChain(BaseModel):
    """A chain, as a wallet needs it. `chain_id`: in hexadecimal, as wallets expect it. `rpc_url`: a public node, with
    which a wallet can add the chain; null if none is known."""

    chain_eid: int
    chain_id: str
    name: str
    currency: str
    rpc_url: str | None


class PreparedTransaction(BaseModel):
    """A transaction for the investor's wallet, as `eth_sendTransaction` takes it; `title` and `lines` say what it
    does."""

    to: str
    data: str
    value: str
    title: str
    lines: list[str]


class PreparedTransactions(BaseModel):
    """Transactions that the investor's wallet signs and sends in this order, each after the one before is included.
    Signum has no key of this wallet, and nothing was stored: the result appears once the chain has it."""

    chain: InvestorChain
    from_address: str
    transactions: list[PreparedTransaction]


class InvestorClaimCreate(Body):
    """A claim of the investor. `address`: the recipient, one of the investor's addresses."""

    address: Address


class InvestorClaimSent(BaseModel):
    """The organization sends the claim of `address`; the investor's claims show when it is paid."""

    distribution_id: UUID
    address: str
    payment: ClaimPayment
