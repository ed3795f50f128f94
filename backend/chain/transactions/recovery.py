"""Recovery at start: send what a crash kept from being sent, and restore what an embedded chain lost.

An embedded chain saves its state every few seconds, so a `kill -9` loses what came after. Every transaction is stored
with its bytes and its block: sent again in order, they reach the same addresses and the same state.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import sqlalchemy as sa
import structlog
from sqlmodel import col

from backend.chain.coordination import leadership, scheduler
from backend.chain.devnet import clock
from backend.chain.devnet.faucet import FAUCET
from backend.chain.errors import ChainUnavailable, RpcError
from backend.chain.models import SignerRow, TransactionRow
from backend.chain.rpc import node_urls
from backend.chain.rpc.json_rpc import Rpc, connect, restoring
from backend.chain.rpc.receipts import Receipt, mined
from backend.chain.transactions.broadcast import OPEN, broadcast, line, offer
from backend.core import db
from backend.core.settings import settings

log = structlog.get_logger()
_BATCH = 200


async def recover(eids: Sequence[int] | None = None) -> dict[int, int]:
    """Run at boot, before workflows start, and after an embedded chain was restarted. Return how many transactions were
    sent again to each chain."""
    resent: dict[int, int] = {}
    for eid in eids if eids is not None else node_urls.reachable():
        try:
            rpc = await connect(eid)
            with restoring():
                resent[eid] = await _give_back(rpc) + await _send_open(rpc)
            node_urls.restoring_file(settings().home, eid).unlink(missing_ok=True)
        except ChainUnavailable as error:
            log.warning("chain.recovery_failed", eid=eid, error=error.detail)
        if resent.get(eid):
            log.info("chain.recovered", eid=eid, transactions=resent[eid])
    return resent


async def _give_back(rpc: Rpc) -> int:
    """Replay while no pass is made: the indexer must not mistake a chain that is being restored for a reorganized
    one."""
    if not node_urls.is_embedded(rpc.eid):
        return 0
    async with scheduler.paused(rpc.eid), leadership.borrowed(rpc.eid):
        replayed = await replay(rpc)
    if clock.offset():
        await clock.set_time(rpc)  # a restarted node uses the machine's clock
    return replayed


async def _send_open(rpc: Rpc) -> int:
    """Send stored transactions without a result; their callers wait for the receipt."""
    rows = await _rows(rpc.eid, col(TransactionRow.status).in_(OPEN), "nonce")
    for row in rows:
        await offer(rpc, row)
    return len(rows)


async def _rows(eid: int, condition: Any, *order: str) -> Sequence[TransactionRow]:
    async with db.worker() as session:
        found = sa.select(TransactionRow).where(col(TransactionRow.chain_eid) == eid, condition)
        return (await session.execute(found.order_by(*map(sa.asc, order)))).scalars().all()


async def replay(rpc: Rpc) -> int:
    """Send again, in the order of their blocks, the mined transactions that an embedded chain has lost."""
    await _fund_again(rpc)
    if await _is_whole(rpc):
        return 0
    rows = await _rows(rpc.eid, col(TransactionRow.block_number).is_not(None), "block_number", "nonce")
    lost = await _unknown(rpc, sorted(rows, key=_place))
    for row in lost:
        await _mine_again(rpc, row)
    await clock.set_time(rpc)
    return len(lost)


async def _fund_again(rpc: Rpc) -> None:
    """Fund wallets again that were funded once and are empty now."""
    async with db.worker() as session:
        found = sa.select(col(SignerRow.address)).where(col(SignerRow.chain_eid) == rpc.eid)
        addresses = (await session.execute(found)).scalars().all()
    balances = await rpc.batch([("eth_getBalance", [address, "latest"]) for address in addresses])
    empty = [address for address, answer in zip(addresses, balances, strict=True) if int(answer, 16) == 0]
    await rpc.batch([("anvil_setBalance", [address, hex(FAUCET)]) for address in empty])


def _place(row: TransactionRow) -> tuple[int, int]:
    return row.block_number or 0, int((row.receipt or {}).get("transactionIndex", "0x0"), 16)


async def _is_whole(rpc: Rpc) -> bool:
    """Return whether the chain still has the newest block with one of our transactions."""
    newest = (
        sa.select(col(TransactionRow.block_number), col(TransactionRow.block_hash))
        .where(col(TransactionRow.chain_eid) == rpc.eid, col(TransactionRow.block_number).is_not(None))
        .order_by(sa.desc("block_number"))
        .limit(1)
    )
    async with db.worker() as session:
        row = (await session.execute(newest)).one_or_none()
    if row is None:
        return True
    block = await rpc.request("eth_getBlockByNumber", hex(row.block_number or 0), False)
    return block is not None and bool(block["hash"] == row.block_hash)


async def _unknown(rpc: Rpc, rows: Sequence[TransactionRow]) -> list[TransactionRow]:
    lost: list[TransactionRow] = []
    for start in range(0, len(rows), _BATCH):
        part = rows[start : start + _BATCH]
        receipts = await rpc.batch([("eth_getTransactionReceipt", [row.tx_hash]) for row in part])
        lost += [row for row, receipt in zip(part, receipts, strict=True) if receipt is None]
    return lost


async def _mine_again(rpc: Rpc, row: TransactionRow) -> None:
    """Mine at the old time if that is still ahead of the chain, so that even the block's hash is the same."""
    answer = (row.receipt or {}).get("blockTimestamp")
    if answer is not None:
        with suppress(RpcError):
            await rpc.request("evm_setNextBlockTimestamp", answer)
    for earlier in await line(row):  # mined before it, but killed before that was recorded
        await offer(rpc, earlier)
    await broadcast(rpc, row)
    values = mined(row, await _mined(rpc, row.tx_hash))
    async with db.worker() as session:
        await session.execute(sa.update(TransactionRow).where(col(TransactionRow.id) == row.id).values(**values))


async def _mined(rpc: Rpc, tx_hash: str) -> Receipt:
    for _ in range(1_000):
        receipt: Receipt | None = await rpc.request("eth_getTransactionReceipt", tx_hash)
        if receipt is not None:
            return receipt
        await asyncio.sleep(0.005)
    raise ChainUnavailable(f"The chain rejected the repeated transaction {tx_hash}.")
