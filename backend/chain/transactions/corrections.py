"""Late changes of a transaction's outcome, which no workflow waits for, announced to code that relied on the outcome.

A transaction may be mined after it was marked failed, or after its request stopped waiting; and a reorg may remove it
from its block. `settlement` corrects the row; listeners correct the request and write the audit log in the same
database transaction, so that they never disagree.
"""

from collections.abc import Awaitable, Callable, Sequence
from enum import StrEnum
from uuid import UUID

import sqlalchemy as sa
import structlog
from sqlmodel import col

from backend.chain import alarms
from backend.chain.models import AlarmKind, TransactionRow, TransactionStatus
from backend.core import db, locks
from backend.core.locks import Purpose

log = structlog.get_logger()
SUPERSEDED = "#failed"
"""Marks the key of a failed transaction whose intent was signed again: `{key}#failed{nonce}`."""


IS_ONE_OF_SEVERAL = sa.literal_column(
    "transactions.key like '%#failed%' or exists (select from transactions earlier where earlier.key like '%#failed%'"
    " and split_part(earlier.key, '#failed', 1) = transactions.key)",
    sa.Boolean,
).label("is_one_of_several")
"""Whether a transaction is not the only one of its intent. A later one exists only after this one was marked failed and
renamed, so a single one needs no `check_twice`."""


class Change(StrEnum):
    """`found`: marked failed, but mined later. `lost`: included, but its block was replaced; it is open again.
    `settled`: an open one is final. `altered`: a lost one is included again, with other events or addresses than
    before, because other transactions came before it."""

    FOUND = "found"
    LOST = "lost"
    SETTLED = "settled"
    ALTERED = "altered"


Listener = Callable[[db.Write, TransactionRow, Change], Awaitable[None]]
# Declared at import.
_listeners: list[Listener] = []


def listen(listener: Listener) -> None:
    """Register a listener for every change, called in the change's database transaction; duplicates are ignored."""
    if listener not in _listeners:
        _listeners.append(listener)


async def announce(session: db.Write, row: TransactionRow, change: Change) -> None:
    """Notify the listeners of a change that the session has written."""
    log.info("transaction.corrected", eid=row.chain_eid, tx_hash=row.tx_hash, change=change, status=row.status)
    if change is not Change.LOST and row.status is TransactionStatus.CONFIRMED:
        await check_twice(session, row)
    for listener in _listeners:
        await listener(session, row, change)


async def check(eid: int, row_ids: Sequence[UUID]) -> None:
    """Request that the process indexing the chain compares transactions with the chain soon."""
    due = sa.update(TransactionRow).where(col(TransactionRow.chain_eid) == eid, col(TransactionRow.id).in_(row_ids))
    async with db.worker() as session:
        await session.execute(due.values(is_check_due=True))


async def lineage(session: db.Write, key: str) -> Sequence[TransactionRow]:
    """Return every transaction ever signed for an intent, the current one first."""
    key = key.partition(SUPERSEDED)[0]
    table = col(TransactionRow.key)
    # In the wording of its index, so that the planner recognizes it.
    superseded = sa.text("key like '%#failed%' and split_part(key, '#failed', 1) = :of").bindparams(of=key)
    found = sa.select(TransactionRow).where(sa.or_(table == key, superseded)).order_by(sa.func.length(table))
    return (await session.execute(found)).scalars().all()


async def check_twice(session: db.Write, row: TransactionRow) -> None:
    """Open an alarm if a transaction that was just confirmed is not the only mined one of its intent.

    Two that are confirmed at the same time check one after the other, so that the second one finds the first.
    """
    await locks.wait(session, Purpose.INTENT, row.key.partition(SUPERSEDED)[0])
    mined = [one for one in await lineage(session, row.key) if one.status is TransactionStatus.CONFIRMED]
    if len(mined) > 1:
        hashes = " and ".join(one.tx_hash for one in mined)
        detail = (
            f"One operation was executed {len(mined)} times, by {hashes}. Compare balances and correct the surplus."
        )
        await alarms.sound(
            session,
            row.chain_eid,
            AlarmKind.EXECUTED_TWICE,
            detail,
            str(row.request_id or row.key.partition(SUPERSEDED)[0]),
        )
