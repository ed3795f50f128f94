"""State events: events that replace a state, stored so that the current state can be derived from the newest one.

A rewind deletes events and a late log adds an older one; in both cases the affected subjects get the state of their
newest remaining event.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import distinct_on, insert
from sqlmodel import col

from backend.chain.abi.outcome import Log
from backend.chain.indexer import block_spans
from backend.chain.indexer.block_spans import Span
from backend.chain.models import StateEventRow
from backend.core import db

Subject = tuple[str, str]
"""A contract's address, and the part of it that an event is about."""
Newest = dict[Subject, StateEventRow]
"""By subject; those without an event are missing."""
_SUBJECT = (col(StateEventRow.address), col(StateEventRow.subject))


def event_row(
    organization_id: UUID, eid: int, log: Log, name: str, arguments: Mapping[str, Any], subject: str = ""
) -> StateEventRow:
    """Return the row of an event."""
    return StateEventRow(
        created_at=datetime.fromtimestamp(log.timestamp, UTC),
        organization_id=organization_id,
        chain_eid=eid,
        address=log.address,
        name=name,
        subject=subject,
        arguments=dict(arguments),
        tx_hash=log.tx_hash,
        log_index=log.log_index,
        block_number=log.block_number,
    )


async def insert_new(session: db.Write, rows: Sequence[Any]) -> int:
    """Insert rows of one table that are missing; return their number."""
    if not rows:
        return 0
    fresh = insert(sa.inspect(type(rows[0])).local_table).on_conflict_do_nothing()
    return await execute_many(session, fresh, [row.model_dump() for row in rows])


async def execute_many(session: db.Write, statement: sa.Insert, values: Sequence[Any]) -> int:
    """Execute a statement with each of some values, in one round trip; return how many rows it wrote. Several times as
    fast as one long statement, which must be compiled."""
    connection = await session.connection()
    result = await connection.execute(statement, list(values), execution_options={"preserve_rowcount": True})
    return result.rowcount


async def newest(session: db.Write, eid: int, names: Collection[str], subjects: Iterable[Subject]) -> Newest:
    """Return the newest event of some names for each of some subjects."""
    return await _newest(session, eid, names, sa.tuple_(*_SUBJECT).in_(list(subjects)))


async def newest_of(session: db.Write, eid: int, names: Collection[str], addresses: Collection[str]) -> Newest:
    """Return the newest event of some names for each subject of some contracts."""
    return await _newest(session, eid, names, col(StateEventRow.address).in_(addresses))


async def _newest(session: db.Write, eid: int, names: Collection[str], which: sa.ColumnElement[bool]) -> Newest:
    found = (
        sa.select(StateEventRow)
        .where(col(StateEventRow.chain_eid) == eid, col(StateEventRow.name).in_(names), which)
        .order_by(*_SUBJECT, col(StateEventRow.block_number).desc(), col(StateEventRow.log_index).desc())
        .ext(distinct_on(*_SUBJECT))
    )
    return {(row.address, row.subject): row for row in await session.scalars(found)}


async def delete_wrong(
    session: db.Write, eid: int, address: str, names: Collection[str], span: Span, right: Sequence[StateEventRow]
) -> set[str]:
    """Delete the events of a contract in a span of blocks that are not among the right ones; return their subjects."""
    theirs = sa.and_(
        col(StateEventRow.chain_eid) == eid, col(StateEventRow.address) == address, col(StateEventRow.name).in_(names)
    )
    facts = ("name", "subject", "arguments")
    return {row.subject for row in await block_spans.delete_wrong(session, theirs, span, right, StateEventRow, facts)}


async def forget(session: db.Write, eid: int, names: Collection[str], block: int) -> set[Subject]:
    """Delete the events of some names above a block; return their subjects."""
    gone = sa.delete(StateEventRow).where(
        col(StateEventRow.chain_eid) == eid, col(StateEventRow.name).in_(names), col(StateEventRow.block_number) > block
    )
    return {(row.address, row.subject) for row in await session.execute(gone.returning(*_SUBJECT))}
