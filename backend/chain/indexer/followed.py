"""The contracts whose logs the indexer reads, and how far each contract's history has been read."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert
from sqlmodel import col

from backend.chain.coordination import cursor
from backend.chain.coordination.cursor import Place
from backend.chain.indexer import streams
from backend.chain.indexer.streams import Stream
from backend.chain.models import FollowedContractRow
from backend.core import db


@dataclass(frozen=True, slots=True)
class History:
    """A contract whose history has not reached the cursor; `first` is the next block to read."""

    address: str
    first: int


@dataclass(frozen=True, slots=True)
class Followed:
    """The contracts of a chain. `owners` maps each to its stream; those not in `histories` move with the cursor."""

    owners: dict[str, Stream]
    histories: tuple[History, ...]

    @property
    def current(self) -> list[str]:
        """Return the contracts that move with the cursor."""
        behind = {history.address for history in self.histories}
        return [address for address in self.owners if address not in behind]

    def read(self, addresses: Collection[str], read_to: int | None) -> "Followed":
        """Return a copy with some histories read up to a block; None if they have reached the cursor."""
        rest = [history for history in self.histories if history.address not in addresses]
        if read_to is not None:
            rest += [History(address, read_to + 1) for address in addresses]
        return Followed(self.owners, _in_order(rest))


async def contracts(session: db.Read, eid: int) -> Sequence[Any]:
    """Return the contracts to follow, each with whether it is followed already, and how far its history was read."""
    query = _wanted(eid, *(stream.name for stream in streams.registered()))
    return (await session.execute(query)).all()


@cache
def _wanted(eid: int, *_streams: str) -> sa.Select[Any, Any]:
    """Return the query of the contracts of a chain. It is long: building it takes about a millisecond."""
    wanted, followed = streams.wanted(eid), col(FollowedContractRow.address)
    is_same = sa.and_(followed == wanted.c.address, col(FollowedContractRow.chain_eid) == eid)
    found = sa.select(wanted, followed.is_not(None).label("is_known"), col(FollowedContractRow.read_to))
    return found.outerjoin(FollowedContractRow, is_same).order_by(wanted.c.stream)


async def follow(place: Place, found: Sequence[Any]) -> tuple[Place, Followed]:
    """Follow contracts that were found. One that was created above the place, or at an unknown block, moves with the
    cursor from now on; this counts as a write. Raises Moved."""
    starts = {row.address: _start(row.created, place) for row in found if not row.is_known}
    if starts:
        async with db.worker() as session:
            place = await _begin(session, place, starts)
    read_to = {row.address: row.read_to for row in found}
    read_to |= {address: None if start is None else start - 1 for address, start in starts.items()}
    histories = [History(at, done + 1) for at, done in read_to.items() if done is not None]
    registered = streams.registered()
    return place, Followed({row.address: registered[row.stream] for row in found}, _in_order(histories))


def _in_order(histories: Iterable[History]) -> tuple[History, ...]:
    return tuple(sorted(histories, key=lambda history: history.first))


def _start(created: int | None, place: Place) -> int | None:
    return created if created is not None and created <= place.block.number else None


async def _begin(session: db.Write, place: Place, starts: dict[str, int | None]) -> Place:
    row = await cursor.lock(session, place)
    fresh = [
        FollowedContractRow(chain_eid=place.eid, address=address, read_to=None if start is None else start - 1)
        for address, start in starts.items()
    ]
    values = [entry.model_dump() for entry in fresh]
    await session.execute(insert(FollowedContractRow).on_conflict_do_nothing(), values)
    return cursor.placed(row)


async def note(session: db.Write, eid: int, addresses: Collection[str], read_to: int | None) -> None:
    """Record how far the history of some contracts has been read; None if it has reached the cursor."""
    theirs = (col(FollowedContractRow.chain_eid) == eid, col(FollowedContractRow.address).in_(addresses))
    await session.execute(sa.update(FollowedContractRow).where(*theirs).values(read_to=read_to))


async def is_behind(session: db.Write, eid: int) -> bool:
    """Return whether the history of a contract is still being read."""
    theirs = (col(FollowedContractRow.chain_eid) == eid, col(FollowedContractRow.read_to).is_not(None))
    return bool(await session.scalar(sa.select(sa.exists(sa.select(FollowedContractRow).where(*theirs)))))


async def rewind(session: db.Write, eid: int, block: int) -> None:
    """Reset the histories that were read above a block to that block."""
    beyond = (col(FollowedContractRow.chain_eid) == eid, col(FollowedContractRow.read_to) > block)
    await session.execute(sa.update(FollowedContractRow).where(*beyond).values(read_to=block))


def together(histories: Sequence[History], blocks: int) -> list[History]:
    """Return the histories, of some sorted by first block, that start within a number of blocks of the first."""
    return [history for history in histories if history.first < histories[0].first + blocks]
