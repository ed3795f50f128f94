"""`signum reconcile`, and the same every night."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta

import sqlalchemy as sa
import structlog
from sqlmodel import col

from backend import db
from backend.chain import alarms, endpoints, indexer
from backend.chain.models import AlarmKind
from backend.chain.rpc import connect
from backend.chain.terms import terms_of
from backend.errors import SignumError
from backend.nights import every_night
from backend.reconciliation import comparing, records, tables
from backend.reconciliation.differences import Difference, Report, place
from backend.reconciliation.models import ReconciliationRow
from backend.reconciliation.repairs import read_again, repair

log = structlog.get_logger()
SECOND_LOOK = 3.0
"""Seconds after which what differed is looked at again: work under way is no difference."""
LONGEST_PAUSE = 30.0
"""Seconds of the same on a chain whose newest state is compared, at most."""
KEPT = timedelta(days=90)


async def reconcile(
    eids: Sequence[int] | None = None, second_look: float | None = None, *, repairs: bool = False
) -> Report:
    """Compare the tables with every chain that has a node, or with some, and repair what re-reading the chain can.

    What differs only once is left out: `second_look` is the pause in seconds, by default long enough for work under
    way. Alarms about what differs are opened by a run that repairs, and closed by any run that does not find it.
    Alarms about events that could not be written are closed by a run that repairs and writes them.
    """
    chosen = list(eids) if eids else endpoints.reachable()
    report = await _look(chosen)
    if report.differences:
        await _look_again(report, second_look)
    if repairs:
        await _repair(report)
    read = [eid for eid in chosen if eid not in report.unreachable]
    await records.note_left(report.differences, read, opens=repairs)
    for eid in read if repairs else ():
        await _write_left_out(eid, report)
    return report


async def _write_left_out(eid: int, report: Report) -> None:
    """Read contracts again of which events were left out, and close the alarm of each that is written and agrees. What
    was left out need not differ in anything that is compared."""
    differ = records.alarms_of(found for found in report.differences if found.chain_eid == eid)
    async with db.worker() as session:
        left_out = {
            row.subject: row for row in await alarms.list_open(session, eid) if row.kind is AlarmKind.UNREADABLE
        }
    try:
        written = await read_again(eid, left_out)
    except SignumError as error:
        log.warning("reconciliation.repair_failed", eid=eid, kinds="left out", error=error.detail)
        return
    async with db.worker() as session:
        for address in written - differ.keys():
            await alarms.close(session, left_out[address])


async def _look_again(report: Report, second_look: float | None) -> None:
    """Leave out what differed only once."""
    eids = sorted({difference.chain_eid for difference in report.differences})
    await asyncio.sleep(max(map(_pause, eids)) if second_look is None else second_look)
    again = await _look(eids)
    report.differences = [found for found in report.differences if found in again.differences]
    report.unreachable |= again.unreachable


def _pause(eid: int) -> float:
    """Seconds until what a chain does now is in the tables."""
    terms = terms_of(eid)
    if terms.history != 0:
        return SECOND_LOOK
    return min(LONGEST_PAUSE, max(SECOND_LOOK, (terms.confirmations + 2) * terms.block_time))


async def _repair(report: Report) -> None:
    """Repair what can be, and look what of it still differs."""
    eids = sorted({difference.chain_eid for difference in report.differences})
    for eid in eids:
        await repair(eid, [found for found in report.differences if found.chain_eid == eid])
    if not eids:
        return
    left = await _look(eids)
    places = {place(found): found for found in left.differences}
    unread = set(left.unreachable)
    report.repaired = [
        found for found in report.differences if place(found) not in places and found.chain_eid not in unread
    ]
    report.differences = [
        places.get(place(found), found) for found in report.differences if found not in report.repaired
    ]
    report.unreachable |= left.unreachable
    await records.note_repairs(report.repaired)


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
    if terms_of(eid).history == 0:
        await _catch_up(eid)
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


async def _catch_up(eid: int) -> None:
    """Bring the tables to the newest block: older state cannot be read there."""
    height = await (await connect(eid)).height()
    await indexer.catch_up(eid, max(0, height - terms_of(eid).confirmations))


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
    report = await reconcile(repairs=True)
    for difference in report.differences:
        log.warning("reconciliation.difference_found", **difference._asdict())
    for difference in report.repaired:
        log.warning("reconciliation.difference_repaired", **difference._asdict())
    found, repaired = len(report.differences), len(report.repaired)
    log.info("reconciliation.finished", compared=report.compared, differences=found, repaired=repaired)
    told = report.as_dict() | {"unreachable": {str(eid): why for eid, why in report.unreachable.items()}}
    async with db.worker() as session:
        kept = await session.get_one(ReconciliationRow, row.id)
        for name, value in told.items():
            setattr(kept, name, value)
    return kept
