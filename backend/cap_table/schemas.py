"""API schemas of the cap table."""

from enum import StrEnum
from uuid import UUID

from pydantic import BaseModel

from backend.core.fields import Record, Timestamp
from backend.lists.schemas import RecordPage
from backend.wallets.schemas import AddressKind


class HoldingChange(StrEnum):
    """How a holding changed between two times: it began, ended, grew or shrank."""

    JOINED = "joined"
    LEFT = "left"
    GREW = "grew"
    SHRANK = "shrank"


class SupplySource(StrEnum):
    """What a chain said a supply by. `state`: the token's own figure at the block. `events`: all its mints less all its
    burns until the block, where the chain's node does not keep the state of the block."""

    STATE = "state"
    EVENTS = "events"


class CapTableChain(BaseModel):
    """The asset on a chain at a block, the last one up to the time of the cap table; `block_time` is null if the chain
    does not answer. Amounts in base units. `held` is what all holders own; of it, `escrowed` is in open sell orders and
    `frozen` is frozen. `supply` is the token's total supply at that block as the chain says, and `supply_from` what it
    said it by; null if the chain does not answer, or its nodes neither keep the state of that block nor list all mints
    and burns. `agrees`: whether `held` equals it."""

    chain_eid: int
    chain_name: str
    block: int
    block_time: Timestamp | None
    held: str
    escrowed: str
    frozen: str
    holders: int
    supply: str | None
    supply_from: SupplySource | None
    agrees: bool | None


class InTransit(BaseModel):
    """Supply that had left a chain through a bridge and had not arrived on the other."""

    source_chain_eid: int
    destination_chain_eid: int
    amount: str


class Concentration(BaseModel):
    """Shares of the largest holders in what investors hold, in hundredths of a percent."""

    top_1_bps: int
    top_5_bps: int
    top_10_bps: int


class CountryShare(BaseModel):
    """What investors of a country hold. `country` is that of the party, null where none is known."""

    country: str | None
    holders: int
    balance: str
    share_bps: int


class HoldingChanges(BaseModel):
    """How many holders joined, left, hold more or hold less than at the earlier time."""

    joined: int
    left: int
    grew: int
    shrank: int


class ChainBalance(BaseModel):
    """A holder's balance on a chain."""

    chain_eid: int
    balance: str


class CapTableHolder(Record):
    """A holder on all chains. `balance` is everything the holder owns: with `escrowed`, which markets hold for open
    sell orders, and `frozen`. `share_bps` is the share of all balances in hundredths of a percent; the shares of an
    asset add up to 10,000. `earlier` is the balance at the time of `compare_with`; null without it."""

    address: str
    kind: AddressKind = AddressKind.UNKNOWN
    name: str | None = None
    party_id: UUID | None
    country: str | None
    is_treasury: bool
    is_investor: bool
    balance: str
    escrowed: str
    frozen: str
    share_bps: int
    chains: list[ChainBalance]
    earlier: str | None = None
    change: HoldingChange | None = None


class CapTable(RecordPage):
    """The cap table at `as_of`, from indexed events. `since` is the time of the first mint, null before it.

    `total` is what all holders own on every chain, and `in_transit` what is on its way between chains. Investors are
    all holders except treasuries and contracts; `concentration`, `countries` and `changes` leave out the others.
    `changes` is null without `compare_with`.
    """

    as_of: Timestamp
    compare_with: Timestamp | None
    since: Timestamp | None
    symbol: str
    decimals: int
    total: str
    escrowed: str
    frozen: str
    investors: int
    investors_balance: str
    concentration: Concentration
    countries: list[CountryShare]
    chains: list[CapTableChain]
    in_transit: list[InTransit]
    changes: HoldingChanges | None
    holders: list[CapTableHolder]
    nextCursor: str | None
