"""From stored bytes to a final outcome: broadcast, wait for depth, read back."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import sqlalchemy as sa
import structlog
from sqlmodel import col

from backend import db
from backend.chain import endpoints, floors, indexer
from backend.chain.corrections import check_twice
from backend.chain.errors import ChainUnavailable, InsufficientFunds, Reverted, RpcError
from backend.chain.failing import reason
from backend.chain.models import TransactionRow, TransactionStatus
from backend.chain.outcome import Outcome
from backend.chain.pushing import NonceUsed, push
from backend.chain.receipts import Receipt, mined, outcome_of, receipts_of, succeeded
from backend.chain.rpc import Rpc, connect
from backend.chain.sending import broadcast

log = structlog.get_logger()
PATIENCE = 600.0
"""Seconds until a wait gives up; the transaction stays open, and the next call with its key goes on waiting."""
SILENCE = 60.0
"""Seconds that the chain may be silent before a wait gives up."""
RESEND = {True: 0.3, False: 20.0}
"""Seconds without a receipt after which a transaction is pushed, on an embedded chain or a public one."""

Told = Callable[[str], Awaitable[None]]


async def finish(row: TransactionRow, told: Told | None = None) -> Outcome:
    """Bring a stored transaction to its end; `told` hears the hash of each replacement. Raises Reverted where the
    chain refused it, ChainUnavailable where the end is not known yet."""
    if row.status is TransactionStatus.CONFIRMED and row.receipt is not None:
        return outcome_of(row.receipt)
    if row.status is TransactionStatus.FAILED:
        raise Reverted.restored(row.problem or {"detail": "The transaction failed."})
    rpc = await connect(row.chain_eid)
    try:
        row, receipt = await _Wait(rpc, row, told).confirmed()
    except NonceUsed as lost:
        await _store(row, {"status": TransactionStatus.FAILED, "problem": lost.stored()})
        raise
    return await settle(rpc, row, receipt)


def _delays(eid: int) -> Iterator[float]:
    """Seconds between two looks: an embedded chain mines at once, a public one every few seconds."""
    delay, most = (0.002, 0.25) if endpoints.is_embedded(eid) else (0.5, 4.0)
    while True:
        yield delay
        delay = min(delay * 1.6, most)


class _Wait:
    """A wait for a transaction's confirmations, over everything a node does meanwhile."""

    def __init__(self, rpc: Rpc, row: TransactionRow, told: Told | None) -> None:
        self._rpc = rpc
        self._row = row
        self._told = told
        self._started = self._heard = self._pushed = time.monotonic()

    async def confirmed(self) -> tuple[TransactionRow, Receipt]:
        """The receipt, once enough blocks lie on top of it, and the row as it is then."""
        await self._send()
        for delay in _delays(self._row.chain_eid):
            try:
                receipt = await self._look()
                self._heard = time.monotonic()
            except (ChainUnavailable, RpcError) as error:
                log.warning("chain.wait", eid=self._rpc.eid, tx_hash=self._row.tx_hash, error=error.detail)
                receipt = None
            if receipt is not None:
                return self._row, receipt
            self._check_patience()
            await asyncio.sleep(delay)
        raise AssertionError("the delays never end")

    async def _send(self) -> None:
        """The first time. What a node says of it is no end: it is sent again, or signed anew, as time goes by."""
        try:
            await broadcast(self._rpc, self._row)
        except (ChainUnavailable, RpcError) as error:
            log.warning("chain.send", eid=self._rpc.eid, tx_hash=self._row.tx_hash, error=str(error))
        except InsufficientFunds:
            if await _is_short(self._rpc, self._row):
                raise
        if self._row.status is TransactionStatus.PENDING:
            await _store(self._row, {"status": TransactionStatus.SUBMITTING})

    async def _look(self) -> Receipt | None:
        (receipt,) = await receipts_of(self._rpc, [self._row])
        if receipt is not None:
            return receipt if await _is_deep(self._rpc, receipt) else None
        if time.monotonic() - self._pushed > RESEND[endpoints.is_embedded(self._rpc.eid)]:
            self._pushed = time.monotonic()
            await self._push()
        return None

    async def _push(self) -> None:
        before = self._row.tx_hash
        self._row = await push(self._rpc, self._row)
        if self._told is not None and self._row.tx_hash != before:
            await self._told(self._row.tx_hash)

    def _check_patience(self) -> None:
        now = time.monotonic()
        if now - self._started > PATIENCE or now - self._heard > SILENCE:
            raise ChainUnavailable(f"The transaction {self._row.tx_hash} is sent but not confirmed yet.")


async def _is_deep(rpc: Rpc, receipt: Receipt) -> bool:
    """Whether the block has its confirmations and is still the one the receipt names."""
    depth = endpoints.confirmations(rpc.eid)
    if depth == 0:
        return True
    number = receipt["blockNumber"]
    head, block = await rpc.batch([("eth_blockNumber", []), ("eth_getBlockByNumber", [number, False])])
    return int(head, 16) >= int(number, 16) + depth and block is not None and block["hash"] == receipt["blockHash"]


async def _is_short(rpc: Rpc, row: TransactionRow) -> bool:
    """Whether the signer cannot pay, by the newest state: the machine that said so may be behind it."""
    rpc.forget_height()
    return await rpc.balance(row.signer) < (row.value or 0) + row.gas * (row.max_fee or 0)


async def settle(rpc: Rpc, row: TransactionRow, receipt: Receipt) -> Outcome:
    """Write the end of a transaction and wake the indexer. Raises Reverted where it was refused."""
    refusal = None if succeeded(receipt) else await reason(rpc, row, receipt)
    values = mined(row, receipt) | {"problem": refusal.stored() if refusal else None}
    async with db.worker() as session:
        await session.execute(_update(row, values))
        if refusal is None:
            await check_twice(session, row)
    floors.raise_to(row.chain_eid, int(receipt["blockNumber"], 16))
    indexer.wake(row.chain_eid)
    if refusal is not None:
        raise refusal
    return outcome_of(receipt)


async def _store(row: TransactionRow, values: dict[str, Any]) -> None:
    async with db.worker() as session:
        await session.execute(_update(row, values))


def _update(row: TransactionRow, values: dict[str, Any]) -> sa.Update:
    return sa.update(TransactionRow).where(col(TransactionRow.id) == row.id).values(**values)
