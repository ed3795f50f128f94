"""How far the indexer has read a chain: a block and the hash it had then, a trail of earlier ones, and which contracts
have been read from their beginning. All of it are rows of `cursors`, told apart by `stream`."""

from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert
from sqlmodel import col

from backend import db
from backend.chain.models import CursorRow
from backend.chain.rpc import Rpc

HEAD = "head"
TRAIL = 64
"""Earlier places kept per chain; a reorganization deeper than all of them is read again from block 0."""

Place = CursorRow


async def lock(session: db.Write, rpc: Rpc, target: int) -> Place:
    """The chain's place, locked against other passes; a new one starts at the target."""
    row = await _locked(session, rpc.eid)
    if row is None:
        await _insert(session, rpc.eid, HEAD, target, await block_hash(rpc, target) or "")
        row = await _locked(session, rpc.eid)
    assert row is not None
    return row


async def _locked(session: db.Write, eid: int) -> Place | None:
    found = sa.select(CursorRow).filter_by(chain_eid=eid, stream=HEAD).with_for_update()
    return (await session.execute(found)).scalar_one_or_none()


async def block_hash(rpc: Rpc, number: int) -> str | None:
    """The hash of a block, None where the chain is not that long."""
    block = await rpc.request("eth_getBlockByNumber", hex(number), False)
    return None if block is None else str(block["hash"])


async def advance(session: db.Write, rpc: Rpc, place: Place, number: int) -> None:
    """Move the place on, and leave the old one in the trail."""
    await _insert(session, rpc.eid, f"trail:{place.block_number}", place.block_number, place.block_hash)
    place.block_number, place.block_hash = number, await block_hash(rpc, number) or ""
    oldest = sa.select(col(CursorRow.id)).where(*_trail(rpc.eid)).order_by(sa.desc("block_number")).offset(TRAIL)
    await session.execute(sa.delete(CursorRow).where(col(CursorRow.id).in_(oldest)))
    await session.flush()


def _trail(eid: int) -> tuple[Any, Any]:
    return col(CursorRow.chain_eid) == eid, col(CursorRow.stream).startswith("trail:")


async def common(session: db.Write, rpc: Rpc, place: Place) -> int | None:
    """None where the place is still on the chain; else the newest block of the trail that is."""
    if await block_hash(rpc, place.block_number) == place.block_hash:
        return None
    found = sa.select(CursorRow).where(*_trail(rpc.eid)).order_by(sa.desc("block_number"))
    for row in (await session.execute(found)).scalars():
        if await block_hash(rpc, row.block_number) == row.block_hash:
            return row.block_number
    return 0


async def set_back(session: db.Write, rpc: Rpc, place: Place, number: int) -> None:
    """Move the place back."""
    place.block_number, place.block_hash = number, await block_hash(rpc, number) or ""
    await session.execute(sa.delete(CursorRow).where(*_trail(rpc.eid), col(CursorRow.block_number) >= number))
    await session.flush()


async def known(session: db.Write, eid: int) -> set[str]:
    """Contracts that were read from their beginning."""
    theirs = (col(CursorRow.chain_eid) == eid, col(CursorRow.stream).startswith("0x"))
    found = sa.select(col(CursorRow.stream)).where(*theirs)
    return set((await session.execute(found)).scalars())


async def remember(session: db.Write, eid: int, address: str, place: Place) -> None:
    """A contract has been read up to the place."""
    await _insert(session, eid, address, place.block_number, place.block_hash)


async def forget(session: db.Write, eid: int, address: str) -> None:
    """Have a contract read from its beginning again."""
    await session.execute(sa.delete(CursorRow).filter_by(chain_eid=eid, stream=address))


async def _insert(session: db.Write, eid: int, stream: str, number: int, hash_: str) -> None:
    row = CursorRow(chain_eid=eid, stream=stream, block_number=number, block_hash=hash_)
    fresh = insert(CursorRow).values(**row.model_dump())
    await session.execute(
        fresh.on_conflict_do_update(
            index_elements=["chain_eid", "stream"], set_={"block_number": number, "block_hash": hash_}
        )
    )
