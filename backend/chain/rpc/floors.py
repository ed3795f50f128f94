"""The floor of a public chain: the highest block that this installation relies on.

A URL may be a pool of machines at different heights. Once we have confirmed a transaction in block N, or read logs up
to it, a machine below N would show a state older than our own tables: its answers about the newest state are not used.
Processes share the floor through the database, which each of them reads at most once a second; a rewind by one of them
lowers it for all.
"""

import time
from dataclasses import dataclass, field

import sqlalchemy as sa
from sqlmodel import col

from backend.chain.models import CursorRow, TransactionRow
from backend.core import db
from backend.core.runtime import runtime

REFRESH = 1.0
"""Seconds between two reads of the database."""


@dataclass
class Floors:
    """What this process knows of the floors, by chain."""

    known: dict[int, int] = field(default_factory=dict)
    raised: dict[int, int] = field(default_factory=dict)
    """Floors that it raised since it last read the database, if it had written them before."""
    refreshed: dict[int, float] = field(default_factory=dict)
    """When it last read the database, by `time.monotonic`."""
    lowered: dict[int, int] = field(default_factory=dict)
    """How often it rewound a chain: what was read before a rewind is not written after it."""


def raise_to(eid: int, block: int) -> None:
    """Raise the floor: no machine below this block is trusted about the newest state of the chain."""
    floors = runtime.part(Floors)
    floors.known[eid] = max(block, floors.known.get(eid, 0))
    floors.raised[eid] = max(block, floors.raised.get(eid, 0))


def lower_to(eid: int, block: int) -> None:
    """Lower the floor to a block after a reorg."""
    floors = runtime.part(Floors)
    floors.known[eid] = min(block, floors.known.get(eid, 0))
    floors.lowered[eid] = floors.lowered.get(eid, 0) + 1
    floors.raised.pop(eid, None)
    floors.refreshed.pop(eid, None)


def known(eid: int) -> int:
    """Return the floor known to this process, without reading the database."""
    return runtime.part(Floors).known.get(eid, 0)


async def of(eid: int) -> int:
    """Return the floor of a chain, including what other processes have seen."""
    floors = runtime.part(Floors)
    if time.monotonic() - floors.refreshed.get(eid, -REFRESH) >= REFRESH:
        await _refresh(floors, eid)
    return floors.known.get(eid, 0)


async def _refresh(floors: Floors, eid: int) -> None:
    """Read the database. Blocks that this process relied on in the meantime count too. A read that began before a
    rewind, or before another completed read, is ignored."""
    began, lowered, before = time.monotonic(), floors.lowered.get(eid, 0), floors.raised.get(eid, 0)
    stored = await _stored(eid)
    if lowered != floors.lowered.get(eid, 0) or began < floors.refreshed.get(eid, began):
        return
    if floors.raised.get(eid, 0) == before:
        floors.raised.pop(eid, None)
    floors.known[eid] = max(stored, floors.raised.get(eid, 0))
    floors.refreshed[eid] = began


async def _stored(eid: int) -> int:
    read = sa.select(sa.func.max(col(CursorRow.block_number))).filter_by(chain_eid=eid, stream="head")
    built = sa.select(sa.func.max(col(TransactionRow.block_number))).where(col(TransactionRow.chain_eid) == eid)
    async with db.worker() as session:
        heights = [await session.scalar(read), await session.scalar(built)]
    return max((height for height in heights if height is not None), default=0)
