"""Comparison of transactions with their chain: those that ended differently, and requests that failed although their
transactions succeeded."""

import asyncio
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.chain.coordination import cursor
from backend.chain.models import TransactionRow
from backend.chain.rpc.json_rpc import Rpc, connect
from backend.chain.rpc.receipts import receipts_of
from backend.chain.transactions import corrections
from backend.core import db
from backend.reconciliation.differences import Difference, Subject

if TYPE_CHECKING:
    from backend.reconciliation.tables import Snapshot

BATCH = 100
"""Transactions per round trip."""
CORRECTED_WITHIN = 40.0
"""Seconds that the process indexing the chain has to correct transactions; it checks at least every 15 seconds."""
LOOK = 0.5
"""Seconds between two checks for corrections."""
TRANSACTION, REQUEST = "transaction", "request"


async def transactions(tables: "Snapshot") -> list[Difference]:
    """Compare each ended transaction: its block is on the chain, or it is absent if it failed unmined. Also check that
    no request failed although its transaction succeeded."""
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
    """Return those whose block has another hash on the chain. A block that no machine has yet proves nothing."""
    numbers = sorted({row.block_number or 0 for row in rows})
    on_chain = await rpc.batch([("eth_getBlockByNumber", [hex(number), False]) for number in numbers])
    hashes = {number: block["hash"] for number, block in zip(numbers, on_chain, strict=True) if block is not None}
    known = [(row, hashes.get(row.block_number or 0, row.block_hash)) for row in rows]
    return [one for row, there in known for one in _subject(row).differ(block=(row.block_hash, there))]


async def _mined(rpc: Rpc, rows: Sequence[TransactionRow]) -> list[Difference]:
    """Return those marked failed without a block that have a receipt."""
    receipts = await receipts_of(rpc, rows)
    pairs = zip(rows, receipts, strict=True)
    return [
        one for row, on_chain in pairs if on_chain for one in _subject(row).differ(status=(row.status.value, "mined"))
    ]


async def correct(eid: int, differences: Sequence[Difference]) -> None:
    """Ask the process that indexes the chain to correct the transactions of some differences, and wait for it."""
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
