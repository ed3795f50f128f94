"""A statement as a report: the lines of the CSV, a table per asset."""

from datetime import UTC, datetime

from backend.investors.schemas import Investor
from backend.investors.statement_lines import AssetLines, Statement
from backend.pdf import drawing
from backend.pdf.reports import Column, Entry, Report, Table

COLUMNS = (
    Column("Time (UTC)", 19.5),
    Column("Entry", 16.5),
    Column("In", 12, is_amount=True),
    Column("Out", 12, is_amount=True),
    Column("Balance", 14.5, is_amount=True),
    Column("Price", 9, is_amount=True),
    Column("Value", 12, is_amount=True),
    Column("Fee", 8.5, is_amount=True),
    Column("Currency", 8),
)
AMOUNTS = ("in", "out", "balance", "price", "value", "fee")
REMARKS = (
    "Amounts are in whole tokens, prices, values and fees in the currency named beside them. A balance includes what a "
    "market holds for open orders.",
    "The value of the closing balance is at the price of the last trade before the end of the period; without a trade, "
    "it is empty.",
)


def draw(owner: Investor, month: str, statement: Statement) -> bytes:
    """Return the statement of a month as PDF."""
    return drawing.draw(report(owner, month, statement))


def report(owner: Investor, month: str, statement: Statement) -> Report:
    """Return the statement of a month as a report."""
    facts = [
        ("Organization", owner.organization_name),
        ("Investor", ", ".join(party.name for party in owner.parties) or "Not recorded by the organization"),
        *[("Wallet", address.address) for address in owner.addresses],
        ("Period", f"{_minute(statement.start)} to {_minute(statement.end)} (UTC)"),
    ]
    none = () if statement.assets else ("No holdings and no changes in this period.",)
    return Report(
        title=f"Statement for {datetime.fromisoformat(f'{month}-01'):%B %Y}",
        author=owner.organization_name,
        facts=facts,
        remarks=none or REMARKS,
        tables=[_table(asset) for asset in statement.assets],
    )


def _table(asset: AssetLines) -> Table:
    return Table(f"{asset.name} ({asset.symbol})", COLUMNS, [_entry(line) for line in asset.lines])


def _entry(line: dict[str, str | None]) -> Entry:
    time = (line["time"] or "").replace("T", " ").removesuffix("Z")
    entry, currency = line["entry"] or "", line.get("currency") or ""
    amounts = [grouped(line.get(name) or "") for name in AMOUNTS]
    note = f"{line['chain']}, transaction {line['tx_hash']}" if line.get("tx_hash") else ""
    cells = [time, entry.capitalize(), *amounts, currency]
    return Entry(cells, note, is_total=entry.endswith("balance"))


def grouped(amount: str) -> str:
    """Return an amount in whole units with its thousands grouped: `"11832.5"` is `"11,832.5"`."""
    whole, point, part = amount.partition(".")
    return f"{int(whole):,}{point}{part}" if whole else ""


def _minute(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M}"
