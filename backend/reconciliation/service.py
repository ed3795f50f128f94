"""`signum reconcile`, and the nightly run."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta

import sqlalchemy as sa
import structlog
from sqlmodel import col

from backend.chain import alarms
from backend.chain.indexer import indexer
from backend.chain.models import AlarmKind
from backend.chain.rpc import node_urls
from backend.chain.rpc.json_rpc import connect
from backend.chain.rpc.terms import terms_of
from backend.core import db
from backend.core.errors import SignumError
from backend.engine.schedules import nightly
from backend.reconciliation import comparison, records, tables
from backend.reconciliation.differences import Difference, Report, place
from backend.reconciliation.models import ReconciliationRow
from backend.reconciliation.repairs import read_again, repair

log = structlog.get_logger()
SECOND_LOOK = 3.0
"""Seconds after which differences are checked again: work in progress is not a difference."""
LONGEST_PAUSE = 30.0
"""Maximum of the same pause, in seconds, on a chain whose newest state is compared."""
KEPT = timedelta(days=90)


async def reconcile(
    eids: Sequence[int] | None = None, second_look: float | None = None, *, repairs: bool = False
) -> Report:
    """Compare the tables with every chain that has a node, or with some, and repair what re-reading the chain can.

    A difference seen only once is ignored: `second_look` is the pause in seconds before the second comparison, by
    default long enough for work in progress. A repairing run opens alarms about differences; any run that does not find
    them closes them. Alarms about events that could not be written are closed by a repairing run that writes them.
    """
    chosen = list(eids) if eids else node_urls.reachable()
    report = await _look(chosen)
    if report.differences:
        await _look_again(report, second_look)
    if repairs:
        await _repair(report)
    read = [eid for eid in chosen if eid not in report.unreachable]
    await records.note_left(report.differences, read, opens=repairs)
    for eid in read if repairs else ():
        await _reread_skipped(eid, report)
    return report


async def _reread_skipped(eid: int, report: Report) -> None:
    """Re-read contracts with skipped events, and close the alarm of each that is written and agrees. Skipped events
    need not cause a difference."""
    differ = records.alarms_of(found for found in report.differences if found.chain_eid == eid)
    async with db.worker() as session:
        skipped = {row.subject: row for row in await alarms.list_open(session, eid) if row.kind is AlarmKind.UNREADABLE}
    try:
        written = await read_again(eid, skipped)
    except SignumError as error:
        log.warning("reconciliation.repair_failed", eid=eid, kinds="skipped events", error=error.detail)
        return
    async with db.worker() as session:
        for address in written - differ.keys():
            await alarms.close(session, skipped[address])


async def _look_again(report: Report, second_look: float | None) -> None:
    """Remove differences seen only once."""
    eids = sorted({difference.chain_eid for difference in report.differences})
    await asyncio.sleep(max(map(_pause, eids)) if second_look is None else second_look)
    again = await _look(eids)
    report.differences = [found for found in report.differences if found in again.differences]
    report.unreachable |= again.unreachable


def _pause(eid: int) -> float:
    """Return the seconds until the tables contain what a chain does now."""
    terms = terms_of(eid)
    if terms.history != 0:
        return SECOND_LOOK
    return min(LONGEST_PAUSE, max(SECOND_LOOK, (terms.confirmations + 2) * terms.block_time))


async def _repair(report: Report) -> None:
    """Repair what is possible, and return the remaining differences."""
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
    on_chain = await tables.snapshot(eid)
    if on_chain is None:
        report.unreachable[eid] = "Its logs were never read."
        return []
    found: list[Difference] = []
    for compare in comparison.KINDS:
        found += await compare(on_chain)
        kind = compare.__name__
        report.compared[kind] = report.compared.get(kind, 0) + len(getattr(on_chain, kind))
    return found


async def _catch_up(eid: int) -> None:
    """Bring the tables to the newest block: older state cannot be read there."""
    height = await (await connect(eid)).height()
    await indexer.catch_up(eid, max(0, height - terms_of(eid).confirmations))


async def once() -> ReconciliationRow:
    """Reconcile with repairs, and store the result; differences are also in the log."""
    started = db.now()
    report = await reconcile(repairs=True)
    _log(report)
    unreachable = {str(eid): why for eid, why in report.unreachable.items()}
    row = ReconciliationRow(created_at=started, **report.as_dict() | {"unreachable": unreachable})
    async with db.worker() as session:
        session.add(row)
        await session.execute(sa.delete(ReconciliationRow).where(col(ReconciliationRow.created_at) < db.now() - KEPT))
    return row


def _log(report: Report) -> None:
    for difference in report.differences:
        log.warning("reconciliation.difference_found", **difference._asdict())
    for difference in report.repaired:
        log.warning("reconciliation.difference_repaired", **difference._asdict())
    found, repaired = len(report.differences), len(report.repaired)
    log.info("reconciliation.finished", compared=report.compared, differences=found, repaired=repaired)


NIGHTLY = nightly("reconciliation", once, "the chains could not be reconciled; the next attempt is tomorrow")
