"""`signum reconcile`, and the same every night."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta

import sqlalchemy as sa
import structlog
from sqlmodel import col

from backend import db
from backend.chain import endpoints
from backend.errors import SignumError
from backend.nights import every_night
from backend.reconciliation import comparing, tables
from backend.reconciliation.differences import Difference, Report
from backend.reconciliation.models import ReconciliationRow

log = structlog.get_logger()
SECOND_LOOK = 3.0
"""Seconds after which what differed is looked at again: work under way is no difference."""
KEPT = timedelta(days=90)


async def reconcile(eids: Sequence[int] | None = None, second_look: float = SECOND_LOOK) -> Report:
    """Compare the tables with every chain that has a node, or with some. What differs only once is left out."""
    chosen = list(eids) if eids else endpoints.reachable()
    report = await _look(chosen)
    if report.differences:
        await asyncio.sleep(second_look)
        again = await _look(sorted({difference.chain_eid for difference in report.differences}))
        report.differences = [found for found in report.differences if found in again.differences]
        report.unreachable |= again.unreachable
    return report


async def _look(eids: Sequence[int]) -> Report:
    report = Report()
    for eid in eids:
        try:
            found = await _chain(eid, report)
        except SignumError as error:
            report.unreachable[eid] = error.detail
        else:
            report.differences += found
    return report


async def _chain(eid: int, report: Report) -> list[Difference]:
    told = await tables.snapshot(eid)
    if told is None:
        report.unreachable[eid] = "Its logs were never read."
        return []
    found: list[Difference] = []
    for compare in comparing.KINDS:
        found += await compare(told)
        kind = compare.__name__
        report.compared[kind] = report.compared.get(kind, 0) + len(getattr(told, kind))
    return found


async def nightly(stopping: asyncio.Event) -> None:
    """Reconcile once a night, in whichever process comes first; what differs is in the log and in the table."""
    await every_night(stopping, once, "the chains could not be reconciled; it is tried again tomorrow")


async def once() -> ReconciliationRow | None:
    """Tonight's run, kept in the table; None where another process has it."""
    row = ReconciliationRow()
    async with db.worker() as session:
        await session.execute(sa.text("select pg_advisory_xact_lock(hashtextextended('reconciliations', 0))"))
        lately = sa.select(col(ReconciliationRow.id)).where(col(ReconciliationRow.created_at) > db.now() - _NIGHT)
        if await session.scalar(lately.limit(1)) is not None:
            return None
        session.add(row)
        await session.execute(sa.delete(ReconciliationRow).where(col(ReconciliationRow.created_at) < db.now() - KEPT))
    return await _kept(row)


_NIGHT = timedelta(hours=12)


async def _kept(row: ReconciliationRow) -> ReconciliationRow:
    report = await reconcile()
    for difference in report.differences:
        log.warning("reconciliation.difference", **difference._asdict())
    log.info("reconciliation", compared=report.compared, differences=len(report.differences))
    told = report.as_dict() | {"unreachable": {str(eid): why for eid, why in report.unreachable.items()}}
    async with db.worker() as session:
        kept = await session.get_one(ReconciliationRow, row.id)
        for name, value in told.items():
            setattr(kept, name, value)
    return kept
