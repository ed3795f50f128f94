"""API schemas of an operation's effects: who is affected, by name and with the reason, the same in every dry run."""

from enum import StrEnum
from uuid import UUID

from pydantic import BaseModel

MOST = 1_000
"""Entries of a list of effects; its total counts all."""


class StandingSource(StrEnum):
    """Where attestations were read: on the `chain`, at one block, or in Signum's `tables` (only this organization's
    own attestations), if the chain does not answer in time or too many accounts are concerned."""

    CHAIN = "chain"
    TABLES = "tables"


class AccountKind(StrEnum):
    """What an address is to the organization."""

    PARTY = "party"
    OWN_WALLET = "own_wallet"
    LINKED_WALLET = "linked_wallet"
    DISTRIBUTOR = "distributor"
    MARKET = "market"
    UNKNOWN = "unknown"


class AsOf(BaseModel):
    """The block at which the attestations of a chain were read; null if they come from the tables."""

    chain_eid: int
    chain_name: str
    block: int | None
    source: StandingSource


class HolderEffect(BaseModel):
    """A holder on one chain who is, or would become, ineligible, and which rules say so. `balance` (base units)
    includes `escrowed`, which markets hold for open sell orders. `can_send`: the new rules still let this holder send
    the token to an eligible receiver; a market may refuse its sell orders under rules of its own."""

    wallet_address: str
    name: str | None
    kind: AccountKind
    party_id: UUID | None
    chain_eid: int
    chain_name: str
    balance: str
    escrowed: str
    can_send: bool = True
    reasons: list[str]


class OrderEffect(BaseModel):
    """An open order whose maker would be ineligible, so that it could not be filled. `rest` is in base units of the
    token, `price` in base units of the quote currency for one whole token. `is_new` is false if the maker already is
    ineligible under the current rules."""

    order_id: UUID
    market_id: UUID
    chain_eid: int
    chain_name: str
    side: str
    maker_address: str
    maker_name: str | None
    rest: str
    price: str
    is_new: bool
    reason: str


class ClaimEffect(BaseModel):
    """An unclaimed amount of an active distribution whose recipient would become ineligible: the token refuses the
    claim until the recipient is eligible again."""

    distribution_id: UUID
    distribution_name: str
    chain_eid: int
    chain_name: str
    recipient_address: str
    recipient_name: str | None
    amount: str
    reason: str


class MarketImpact(BaseModel):
    """A market, and whether the new rules would halt it. `stricter`: changed rules of which the market's own refuse
    more, such as `max_tokens_per_holder`: the change does not reach it, because the rules of a market are final."""

    market_id: UUID
    chain_eid: int
    chain_name: str
    halts: bool
    reason: str
    stricter: list[str] = []


class Effects(BaseModel):
    """Who and what an operation affects. Lists have at most 1,000 entries; the totals count all.

    `holders_total` are all holders without the treasury and without contracts of distributions. Contracts that cannot
    pay afterwards, because the rules refuse them, are `distributions_unable`.
    `holders_excluded` are those who would violate a rule that they satisfy now, `holders_ineligible` the others who
    already violate the current rules. Both have an entry for each chain; the totals count each address once, among
    `holders_excluded` if it is in both. `holders_unable_to_send_total` counts those of `holders_excluded` who cannot
    send the token either, on at least one chain.
    """

    as_of: list[AsOf] = []
    holders_total: int = 0
    holders_excluded_total: int = 0
    holders_excluded: list[HolderEffect] = []
    holders_unable_to_send_total: int = 0
    holders_ineligible_total: int = 0
    holders_ineligible: list[HolderEffect] = []
    distributions_unable: list[HolderEffect] = []
    orders_total: int = 0
    orders: list[OrderEffect] = []
    claims_total: int = 0
    claims: list[ClaimEffect] = []
    markets: list[MarketImpact] = []
