"""API schemas of an organization's insight."""

from datetime import date
from enum import StrEnum
from uuid import UUID

from pydantic import BaseModel

from backend.assets.schemas import AssetStatus
from backend.core.fields import ChainStatus, Record, Timestamp

DAYS = 90
"""Days of the calendar."""
CHANGE_DAYS = 30
"""Days over which a change is measured."""


class Currency(BaseModel):
    """The quote currency of values and prices."""

    symbol: str
    decimals: int


class Counts(BaseModel):
    """A number, now and 30 days ago, and at the end of each of the `days`. Of a flow (trades, transfers, mints, burns):
    the number within the last 30 days, within the 30 days before, and within the week that ends with each day."""

    now: int
    before: int
    weeks: list[int]


class Amounts(BaseModel):
    """An amount like `Counts`, in base units of the currency; null while there was no price."""

    now: str | None
    before: str | None
    weeks: list[str | None]


class PriceBasis(StrEnum):
    """Where an asset's price comes from. `last_price`: the last trade in any of its markets. `nominal`: it has no trade
    yet, and counts with its nominal value. `none`: it has neither, and does not count. `other_currency`: its markets
    have another quote currency than most, so it does not count."""

    LAST_PRICE = "last_price"
    NOMINAL = "nominal"
    NONE = "none"
    OTHER_CURRENCY = "other_currency"


class AssetInsight(Record):
    """An asset: its supply on all chains in base units of the asset, the price of a whole token, and the value."""

    id: UUID
    name: str
    symbol: str
    decimals: int
    status: AssetStatus
    supply: str
    price: str | None
    basis: PriceBasis
    priced_at: Timestamp | None
    value: Amounts
    holders: Counts
    trades: int


class InsightEventKind(StrEnum):
    """What changed an asset: its first mint, a change of its rules, or a distribution."""

    ISSUE = "issue"
    RULES = "rules"
    DISTRIBUTION = "distribution"


class InsightEvent(BaseModel):
    """An event of an asset on a UTC day of block time. `subject_id` is the asset, or the distribution."""

    day: date
    kind: InsightEventKind
    title: str
    asset_id: UUID
    subject_id: UUID


class Issuance(BaseModel):
    """What was issued, held and traded. `currency` is that of most trades; null without a market and a nominal value.
    `value` is the supply of the assets at their prices. `holders` are addresses that hold any asset: without treasuries
    and contracts, and with what markets hold for their sell orders. `assets` are the 100 of the highest value; the sums
    have all of them. `events` are the newest 200."""

    currency: Currency | None
    value: Amounts
    holders: Counts
    trades: Counts
    volume: Amounts
    mints: Counts
    burns: Counts
    assets: list[AssetInsight]
    events: list[InsightEvent]


class Attesting(BaseModel):
    """Valid attestations, by block time."""

    active: Counts
    issued: Counts


class UpcomingKind(StrEnum):
    """What ends: an attestation, a lock-up, the time to activate a drafted distribution, or to decide an approval."""

    ATTESTATION = "attestation"
    LOCKUP = "lockup"
    DISTRIBUTION = "distribution"
    APPROVAL = "approval"


class Upcoming(BaseModel):
    """Something that ends within 90 days, `in_days` calendar days from today, in UTC. On embedded chains whose clock
    was moved, the end of an attestation or a lock-up counts in the chains' time."""

    kind: UpcomingKind
    at: Timestamp
    in_days: int
    title: str
    subject_id: UUID


class ChainHealth(BaseModel):
    """An enabled chain: its newest block, and by how many blocks the tables are behind."""

    id: UUID
    chain_eid: int
    name: str
    status: ChainStatus
    block: int | None
    lag: int | None
    error: str | None


class Insight(BaseModel):
    """The state of an organization's business, and its last 52 weeks. Parts that the caller may not read are null:
    `issuance` requires assets:read, `transfers` transfers:read, `attestations` attestations:read and `chains`
    chains:read; `upcoming` has what the caller may read.

    Everything is counted from indexed events by the time of their blocks; nothing is estimated. `at` is the chains'
    time, `days` are the UTC days on which a week ends, oldest first; the last one is today. `upcoming` has the first
    200 of `upcoming_total`.
    """

    at: Timestamp
    days: list[date]
    issuance: Issuance | None
    transfers: Counts | None
    attestations: Attesting | None
    upcoming: list[Upcoming]
    upcoming_total: int
    chains: list[ChainHealth] | None


class PriceStep(StrEnum):
    """How long each period of the prices is, in UTC."""

    DAY = "day"
    MONTH = "month"


class AssetPrice(BaseModel):
    """The trades of a period, which begins on `first`. `amount` is in base units of the asset; everything else is in
    base units of the currency, prices for one whole token. `close` is the price of the last trade in any market."""

    first: date
    trades: int
    high: str
    low: str
    close: str
    amount: str
    value: str


class AssetPrices(BaseModel):
    """Prices and volume of an asset across its markets. `currency` is the quote currency of most trades;
    `omitted_markets` of its `markets` have another one and do not count. `price`, `priced_at` and `market_id` are of
    the last trade, and `before` is the last price 30 days ago; null without a trade until then. `first_trade` is the
    day of the first trade. `periods` are those with trades from `since` to `until`, oldest first."""

    currency: Currency | None
    price: str | None
    priced_at: Timestamp | None
    market_id: UUID | None
    before: str | None
    markets: int
    omitted_markets: int
    first_trade: date | None
    since: date
    until: date
    step: PriceStep
    periods: list[AssetPrice]
