"""From a stored transaction to its final outcome: broadcast, wait for confirmations, read back."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from typing import Any

import sqlalchemy as sa
import structlog
from sqlmodel import col

from backend.chain.abi.outcome import Outcome
from backend.chain.bindings.failure_reason import reason
from backend.chain.coordination import scheduler
from backend.chain.errors import ChainUnavailable, InsufficientFunds, Reverted, RpcError
from backend.chain.models import TransactionRow, TransactionStatus
from backend.chain.rpc import floors, node_urls
from backend.chain.rpc.json_rpc import Rpc, connect
from backend.chain.rpc.receipts import Receipt, mined, outcome_of, succeeded
from backend.chain.rpc.terms import confirmations
from backend.chain.transactions import relay
from backend.chain.transactions.broadcast import broadcast
from backend.chain.transactions.replacement import NonceUsed, push
from backend.core import db

log = structlog.get_logger()
PATIENCE = 600.0
"""Seconds until a wait ends; the transaction stays open, and the next call with its key continues to wait."""
SILENCE = 60.0
"""Maximum seconds without an answer of the chain before a wait ends."""
RESEND = {True: 0.3, False: 20.0}
"""Seconds without a receipt after which a transaction is pushed, on an embedded chain or a public one."""

OnReplacement = Callable[[str], Awaitable[None]]


async def finish(row: TransactionRow, on_replacement: OnReplacement | None = None) -> Outcome:
    """Finish a stored transaction; `on_replacement` receives the hash of each replacement.

    Raises Reverted if the chain refused it, ChainUnavailable if the result is not known yet.
    """
    if row.status is TransactionStatus.CONFIRMED and row.receipt is not None:
        return outcome_of(row.receipt)
    if row.status is TransactionStatus.FAILED:
        raise Reverted.restored(row.problem or {"detail": "The transaction failed."})
    rpc = await connect(row.chain_eid)
    try:
        row, receipt = await _Wait(rpc, row, on_replacement).confirmed()
    except NonceUsed as lost:
        await _store(row, {"status": TransactionStatus.FAILED, "problem": lost.stored()})
        raise
    return await settle(rpc, row, receipt)


def _delays(eid: int) -> Iterator[float]:
    """Yield seconds between two checks: an embedded chain mines immediately, a public one every few seconds."""
    delay, most = (0.002, 0.25) if node_urls.is_embedded(eid) else (0.5, 4.0)
    while True:
        yield delay
        delay = min(delay * 1.6, most)


class _Wait:
    """A wait for a transaction's confirmations that survives node failures."""

    def __init__(self, rpc: Rpc, row: TransactionRow, on_replacement: OnReplacement | None) -> None:
        self._rpc = rpc
        self._row = row
        self._on_replacement = on_replacement
        self._started = self._heard = self._pushed = time.monotonic()

    async def confirmed(self) -> tuple[TransactionRow, Receipt]:
        """Return the receipt, once it has enough confirmations, and the current row."""
        await self._send()
        for delay in _delays(self._row.chain_eid):
            try:
                receipt = await self._look()
                self._heard = time.monotonic()
            except (ChainUnavailable, RpcError) as error:
                log.warning("transaction.wait_failed", eid=self._rpc.eid, tx_hash=self._row.tx_hash, error=error.detail)
                receipt = None
            if receipt is not None:
                return self._row, receipt
            self._check_patience()
            await asyncio.sleep(delay)
        raise AssertionError("the delays never end")

    async def _send(self) -> None:
        """Send it the first time. A node's error is not final: it is sent again later, or signed again."""
        try:
            await broadcast(self._rpc, self._row)
        except (ChainUnavailable, RpcError) as error:
            log.warning("transaction.broadcast_failed", eid=self._rpc.eid, tx_hash=self._row.tx_hash, error=str(error))
        except InsufficientFunds:
            if await _is_short(self._rpc, self._row):
                raise

    async def _look(self) -> Receipt | None:
        receipt = await relay.of(self._rpc).receipt(self._row)
        if receipt is not None:
            return receipt if await _is_deep(self._rpc, receipt) else None
        if time.monotonic() - self._pushed > RESEND[node_urls.is_embedded(self._rpc.eid)]:
            self._pushed = time.monotonic()
            await self._push()
        return None

    async def _push(self) -> None:
        before = self._row.tx_hash
        self._row = await push(self._rpc, self._row)
        if self._on_replacement is not None and self._row.tx_hash != before:
            await self._on_replacement(self._row.tx_hash)

    def _check_patience(self) -> None:
        now = time.monotonic()
        if now - self._started > PATIENCE or now - self._heard > SILENCE:
            raise ChainUnavailable(f"The transaction {self._row.tx_hash} is sent but not confirmed yet.")


async def _is_deep(rpc: Rpc, receipt: Receipt) -> bool:
    """Return whether the block has its confirmations and is still the receipt's block."""
    depth = confirmations(rpc.eid)
    if depth == 0:
        return True
    number = receipt["blockNumber"]
    head, block = await rpc.batch([("eth_blockNumber", []), ("eth_getBlockByNumber", [number, False])])
    return int(head, 16) >= int(number, 16) + depth and block is not None and block["hash"] == receipt["blockHash"]


async def _is_short(rpc: Rpc, row: TransactionRow) -> bool:
    """Return whether the signer cannot pay, by the newest state: the machine that said so may be behind it."""
    rpc.forget_height()
    return await rpc.balance(row.signer) < (row.value or 0) + row.gas * (row.max_fee or 0)


async def settle(rpc: Rpc, row: TransactionRow, receipt: Receipt) -> Outcome:
    """Write the end of a transaction and wake the indexer. Raises Reverted if it was refused."""
    read_at = time.monotonic()
    refusal = None if succeeded(receipt) else await reason(rpc, row, receipt)
    values = mined(row, receipt) | {"problem": refusal.stored() if refusal else None}
    await relay.of(rpc).end(row, values)
    floors.raise_to(row.chain_eid, int(receipt["blockNumber"], 16))
    scheduler.wake(row.chain_eid)
    if refusal is not None:
        raise refusal
    return replace(outcome_of(receipt), read_at=read_at)


async def _store(row: TransactionRow, values: dict[str, Any]) -> None:
    update = sa.update(TransactionRow).where(col(TransactionRow.id) == row.id).values(**values)
    async with db.worker() as session:
        await session.execute(update.execution_options(synchronize_session=False))
