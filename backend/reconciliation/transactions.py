"""Transactions against their chain: those that ended otherwise, and requests that failed though theirs succeeded."""

import asyncio
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend import db
from backend.chain import corrections, cursor
from backend.chain.models import TransactionRow
from backend.chain.receipts import receipts_of
from backend.chain.rpc import Rpc, connect
from backend.reconciliation.differences import Difference, Subject

if TYPE_CHECKING:
    from backend.reconciliation.tables import Snapshot

BATCH = 100
"""Transactions asked for in one round trip."""
CORRECTED_WITHIN = 40.0
"""Seconds that the process which indexes the chain has to correct transactions; it looks every 15 seconds at least."""
LOOK = 0.5
"""Seconds between two looks whether it has."""
TRANSACTION, REQUEST = "transaction", "request"


async def transactions(tables: "Snapshot") -> list[Difference]:
    """Each transaction that ended: that its block is on the chain, or that it is not there where it failed unmined. And
    that no request failed though its transaction succeeded."""
    rpc, found = await connect(tables.eid), list[Difference]()
    for start in range(0, len(tables.transactions), BATCH):
        part = tables.transactions[start : start + BATCH]
        found += await _replaced(rpc, [row for row in part if row.block_number is not None])
        found += await _mined(rpc, [row for row in part if row.block_number is None])
    for row in tables.failed_requests:
        subject = Subject(tables.eid, REQUEST, f"{row.transaction_id} of {row.id}", row.organization_id)
        found += subject.differ(status=("failed", "its transaction succeeded"))
    return found


def _subject(row: TransactionRow) -> Subject:
    return Subject(row.chain_eid, TRANSACTION, str(row.id), row.organization_id)


async def _replaced(rpc: Rpc, rows: Sequence[TransactionRow]) -> list[Difference]:
    """Those whose block has another hash on the chain. A block that no machine has yet proves nothing."""
    numbers = sorted({row.block_number or 0 for row in rows})
    told = await rpc.batch([("eth_getBlockByNumber", [hex(number), False]) for number in numbers])
    hashes = {number: block["hash"] for number, block in zip(numbers, told, strict=True) if block is not None}
    known = [(row, hashes.get(row.block_number or 0, row.block_hash)) for row in rows]
    return [one for row, there in known for one in _subject(row).differ(block=(row.block_hash, there))]


async def _mined(rpc: Rpc, rows: Sequence[TransactionRow]) -> list[Difference]:
    """Those that are marked failed without a block, and have a receipt."""
    receipts = await receipts_of(rpc, rows)
    pairs = zip(rows, receipts, strict=True)
    return [one for row, told in pairs if told for one in _subject(row).differ(status=(row.status.value, "mined"))]


async def correct(eid: int, differences: Sequence[Difference]) -> None:
    """Have the transactions of some differences corrected by the process that indexes the chain, and wait for it."""
    ids = [UUID(difference.subject.partition(" of ")[0]) for difference in differences]
    await corrections.check(eid, ids)
    async with db.worker() as session:
        await cursor.notify(session, eid)
    due = sa.select(sa.exists().where(col(TransactionRow.id).in_(ids), col(TransactionRow.is_check_due)))
    end = time.monotonic() + CORRECTED_WITHIN
    while time.monotonic() < end:
        async with db.worker() as session:
            if not await session.scalar(due):
                return
        await asyncio.sleep(LOOK)
