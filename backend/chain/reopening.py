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
from backend.chain.errors import InsufficientFunds, RpcError
from backend.chain.models import TransactionRow, TransactionStatus
from backend.chain.receipts import slim, succeeded
from backend.chain.rpc import Rpc
from backend.chain.sending import OPEN, broadcast

log = structlog.get_logger()
LEFT_ALONE = timedelta(seconds=5)
"""How long an open transaction is left to whoever asked for it."""


async def reopen(session: db.Write, rpc: Rpc, block: int) -> None:
    """Look at every transaction of ours above a block: follow it to its new one, or open and send it again."""
    above = (col(TransactionRow.chain_eid) == rpc.eid, col(TransactionRow.block_number) > block)
    found = sa.select(TransactionRow).where(*above).order_by(sa.asc("block_number"), sa.asc("nonce"))
    rows = (await session.execute(found)).scalars().all()
    for row, receipt in zip(rows, await _receipts(rpc, rows), strict=True):
        if receipt is not None:
            _write(row, receipt)
            continue
        row.status, row.block_number, row.block_hash, row.receipt = TransactionStatus.SUBMITTING, None, None, None
        await _send(rpc, row)
    await session.flush()


async def settle_open(rpc: Rpc) -> None:
    """Write the end of transactions that are mined and deep enough, and that nobody has asked about for a while."""
    async with db.worker() as session:
        theirs = (
            col(TransactionRow.chain_eid) == rpc.eid,
            col(TransactionRow.status).in_(OPEN),
            col(TransactionRow.updated_at) < db.now() - LEFT_ALONE,
        )
        found = sa.select(TransactionRow).where(*theirs).order_by(sa.asc("nonce"))
        rows = (await session.execute(found)).scalars().all()
        if not rows:
            return
        deep = await rpc.height() - endpoints.confirmations(rpc.eid)
        for row, receipt in zip(rows, await _receipts(rpc, rows), strict=True):
            if receipt is None:
                row.updated_at = db.now()
                await _send(rpc, row)
            elif int(receipt["blockNumber"], 16) <= deep:
                _write(row, receipt)


async def _receipts(rpc: Rpc, rows: Sequence[TransactionRow]) -> list[dict[str, Any] | None]:
    return await rpc.batch([("eth_getTransactionReceipt", [row.tx_hash]) for row in rows])


def _write(row: TransactionRow, receipt: dict[str, Any]) -> None:
    row.block_number, row.block_hash = int(receipt["blockNumber"], 16), receipt["blockHash"]
    row.receipt = slim(receipt)
    row.status = TransactionStatus.CONFIRMED if succeeded(receipt) else TransactionStatus.FAILED
    if row.status is TransactionStatus.FAILED and row.problem is None:
        row.problem = {"detail": "The transaction failed where it was mined."}


async def _send(rpc: Rpc, row: TransactionRow) -> None:
    try:
        await broadcast(rpc, row)
    except (InsufficientFunds, RpcError) as error:
        log.warning("chain.resend", eid=rpc.eid, tx_hash=row.tx_hash, error=str(error))
