"""Reorganizations: the cursor's block has another hash on the chain. The tables go back to the newest block that the
chain still has, and only what came after it is read again.

On a public chain a rewind needs two looks that agree, and never goes below the cursor's trail: there the chain's
indexing stops until an operator rewinds it (`signum chain rewind`).
"""

import asyncio

import sqlalchemy as sa
import structlog
from sqlmodel import col

from backend import db
from backend.chain import alarms, cursor, endpoints, floors, followed, health, settlement, streams
from backend.chain.cursor import Block, Place
from backend.chain.errors import ChainUnavailable
from backend.chain.log_reader import Behind
from backend.chain.models import AlarmKind, TransactionRow
from backend.chain.recovery import replay
from backend.chain.rpc import Rpc
from backend.chain.terms import terms_of
from backend.chains.models import ChainRow

log = structlog.get_logger()
SECOND_LOOK = 1.0
"""Seconds between the two looks at a public chain, at most; less where it makes blocks faster."""
_TRANSACTIONS = 100
"""Blocks of our transactions that are compared to find one that the chain still has."""


class DeepReorg(ChainUnavailable):
    """Service Unavailable"""


async def undo(rpc: Rpc, place: Place) -> bool:
    """Rewind the tables to what the chain still has; False where a second look shows that it has the place.

    Raises Behind where the machines do not have the blocks to compare, and DeepReorg.
    """
    if endpoints.is_embedded(rpc.eid):
        replayed = await replay(rpc)
        common = await _common(rpc, place) or await block_at(rpc, 0)
        if common == place.block:
            return bool(replayed)
    else:
        common = await _confirmed(rpc, place)
        if common == place.block:
            return False
    await rewind(rpc, place, common)
    log.info("indexer.rewound", eid=rpc.eid, from_block=place.block.number, to_block=common.number)
    return True


async def _confirmed(rpc: Rpc, place: Place) -> Block:
    common = await _common(rpc, place)
    if common == place.block:
        return common
    await asyncio.sleep(min(SECOND_LOOK, terms_of(rpc.eid).block_time))
    if await _common(rpc, place) != common:
        raise Behind
    if common is None:
        raise await _stopped(rpc, place)
    return common


async def _common(rpc: Rpc, place: Place) -> Block | None:
    """Return the newest block of the cursor and its trail that the chain still has; None where it has none of them.
    Raises Behind where a public machine lacks one, as it may have all of them later."""
    blocks = await _remembered(place)
    told = await rpc.batch([("eth_getBlockByNumber", [hex(block.number), False]) for block in blocks])
    if None in told and not endpoints.is_embedded(rpc.eid):
        raise Behind
    found = (block for block, now in zip(blocks, told, strict=True) if now is not None and now["hash"] == block.hash)
    return next(found, None)


async def _remembered(place: Place) -> list[Block]:
    async with db.worker() as session:
        return [place.block, *await cursor.trail(session, place.eid)]


async def block_at(rpc: Rpc, number: int) -> Block:
    """Return a block of the chain by its number. Raises Behind where it is not that long."""
    told = await rpc.request("eth_getBlockByNumber", hex(number), False)
    if told is None:
        raise Behind
    return Block(number, str(told["hash"]))


async def rewind(rpc: Rpc, place: Place, block: Block) -> None:
    """Undo everything above a block, transactions first: after a crash in between, the cursor still shows what is left.
    Raises Moved."""
    floors.lower_to(rpc.eid, block.number)
    await settlement.follow_reorg(rpc, block.number)
    async with db.worker() as session:
        row = await cursor.lock(session, place)
        await streams.rewind(session, rpc.eid, block.number)
        await followed.rewind(session, rpc.eid, block.number)
        await cursor.set_back(session, row, block)


async def _stopped(rpc: Rpc, place: Place) -> DeepReorg:
    """Sound the alarm of a reorganization below the trail; return its error."""
    lowest = (await _remembered(place))[-1].number
    to_block, _ = await compared(rpc, lowest)
    async with db.worker() as session:
        name = await session.scalar(sa.select(col(ChainRow.display_name)).where(col(ChainRow.xchain_eid) == rpc.eid))
        detail = (
            f"{name or f'Chain {rpc.eid}'} was reorganized below block {lowest}, deeper than Signum undoes by itself, "
            "and is not read any further. Check that its RPC URLs follow the right chain, then run: "
            f"signum chain rewind --eid {rpc.eid} --to-block {to_block}"
        )
        await alarms.sound(session, rpc.eid, AlarmKind.DEEP_REORG, detail)
        await health.stopped(session, rpc.eid, detail)
    return DeepReorg(detail)


async def compared(rpc: Rpc, to_block: int) -> tuple[int, bool]:
    """Compare the blocks up to a number that the trail and our transactions remember with the chain; return the newest
    one that it still has (0 without one), and whether it has all that are newer, too."""
    known = {block.number: block.hash for block in await _mined(rpc.eid, to_block)}
    async with db.worker() as session:
        known |= {
            block.number: block.hash for block in await cursor.trail(session, rpc.eid) if block.number <= to_block
        }
    numbers = sorted(known, reverse=True)
    told = await rpc.batch([("eth_getBlockByNumber", [hex(number), False]) for number in numbers])
    same = [now is not None and now["hash"] == known[number] for number, now in zip(numbers, told, strict=True)]
    common = next((number for number, is_same in zip(numbers, same, strict=True) if is_same), 0)
    return common, not same or same[0]


async def _mined(eid: int, to_block: int) -> list[Block]:
    """Return the newest blocks up to a number that hold transactions of ours."""
    number, hash_ = col(TransactionRow.block_number), col(TransactionRow.block_hash)
    mined = sa.select(number, hash_).where(col(TransactionRow.chain_eid) == eid, number <= to_block)
    async with db.worker() as session:
        rows = await session.execute(mined.distinct().order_by(number.desc()).limit(_TRANSACTIONS))
        return [Block(row.block_number, row.block_hash) for row in rows]
