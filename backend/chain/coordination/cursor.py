"""The cursor: the block and hash up to which the indexer has read a chain, and a trail of earlier blocks.

This module only uses rows of `cursors` and no node. A pass reads the place, queries the chain without a transaction,
and then locks the place to write; `lock` refuses if another pass wrote in the meantime.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert
from sqlmodel import col

from backend.chain.models import CursorRow
from backend.core import db

HEAD = "head"
TRAIL = 64
"""Minimum number of earlier blocks kept per chain. On a public chain, a reorg below all of them needs an operator."""
CUT = 8
"""Writes after which the trail is cut to that length; in between it is slightly longer."""
CHANNEL = "signum_index"
"""Notifications with a chain's endpoint ID: its indexer starts a pass immediately."""


@dataclass(frozen=True, slots=True)
class Block:
    """A block of a chain."""

    number: int
    hash: str


@dataclass(frozen=True, slots=True)
class Place:
    """The position of a chain's cursor when it was read."""

    eid: int
    block: Block
    revision: int
    asked: int
    served: int


class Moved(Exception):
    """Another pass has written since the place was read; start again."""


async def find(session: db.Read | db.Write, eid: int) -> Place | None:
    """Return the position of a chain's cursor; None if the chain was never read."""
    row: CursorRow | None = await session.scalar(_head(eid))
    return None if row is None else placed(row)


async def begin(session: db.Write, eid: int, blocks: Sequence[Block]) -> None:
    """Create a chain's cursor at the last of some blocks, with the others as its trail, unless it exists."""
    head = CursorRow(chain_eid=eid, stream=HEAD, **_values(blocks[-1]))
    fresh = insert(CursorRow).on_conflict_do_nothing()
    if await session.scalar(fresh.values(**head.model_dump()).returning(col(CursorRow.id))) is not None and blocks[:-1]:
        passed = [CursorRow(chain_eid=eid, stream=_trail_stream(block), **_values(block)) for block in blocks[:-1]]
        await session.execute(fresh, [row.model_dump() for row in passed])


async def lock(session: db.Write, place: Place, *, to: Block | None = None) -> CursorRow:
    """Return the cursor's row, locked, and count the write that follows; move it to a block, if one is given. Raises
    Moved if it is not at the place."""
    values = {"revision": place.revision + 1, **(_values(to) if to else {})}
    same = (*_is_head(place.eid), col(CursorRow.revision) == place.revision)
    locked = sa.update(CursorRow).where(*same).values(**values).returning(CursorRow)
    row: CursorRow | None = await session.scalar(locked, execution_options={"populate_existing": True})
    if row is None:
        raise Moved
    return row


async def extend_trail(session: db.Write, row: CursorRow, before: Block, blocks: Sequence[Block]) -> Place:
    """Add the block from which the locked cursor was moved to the last of some blocks, and those between, to the
    trail."""
    passed = [before, *blocks[:-1]]
    fresh = insert(CursorRow)
    kept = fresh.on_conflict_do_update(
        index_elements=["chain_eid", "stream"], set_={"block_hash": fresh.excluded.block_hash}
    )
    rows = [CursorRow(chain_eid=row.chain_eid, stream=_trail_stream(b), **_values(b)) for b in passed[-TRAIL:]]
    await session.execute(kept, [entry.model_dump() for entry in rows])
    if row.revision % CUT == 0:
        entries = sa.select(col(CursorRow.id)).where(*_trail(row.chain_eid)).order_by(sa.desc("block_number"))
        await session.execute(sa.delete(CursorRow).where(col(CursorRow.id).in_(entries.offset(TRAIL))))
    return placed(row)


async def set_back(session: db.Write, row: CursorRow, block: Block) -> Place:
    """Move the locked cursor back to a block, and cut the trail there."""
    row.block_number, row.block_hash = block.number, block.hash
    gone = sa.delete(CursorRow).where(*_trail(row.chain_eid), col(CursorRow.block_number) >= block.number)
    await session.execute(gone)
    await session.flush()
    return placed(row)


async def trail(session: db.Write, eid: int) -> list[Block]:
    """Return the stored blocks before the cursor, newest first."""
    found = sa.select(CursorRow).where(*_trail(eid)).order_by(sa.desc("block_number"))
    return [Block(row.block_number, row.block_hash) for row in await session.scalars(found)]


async def ask(session: db.Write, eid: int) -> int | None:
    """Request a pass that starts after this transaction from the process that indexes the chain; return the pass
    number, or None if the chain was never read."""
    asked = col(CursorRow.asked)
    head = sa.update(CursorRow).where(*_is_head(eid)).values(asked=asked + 1)
    number = await session.scalar(head.returning(asked))
    await notify(session, eid)
    return number


async def notify(session: db.Write, eid: int) -> None:
    """Notify the process that indexes a chain to start a pass when this transaction commits."""
    await session.execute(sa.select(sa.func.pg_notify(CHANNEL, str(eid))))


async def serve(session: db.Write, eid: int, number: int) -> None:
    """Record that a pass was made which started when this was the newest requested one."""
    head = sa.update(CursorRow).where(*_is_head(eid), col(CursorRow.served) < number)
    await session.execute(head.values(served=number))


def _is_head(eid: int) -> tuple[Any, Any]:
    return col(CursorRow.chain_eid) == eid, col(CursorRow.stream) == HEAD


def _head(eid: int) -> sa.Select[Any]:
    return sa.select(CursorRow).where(*_is_head(eid)).execution_options(populate_existing=True)


def _trail(eid: int) -> tuple[Any, Any]:
    return col(CursorRow.chain_eid) == eid, col(CursorRow.stream).startswith("trail:")


def _trail_stream(block: Block) -> str:
    return f"trail:{block.number}"


def _values(block: Block) -> dict[str, Any]:
    return {"block_number": block.number, "block_hash": block.hash}


def placed(row: CursorRow) -> Place:
    """Return the position of a row's cursor."""
    return Place(row.chain_eid, Block(row.block_number, row.block_hash), row.revision, row.asked, row.served)
