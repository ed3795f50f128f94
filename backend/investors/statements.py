"""Statements of a month, as CSV and as PDF with the same lines."""

import csv
import io
from uuid import UUID

from backend.auth.principal import Context
from backend.core import db, threads
from backend.core.threads import Work
from backend.exports.csv_lists import cell
from backend.investors import profile, statement_lines, statement_pdf
from backend.investors.rules import months_between
from backend.investors.schemas import InvestorStatement, InvestorStatements

COLUMNS = ("time", "entry", "asset", "chain", "in", "out", "balance", "price", "value", "fee", "currency", "tx_hash")


async def months(context: Context) -> InvestorStatements:
    """Return the months with a statement, the newest first: from the first change to the current month."""
    first, today = await statement_lines.first_change(context), db.now()
    shown = [] if first is None else months_between(first, max(first, today))
    return InvestorStatements(
        statements=[InvestorStatement(month=month, is_complete=month < f"{today:%Y-%m}") for month in reversed(shown)]
    )


async def as_csv(context: Context, month: str) -> str:
    """Return the statement of a month (`2026-11`, in UTC) as CSV."""
    statement = await statement_lines.read(context, month)
    written = io.StringIO()
    writer = csv.writer(written)
    writer.writerow(COLUMNS)
    for asset in statement.assets:
        for line in asset.lines:
            writer.writerow([cell(line.get(column)) for column in COLUMNS])
    return written.getvalue()


async def as_pdf(context: Context, membership_id: UUID, month: str) -> bytes:
    """Enter the organization; return the statement of a month as PDF. The same statement gives the same bytes."""
    owner = await profile.investor(context, membership_id)
    statement = await statement_lines.read(context, month)
    async with db.paused(context.session), threads.turn(Work.REPORTS):
        return await threads.run(Work.REPORTS, statement_pdf.draw, owner, month, statement)
