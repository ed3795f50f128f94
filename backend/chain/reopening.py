"""Our transactions after a reorganization: those that lost their block are open again, and sent again.

Nobody may be waiting for them any more, so the indexer's loop brings them to their end.
"""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import sqlalchemy as sa
import structlog
from sqlmodel import col

from backend import db
from backend.chain import endpoints
from backend.chain.errors import InsufficientFunds, Reverted
from backend.chain.failing import reason
from backend.chain.models import TransactionRow, TransactionStatus
from backend.chain.pushing import NonceUsed, push
from backend.chain.receipts import Receipt, mined, receipts_of, succeeded
from backend.chain.rpc import Rpc
from backend.chain.sending import OPEN, offer

log = structlog.get_logger()
LEFT_ALONE = timedelta(seconds=5)
"""How long an open transaction is left to whoever asked for it."""


async def reopen(session: db.Write, rpc: Rpc, block: int) -> None:
    """Look at every transaction of ours above a block: follow it to its new one, or open and send it again."""
    above = (col(TransactionRow.chain_eid) == rpc.eid, col(TransactionRow.block_number) > block)
    found = sa.select(TransactionRow).where(*above).order_by(sa.asc("block_number"), sa.asc("nonce"))
    rows = (await session.execute(found)).scalars().all()
    deep = await rpc.height() - endpoints.confirmations(rpc.eid) if rows else 0
    for row, receipt in zip(rows, await receipts_of(rpc, rows), strict=True):
        if receipt is not None and int(receipt["blockNumber"], 16) <= deep:
            await _write(rpc, row, receipt)
            continue
        row.status, row.block_number, row.block_hash, row.receipt = TransactionStatus.SUBMITTING, None, None, None
        row.problem = None
        await offer(rpc, row)
    await session.flush()


async def settle_open(rpc: Rpc) -> None:
    """Write the end of transactions that are mined and deep enough, and push those that are not; of those that nobody
    has asked about for a while."""
    rows = await _left_alone(rpc.eid)
    deep = await rpc.height() - endpoints.confirmations(rpc.eid) if rows else 0
    for row, receipt in zip(rows, await receipts_of(rpc, rows), strict=True):
        if receipt is None:
            await _push(rpc, row)
        elif int(receipt["blockNumber"], 16) <= deep:
            async with db.worker() as session:
                await _write(rpc, await session.get_one(TransactionRow, row.id, with_for_update=True), receipt)


async def _left_alone(eid: int) -> Sequence[TransactionRow]:
    theirs = (
        col(TransactionRow.chain_eid) == eid,
        col(TransactionRow.status).in_(OPEN),
        col(TransactionRow.updated_at) < db.now() - LEFT_ALONE,
    )
    async with db.worker() as session:
        found = sa.select(TransactionRow).where(*theirs).order_by(sa.asc("nonce"))
        return (await session.execute(found)).scalars().all()


async def _push(rpc: Rpc, row: TransactionRow) -> None:
    values: dict[str, Any] = {"updated_at": db.now()}
    try:
        await push(rpc, row)
    except NonceUsed as lost:
        values |= {"status": TransactionStatus.FAILED, "problem": lost.stored()}
    except (Reverted, InsufficientFunds) as error:
        log.warning("chain.push", eid=rpc.eid, tx_hash=row.tx_hash, error=error.detail)
    async with db.worker() as session:
        still_open = (col(TransactionRow.id) == row.id, col(TransactionRow.status).in_(OPEN))
        await session.execute(sa.update(TransactionRow).where(*still_open).values(**values))


async def _write(rpc: Rpc, row: TransactionRow, receipt: Receipt) -> None:
    for name, value in mined(row, receipt).items():
        setattr(row, name, value)
    row.problem = None if succeeded(receipt) else (await reason(rpc, row, receipt)).stored()
