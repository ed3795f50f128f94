"""From stored bytes to a final outcome: broadcast, wait for depth, read back."""

import asyncio
import time
from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa
from sqlmodel import col

from backend import db
from backend.chain import endpoints, indexer
from backend.chain.calls import Call
from backend.chain.errors import ChainUnavailable, Reverted
from backend.chain.models import TransactionRow, TransactionStatus
from backend.chain.outcome import Outcome
from backend.chain.receipts import outcome_of, slim, succeeded
from backend.chain.rpc import Rpc, connect
from backend.chain.sending import broadcast, resend

PATIENCE = 600.0
"""Seconds until a wait gives up; the transaction stays open, and the next call with its key goes on waiting."""
RESEND = {True: 0.3, False: 20.0}
"""Seconds without a receipt after which the bytes are sent again, on an embedded chain or a public one."""

Receipt = dict[str, Any]


async def finish(row: TransactionRow) -> Outcome:
    """Bring a stored transaction to its end. Raises Reverted where the chain refused it."""
    if row.status is TransactionStatus.CONFIRMED and row.receipt is not None:
        return outcome_of(row.receipt)
    if row.status is TransactionStatus.FAILED:
        raise Reverted.restored(row.problem or {"detail": "The transaction failed."})
    rpc = await connect(row.chain_eid)
    receipt = await _confirmed(rpc, row)
    return await settle(rpc, row, receipt)


def _delays(eid: int) -> Iterator[float]:
    """Seconds between two looks: an embedded chain mines at once, a public one every few seconds."""
    delay, most = (0.002, 0.25) if endpoints.is_embedded(eid) else (0.5, 4.0)
    while True:
        yield delay
        delay = min(delay * 1.6, most)


async def _confirmed(rpc: Rpc, row: TransactionRow) -> Receipt:
    """The receipt, once enough blocks lie on top of it."""
    fresh = await broadcast(rpc, row)
    started = looked = time.monotonic()
    for turn, delay in enumerate(_delays(row.chain_eid)):
        receipt = await _receipt(rpc, row.tx_hash)
        if receipt is not None and await _is_deep(rpc, row.chain_eid, receipt):
            return receipt
        now = time.monotonic()
        if turn == 0:
            await _mark_submitting(row)
        if receipt is None and now - looked > RESEND[endpoints.is_embedded(row.chain_eid)]:
            looked = now
            if not fresh and await _receipt(rpc, row.tx_hash) is None:
                await _give_up(row)
            await resend(rpc, row)
        if now - started > PATIENCE:
            raise ChainUnavailable(f"The transaction {row.tx_hash} is sent but not confirmed yet.")
        await asyncio.sleep(delay)
    raise AssertionError("the delays never end")


async def _receipt(rpc: Rpc, tx_hash: str) -> Receipt | None:
    receipt: Receipt | None = await rpc.request("eth_getTransactionReceipt", tx_hash)
    return receipt


async def _is_deep(rpc: Rpc, eid: int, receipt: Receipt) -> bool:
    """Whether the block has its confirmations and is still the one the receipt names."""
    depth = endpoints.confirmations(eid)
    if depth == 0:
        return True
    number = receipt["blockNumber"]
    head, block = await rpc.batch([("eth_blockNumber", []), ("eth_getBlockByNumber", [number, False])])
    return int(head, 16) >= int(number, 16) + depth and block is not None and block["hash"] == receipt["blockHash"]


async def settle(rpc: Rpc, row: TransactionRow, receipt: Receipt) -> Outcome:
    """Write the end of a transaction and wake the indexer. Raises Reverted where it was refused."""
    refusal = None if succeeded(receipt) else await _reason(rpc, row, receipt)
    await _store(
        row,
        {
            "status": TransactionStatus.FAILED if refusal else TransactionStatus.CONFIRMED,
            "block_number": int(receipt["blockNumber"], 16),
            "block_hash": receipt["blockHash"],
            "receipt": slim(receipt),
            "problem": refusal.stored() if refusal else None,
        },
    )
    indexer.wake(row.chain_eid)
    if refusal is not None:
        raise refusal
    return outcome_of(receipt)


async def _reason(rpc: Rpc, row: TransactionRow, receipt: Receipt) -> Reverted:
    """Why a mined transaction failed, asked again on the state before its block."""
    before = hex(max(0, int(receipt["blockNumber"], 16) - 1))
    try:
        await rpc.simulate(Call(row.to_address, row.data, row.value or 0), row.signer, before)
    except Reverted as reason:
        return reason
    return Reverted(
        "The transaction failed where it was mined, though it would pass alone: another came before it.", name="Raced"
    )


async def _mark_submitting(row: TransactionRow) -> None:
    if row.status is TransactionStatus.PENDING:
        await _store(row, {"status": TransactionStatus.SUBMITTING})


async def _give_up(row: TransactionRow) -> None:
    """The nonce went to another transaction, so this one can never be mined."""
    lost = Reverted(f"The nonce {row.nonce} of {row.signer} was used by another transaction.", name="NonceUsed")
    await _store(row, {"status": TransactionStatus.FAILED, "problem": lost.stored()})
    raise lost


async def _store(row: TransactionRow, values: dict[str, Any]) -> None:
    async with db.worker() as session:
        await session.execute(sa.update(TransactionRow).where(col(TransactionRow.id) == row.id).values(**values))
