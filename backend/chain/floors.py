"""The floor of a public chain: the highest block that this installation has built on.

A URL may be a pool of machines at different heights. Once we have confirmed a transaction in block N, or read logs up
to it, a machine below N would show a past that our own tables have left behind: its answers about the newest state are
not used. Processes share the floor through the database, which each of them reads at most once a second; a rewind by
one of them lowers it for all.
"""

import time

import sqlalchemy as sa
from sqlmodel import col

from backend import db
from backend.chain.models import CursorRow, TransactionRow

REFRESH = 1.0
"""Seconds between two looks into the database."""

_floors: dict[int, int] = {}
_raised: dict[int, int] = {}
"""Blocks that this process has built on since it last looked into the database, where it had written them before."""
_refreshed: dict[int, float] = {}
_lowered: dict[int, int] = {}
"""How often a chain was rewound here: what was read before a rewind is not written down after it."""


def raise_to(eid: int, block: int) -> None:
    """From now on, no machine below this block is believed about the newest state of the chain."""
    _floors[eid] = max(block, _floors.get(eid, 0))
    _raised[eid] = max(block, _raised.get(eid, 0))


def lower_to(eid: int, block: int) -> None:
    """The chain was reorganized down to a block: what was above it is not ours to ask for."""
    _floors[eid] = min(block, _floors.get(eid, 0))
    _lowered[eid] = _lowered.get(eid, 0) + 1
    _raised.pop(eid, None)
    _refreshed.pop(eid, None)


def known(eid: int) -> int:
    """Return the floor as this process knows it, without asking the database."""
    return _floors.get(eid, 0)


async def of(eid: int) -> int:
    """Return the floor of a chain, with what other processes have seen."""
    if time.monotonic() - _refreshed.get(eid, -REFRESH) >= REFRESH:
        await _refresh(eid)
    return _floors.get(eid, 0)


async def _refresh(eid: int) -> None:
    """Look into the database. What this process built on while it looked counts too. A look is not believed that
    began before a rewind, or before another look that has ended."""
    began, lowered, before = time.monotonic(), _lowered.get(eid, 0), _raised.get(eid, 0)
    stored = await _stored(eid)
    if lowered != _lowered.get(eid, 0) or began < _refreshed.get(eid, began):
        return
    if _raised.get(eid, 0) == before:
        _raised.pop(eid, None)
    _floors[eid] = max(stored, _raised.get(eid, 0))
    _refreshed[eid] = began


async def _stored(eid: int) -> int:
    read = sa.select(sa.func.max(col(CursorRow.block_number))).filter_by(chain_eid=eid, stream="head")
    built = sa.select(sa.func.max(col(TransactionRow.block_number))).where(col(TransactionRow.chain_eid) == eid)
    async with db.worker() as session:
        heights = [await session.scalar(read), await session.scalar(built)]
    return max((height for height in heights if height is not None), default=0)
