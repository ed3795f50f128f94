"""Changes of a transaction's outcome that no workflow waits for, announced to those who built on the outcome.

A transaction may be mined after it was marked failed, or after its request gave up waiting; and a reorganization may
take it out of its block again. The row is corrected here, in `settlement`; listeners correct the request and write the
audit log in the same database transaction, so that the two never disagree.
"""

from collections.abc import Awaitable, Callable, Sequence
from enum import StrEnum
from uuid import UUID

import sqlalchemy as sa
import structlog
from sqlmodel import col

from backend import db
from backend.chain import alarms
from backend.chain.models import AlarmKind, TransactionRow, TransactionStatus

log = structlog.get_logger()
SUPERSEDED = "#failed"
"""Marks the key of a failed transaction whose intent was signed again: `{key}#failed{nonce}`."""


class Change(StrEnum):
    """`found`: marked failed, and mined after all. `lost`: included, and its block was replaced; it is open again.
    `settled`: an open one reached its end. `altered`: one that was lost is included again, with other events or
    addresses than before, because other transactions came before it."""

    FOUND = "found"
    LOST = "lost"
    SETTLED = "settled"
    ALTERED = "altered"


Listener = Callable[[db.Write, TransactionRow, Change], Awaitable[None]]
_listeners: list[Listener] = []


def listen(listener: Listener) -> None:
    """Call this for every change, in its database transaction; once each, however often it is said."""
    if listener not in _listeners:
        _listeners.append(listener)


async def announce(session: db.Write, row: TransactionRow, change: Change) -> None:
    """Tell the listeners of a change that the session has written."""
    log.info("transaction.corrected", eid=row.chain_eid, tx_hash=row.tx_hash, change=change, status=row.status)
    if change is not Change.LOST and row.status is TransactionStatus.CONFIRMED:
        await check_twice(session, row)
    for listener in _listeners:
        await listener(session, row, change)


async def check(eid: int, row_ids: Sequence[UUID]) -> None:
    """Have the process that indexes the chain compare transactions with the chain again, soon."""
    due = sa.update(TransactionRow).where(col(TransactionRow.chain_eid) == eid, col(TransactionRow.id).in_(row_ids))
    async with db.worker() as session:
        await session.execute(due.values(is_check_due=True))


async def lineage(session: db.Write, key: str) -> Sequence[TransactionRow]:
    """Return every transaction ever signed for an intent, the current one first."""
    key = key.partition(SUPERSEDED)[0]
    table = col(TransactionRow.key)
    # In the words of its index, which the planner has to recognize.
    superseded = sa.text("key like '%#failed%' and split_part(key, '#failed', 1) = :of").bindparams(of=key)
    found = sa.select(TransactionRow).where(sa.or_(table == key, superseded)).order_by(sa.func.length(table))
    return (await session.execute(found)).scalars().all()


async def check_twice(session: db.Write, row: TransactionRow) -> None:
    """Sound an alarm where a transaction that was just confirmed is not the only one of its intent."""
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
