"""Reorganizations: the cursor's block has another hash on the chain. The tables go back to the newest block that the
chain still has, and only what came after it is read again.

On a public chain, a rewind needs two matching checks and never goes below the cursor's trail: below it, the chain's
indexing stops until an operator rewinds it (`signum chain rewind`).
"""

import asyncio

import sqlalchemy as sa
import structlog
from sqlmodel import col

from backend.chain import alarms
from backend.chain.chain_models import ChainRow
from backend.chain.coordination import cursor
from backend.chain.coordination.cursor import Block, Place
from backend.chain.errors import ChainUnavailable
from backend.chain.indexer import followed, streams
from backend.chain.indexer.log_reader import Behind
from backend.chain.models import AlarmKind, TransactionRow
from backend.chain.rpc import floors, health, node_urls
from backend.chain.rpc.json_rpc import Rpc
from backend.chain.rpc.terms import terms_of
from backend.chain.transactions import settlement
from backend.chain.transactions.recovery import replay
from backend.core import db

log = structlog.get_logger()
SECOND_LOOK = 1.0
"""Maximum seconds between the two checks of a public chain; less if its blocks are faster."""
_TRANSACTIONS = 100
"""Blocks of our transactions that are compared to find one that the chain still has."""


class DeepReorg(ChainUnavailable):
    """Service Unavailable"""


async def undo(rpc: Rpc, place: Place) -> bool:
    """Rewind the tables to what the chain still has; return False if a second check finds the place on the chain.

    Raises Behind if the machines do not have the blocks to compare, and DeepReorg.
    """
    if node_urls.is_embedded(rpc.eid):
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
    """Return the newest block of the cursor and its trail that the chain still has; None if it has none. Raises Behind
    if a public machine lacks one, because it may have all of them later."""
    blocks = await _remembered(place)
    answer = await rpc.batch([("eth_getBlockByNumber", [hex(block.number), False]) for block in blocks])
    if None in answer and not node_urls.is_embedded(rpc.eid):
        raise Behind
    found = (block for block, now in zip(blocks, answer, strict=True) if now is not None and now["hash"] == block.hash)
    return next(found, None)


async def _remembered(place: Place) -> list[Block]:
    async with db.worker() as session:
        return [place.block, *await cursor.trail(session, place.eid)]


async def block_at(rpc: Rpc, number: int) -> Block:
    """Return a block of the chain by its number. Raises Behind if the chain is shorter."""
    answer = await rpc.request("eth_getBlockByNumber", hex(number), False)
    if answer is None:
        raise Behind
    return Block(number, str(answer["hash"]))


async def rewind(rpc: Rpc, place: Place, block: Block) -> None:
    """Undo everything above a block, transactions first: after a crash in between, the cursor still shows the rest.
    Raises Moved."""
    floors.lower_to(rpc.eid, block.number)
    await settlement.follow_reorg(rpc, block.number)
    async with db.worker() as session:
        row = await cursor.lock(session, place)
        await streams.rewind(session, rpc.eid, block.number)
        await followed.rewind(session, rpc.eid, block.number)
        await cursor.set_back(session, row, block)


async def _stopped(rpc: Rpc, place: Place) -> DeepReorg:
    """Open the alarm of a reorg below the trail; return its error."""
    lowest = (await _remembered(place))[-1].number
    to_block, _ = await compared(rpc, lowest)
    async with db.worker() as session:
        name = await session.scalar(sa.select(col(ChainRow.display_name)).where(col(ChainRow.xchain_eid) == rpc.eid))
        detail = (
            f"{name or f'Chain {rpc.eid}'} was reorganized below block {lowest}, deeper than Signum undoes "
            "automatically, and is no longer read. Check that its RPC URLs follow the right chain, then run: signum "
            f"chain rewind --eid {rpc.eid} --to-block {to_block}"
        )
        await alarms.sound(session, rpc.eid, AlarmKind.DEEP_REORG, detail)
        await health.stopped(session, rpc.eid, detail)
    return DeepReorg(detail)


async def compared(rpc: Rpc, to_block: int) -> tuple[int, bool]:
    """Compare the blocks up to a number in the trail and our transactions with the chain; return the newest one that it
    still has (0 without one), and whether it also has all newer ones."""
    known = {block.number: block.hash for block in await _mined(rpc.eid, to_block)}
    async with db.worker() as session:
        known |= {
            block.number: block.hash for block in await cursor.trail(session, rpc.eid) if block.number <= to_block
        }
    numbers = sorted(known, reverse=True)
    answer = await rpc.batch([("eth_getBlockByNumber", [hex(number), False]) for number in numbers])
    same = [now is not None and now["hash"] == known[number] for number, now in zip(numbers, answer, strict=True)]
    common = next((number for number, is_same in zip(numbers, same, strict=True) if is_same), 0)
    return common, not same or same[0]


async def _mined(eid: int, to_block: int) -> list[Block]:
    """Return the newest blocks up to a number that contain our transactions."""
    number, hash_ = col(TransactionRow.block_number), col(TransactionRow.block_hash)
    mined = sa.select(number, hash_).where(col(TransactionRow.chain_eid) == eid, number <= to_block)
    async with db.worker() as session:
        rows = await session.execute(mined.distinct().order_by(number.desc()).limit(_TRANSACTIONS))
        return [Block(row.block_number, row.block_hash) for row in rows]
