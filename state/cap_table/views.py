"""The cap table as its tab shows it."""

from dataclasses import dataclass, field
from datetime import date

from backend.cap_table.schemas import CapTable, CapTableChain, CapTableHolder, CountryShare, HoldingChange
from backend.compliance.countries import country_name
from state.assets.holders import KINDS
from state.core.charts import exact
from state.core.dates import stamp
from state.core.units import percent

COLORS = 5
"""Holders with a color of their own; the others are gray."""
CHANGES = {
    HoldingChange.JOINED: "Joined",
    HoldingChange.LEFT: "Left",
    HoldingChange.GREW: "Grew",
    HoldingChange.SHRANK: "Shrank",
}


@dataclass
class HolderRow:
    """A holder; amounts in base units. `place` links the row with its part of the bar, `part` is how wide that is."""

    place: str
    address: str
    name: str
    kind: str
    country: str
    chains: str
    escrowed: str
    frozen: str
    balance: str
    share: str
    part: int
    color: str
    earlier: str = ""
    change: str = ""
    moved: str = ""


@dataclass
class CountryRow:
    """What investors of a country hold; `part` is the width of its bar in percent."""

    name: str
    holders: str
    balance: str
    share: str
    part: float


@dataclass
class ChainRow:
    """A chain at its block, and whether its sums agree: `yes`, `no`, or `unknown`."""

    name: str
    block: int
    time: str
    held: str
    supply: str
    holders: int
    agrees: str
    source: str
    """What the chain said the supply by; empty if it did not."""


@dataclass
class CapTableView:
    """The sums of a cap table; amounts in base units."""

    symbol: str = ""
    decimals: int = 18
    as_of: str = ""
    first_day: str = ""
    last_day: str = ""
    total: str = "0"
    escrowed: str = "0"
    frozen: str = "0"
    transit: str = "0"
    investors: int = 0
    investors_balance: str = "0"
    tops: list[str] = field(default_factory=list)
    countries: list[CountryRow] = field(default_factory=list)
    chains: list[ChainRow] = field(default_factory=list)
    ways: list[str] = field(default_factory=list)
    """What is on its way, by its chains, in words."""
    agrees: str = "unknown"
    counts: dict[str, int] = field(default_factory=dict)
    """Investors by how their holding changed."""
    rest: int = 0
    """The share of the holders on other pages, in hundredths of a percent."""
    summary: str = ""


def table_view(table: CapTable, today: date, chain_names: dict[int, str]) -> CapTableView:
    """Convert the sums. `today` is the newest day that can be asked for."""
    top = table.concentration
    parts = ((1, top.top_1_bps), (5, top.top_5_bps), (10, top.top_10_bps))
    ways = [
        f"{exact(one.amount, table.decimals, table.symbol)} from {chain_names[one.source_chain_eid]} to "
        f"{chain_names[one.destination_chain_eid]}"
        for one in table.in_transit
    ]
    return CapTableView(
        symbol=table.symbol,
        decimals=table.decimals,
        as_of=stamp(table.as_of),
        first_day=table.since.date().isoformat() if table.since else "",
        last_day=today.isoformat(),
        total=table.total,
        escrowed=table.escrowed,
        frozen=table.frozen,
        transit=str(sum(int(one.amount) for one in table.in_transit)),
        investors=table.investors,
        investors_balance=table.investors_balance,
        tops=[percent(part) for n, part in parts if table.investors > n or n == 1],
        countries=_countries(table.countries),
        chains=[_chain(chain) for chain in table.chains],
        ways=ways,
        agrees=_agreement(table.chains),
        counts=table.changes.model_dump() if table.changes else {},
        rest=10_000 - sum(holder.share_bps for holder in table.holders) if table.holders else 0,
        summary=f"Shares of {len(table.holders)} holders, the largest first",
    )


def holder_row(
    holder: CapTableHolder, place: int, symbol: str, decimals: int, chain_names: dict[int, str]
) -> HolderRow:
    """Convert a holder."""
    several = [f"{chain_names[one.chain_eid]} {exact(one.balance, decimals)}" for one in holder.chains]
    moved = int(holder.balance) - int(holder.earlier or holder.balance)
    return HolderRow(
        place=str(place),
        address=holder.address,
        name=holder.name or "",
        kind="Treasury wallet" if holder.is_treasury else KINDS.get(holder.kind, ""),
        country=country_name(holder.country) if holder.country else "",
        chains=" · ".join(several) if len(several) > 1 else "",
        escrowed=holder.escrowed,
        frozen=holder.frozen,
        balance=holder.balance,
        share=percent(holder.share_bps),
        part=holder.share_bps,
        color=f"var(--s{place + 1})" if place < COLORS else "var(--s6)",
        earlier=holder.earlier or "",
        change=CHANGES[holder.change] if holder.change else "",
        moved=f"{'+' if moved > 0 else '−'}{exact(abs(moved), decimals)}" if moved else "",
    )


def _countries(countries: list[CountryShare]) -> list[CountryRow]:
    return [
        CountryRow(
            name=country_name(one.country) if one.country else "Country not known",
            holders=f"{one.holders:,} {'investor' if one.holders == 1 else 'investors'}",
            balance=one.balance,
            share=percent(one.share_bps),
            part=one.share_bps / 100,
        )
        for one in countries
    ]


def _chain(chain: CapTableChain) -> ChainRow:
    return ChainRow(
        name=chain.chain_name,
        block=chain.block,
        time=stamp(chain.block_time),
        held=chain.held,
        supply=chain.supply or "",
        holders=chain.holders,
        agrees=_agreement([chain]),
        source=chain.supply_from or "",
    )


def _agreement(chains: list[CapTableChain]) -> str:
    if any(chain.agrees is False for chain in chains):
        return "no"
    return "yes" if chains and all(chain.agrees for chain in chains) else "unknown"
