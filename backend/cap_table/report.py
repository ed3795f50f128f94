"""A cap table as a report: the numbers of the page, with the block at which each was read."""

from datetime import UTC, datetime

from backend.cap_table.schemas import CapTable, CapTableChain, CapTableHolder, CountryShare, SupplySource
from backend.compliance.countries import country_name
from backend.core.units import DIGITS, grouped, shortened, tabulated
from backend.pdf.reports import Column, Entry, Report, Table

HOLDERS = (
    Column("Holder", 30),
    Column("Country", 15),
    Column("Balance", 18, is_amount=True),
    Column("In orders", 13, is_amount=True),
    Column("Frozen", 13, is_amount=True),
    Column("Share", 9, is_amount=True),
)
CHAINS = (
    Column("Chain", 20),
    Column("Block", 12, is_amount=True),
    Column("Block time (UTC)", 20),
    Column("Total held", 18, is_amount=True),
    Column("Supply on chain", 18, is_amount=True),
    Column("Check", 12),
)
COUNTRIES = (
    Column("Country", 40), Column("Investors", 15, is_amount=True), Column("Balance", 25, is_amount=True),
    Column("Share", 15, is_amount=True),
)  # fmt: skip
REMARKS = (
    f"Amounts are in whole tokens, rounded down to {DIGITS} decimals where they have more, those of chains exact. A "
    "balance includes what a market holds for open sell orders, and frozen tokens. Shares of holders are of all "
    "balances, shares of countries of what investors hold.",
    "Investors are all holders except treasuries and contracts. The check compares the sum of all balances on a chain "
    "with the supply of the token there, read at the same block.",
)
FROM_EVENTS = "Mints less burns until the block; the chain's node does not keep the state of the block."
"""Below a chain whose supply is from its events."""


def report(table: CapTable, asset: str, organization: str) -> Report:
    """Return the report. `table` has every holder, or the largest ones."""
    whole = _Amounts(table)
    return Report(
        title=f"Cap table of {table.symbol}",
        author=organization,
        facts=_facts(table, asset, whole),
        remarks=(*REMARKS, *_omitted(table)),
        tables=[
            Table("Chains", CHAINS, [_chain(chain, table.decimals) for chain in table.chains]),
            Table("Countries", COUNTRIES, [_country(country, whole) for country in table.countries]),
            Table("Holders", HOLDERS, [*[_holder(holder, whole) for holder in table.holders], _total(table, whole)]),
        ],
    )


class _Amounts:
    def __init__(self, table: CapTable) -> None:
        self.decimals = table.decimals

    def __call__(self, units: str) -> str:
        return tabulated(units, self.decimals)


def _facts(table: CapTable, asset: str, whole: _Amounts) -> list[tuple[str, str]]:
    top = table.concentration
    transit = sum(int(one.amount) for one in table.in_transit)
    return [
        ("Asset", f"{asset} ({table.symbol})"),
        ("As of", f"{_minute(table.as_of)} (UTC)"),
        *([("Compared with", f"{_minute(table.compare_with)} (UTC)")] if table.compare_with else []),
        ("Total held", f"{whole(table.total)} {table.symbol}"),
        ("In open orders", f"{whole(table.escrowed)} {table.symbol}"),
        ("Frozen", f"{whole(table.frozen)} {table.symbol}"),
        ("Between chains", f"{whole(str(transit))} {table.symbol}"),
        ("Investors", f"{table.investors:,}, with {whole(table.investors_balance)} {table.symbol}"),
        (
            "Concentration",
            f"largest investor {_percent(top.top_1_bps)}, 5 largest {_percent(top.top_5_bps)}, 10 largest "
            f"{_percent(top.top_10_bps)}",
        ),
    ]


def _omitted(table: CapTable) -> tuple[str, ...]:
    if table.nextCursor is None:
        return ()
    return (f"Only the {len(table.holders):,} largest holders are listed. The sums have all of them.",)


def _chain(chain: CapTableChain, decimals: int) -> Entry:
    """Return a chain with exact amounts: held and supply can differ in the last decimal."""
    check = "not read" if chain.agrees is None else "agrees" if chain.agrees else "differs"
    cells = [
        chain.chain_name,
        f"{chain.block:,}",
        "unknown" if chain.block_time is None else _minute(chain.block_time),
        grouped(chain.held, decimals),
        "" if chain.supply is None else grouped(chain.supply, decimals),
        check,
    ]
    return Entry(cells, FROM_EVENTS if chain.supply_from is SupplySource.EVENTS else "")


def _country(country: CountryShare, whole: _Amounts) -> Entry:
    name = country_name(country.country) if country.country else "Not known"
    return Entry([name, f"{country.holders:,}", whole(country.balance), _percent(country.share_bps)])


def _holder(holder: CapTableHolder, whole: _Amounts) -> Entry:
    name = holder.name or shortened(holder.address)
    note = holder.address
    if holder.earlier is not None:
        note += f", {holder.change or 'unchanged'}, {whole(holder.earlier)} at the earlier time"
    cells = [
        f"{name} (treasury)" if holder.is_treasury else name,
        country_name(holder.country) if holder.country else "",
        whole(holder.balance),
        whole(holder.escrowed),
        whole(holder.frozen),
        _percent(holder.share_bps),
    ]
    return Entry(cells, note)


def _total(table: CapTable, whole: _Amounts) -> Entry:
    share = "100.00%" if int(table.total) else ""
    sums = [whole(table.total), whole(table.escrowed), whole(table.frozen)]
    return Entry(["All holders", "", *sums, share], is_total=True)


def _percent(bps: int) -> str:
    return f"{bps // 100}.{bps % 100:02d}%"


def _minute(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M}"
