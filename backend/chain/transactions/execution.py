"""Execution of transactions: one signed transaction per intent, stored before it is broadcast.

A nonce is assigned under a lock on its signer's row, in the transaction that stores the signed bytes, and only after
the call was simulated: a call that would fail uses no nonce, and a crash loses none. The same intent finds its own row
again, and the same bytes are sent as often as needed.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError
from sqlmodel import col

from backend.chain.abi.calls import Intent
from backend.chain.abi.outcome import Outcome
from backend.chain.errors import ChainUnavailable, Reverted
from backend.chain.finality import Finality
from backend.chain.models import TransactionRow, TransactionStatus
from backend.chain.rpc import node_urls
from backend.chain.rpc.json_rpc import Rpc, connect, patience_here
from backend.chain.rpc.receipts import seek, succeeded
from backend.chain.rpc.terms import terms_of
from backend.chain.signing import nonces, signed_transactions
from backend.chain.signing.fees import Terms
from backend.chain.signing.wallet_provider import holder
from backend.chain.transactions import confirmation, lost_transactions, quote
from backend.chain.transactions.broadcast import OPEN
from backend.chain.transactions.corrections import SUPERSEDED, Change, announce, lineage
from backend.chain.transactions.recovery import recover
from backend.core import db
from backend.tracing import spans

__all__ = ["Intent", "Outcome", "execute", "find", "finish_open", "recover", "rehearse"]

OnStored = Callable[[str], Awaitable[None]]


async def find(key: str) -> TransactionRow | None:
    """Return the transaction of an intent, None before it is stored."""
    async with db.look() as session:
        return await _current(session, key)


async def execute(intent: Intent, on_stored: OnStored | None = None) -> Outcome:
    """Sign, store, broadcast and confirm a transaction, or continue the one that this intent already has.

    A failed one is signed again under a new nonce, unless an earlier one of this intent is mined after all; the failed
    one is kept as `{key}#failed{nonce}`. This is how a request's retry works. Do not call it inside an open
    transaction. `on_stored` receives the hash before the confirmation, and each replacement's. Raises Reverted,
    InsufficientFunds, ChainUnavailable, BadRequest.
    """
    with spans.span("transaction", "PRODUCER", **{"signum.chain": intent.chain_eid}) as span:
        row = await find(intent.key)
        is_new = row is None
        if row is not None and row.status is TransactionStatus.FAILED:
            row = await _mined_before(await connect(intent.chain_eid), intent.key)
        if row is None:
            row = await _prepare(intent, is_new)
        span.set_attribute("signum.tx_hash", row.tx_hash)
        if on_stored is not None:
            await on_stored(row.tx_hash)
        return await confirmation.finish(row, on_stored)


async def finish_open(request_id: UUID) -> None:
    """Finish a request's transactions that a run before a crash left open, and whose effect this run found on the
    chain. A failure changes nothing that the request relied on."""
    found = sa.select(TransactionRow).where(
        col(TransactionRow.request_id) == request_id, col(TransactionRow.status).in_(OPEN)
    )
    async with db.look() as session:
        rows = (await session.execute(found)).scalars().all()
    for row in rows:
        with suppress(Reverted, ChainUnavailable):
            await confirmation.finish(row)


async def rehearse(intent: Intent) -> None:
    """Check that a transaction would pass and can be paid for, before its request is accepted. Nothing is signed.

    Raises Reverted, InsufficientFunds, ChainUnavailable, BadRequest.
    """
    await quote.terms(await connect(intent.chain_eid), intent)


async def _prepare(intent: Intent, is_new: bool = True) -> TransactionRow:
    """Sign and store an intent's transaction. `is_new`: the intent had none yet."""
    await holder(intent.signer)
    rpc = await connect(intent.chain_eid)
    terms = await _simulated(rpc, intent)
    if is_new:
        with suppress(IntegrityError):  # another run stored one in the meantime; this nonce was not used
            return await _store(intent, terms)
    async with db.worker() as session:
        signer = await nonces.lock(session, intent.chain_eid, intent.signer)
        row = await _current(session, intent.key)
        if row is not None and row.status is not TransactionStatus.FAILED:
            return row
        if row is not None:
            row.key = f"{row.key}{SUPERSEDED}{row.nonce}"
            await session.flush()
        row = await signed_transactions.signed(intent, terms, nonces.give(signer, terms.mined))
        session.add(row)
    return row


async def _store(intent: Intent, terms: Terms) -> TransactionRow:
    """Store an intent's first transaction; IntegrityError if it has one. Its unique key decides, instead of a read."""
    async with db.worker(is_owned=True) as session:
        nonce = await nonces.take(session, intent.chain_eid, intent.signer, terms.mined)
        row = await signed_transactions.signed(intent, terms, nonce)
        session.add(row)
    return row


async def _simulated(rpc: Rpc, intent: Intent) -> Terms:
    """Return the terms to sign the transaction with. Raises Reverted if the contract refuses it.

    While a reorg can still remove an earlier transaction of the same request, or has removed transactions of ours on
    the chain, a refusal may only be caused by that: the simulation is repeated for as long as the caller has patience.
    """
    ends = time.monotonic() + patience_here()
    while True:
        try:
            return await quote.terms(rpc, intent)
        except Reverted:
            pause = terms_of(intent.chain_eid).block_time
            if time.monotonic() + pause > ends or not await _may_pass(intent):
                raise
        await asyncio.sleep(pause)


async def _may_pass(intent: Intent) -> bool:
    return await _builds_on_what_may_be_lost(intent) or await lost_transactions.exist(intent.chain_eid)


async def _builds_on_what_may_be_lost(intent: Intent) -> bool:
    if intent.request_id is None or node_urls.is_embedded(intent.chain_eid):
        return False
    found = sa.select(col(TransactionRow.id)).where(
        col(TransactionRow.request_id) == intent.request_id,
        col(TransactionRow.chain_eid) == intent.chain_eid,
        col(TransactionRow.key) != intent.key,
        col(TransactionRow.status) != TransactionStatus.FAILED,
        col(TransactionRow.finality).is_distinct_from(Finality.FINAL),
    )
    async with db.worker() as session:
        return await session.scalar(found.limit(1)) is not None


async def _current(session: db.Read | db.Write, key: str) -> TransactionRow | None:
    found = sa.select(TransactionRow).where(col(TransactionRow.key) == key)
    return (await session.execute(found)).scalar_one_or_none()


async def _mined_before(rpc: Rpc, key: str) -> TransactionRow | None:
    """Check every hash ever signed for an intent before it is signed again. One that is mined although its row says
    failed is the intent's transaction: its row is opened again, for `confirming` to finish it."""
    async with db.worker() as session:
        rows = [row for row in await lineage(session, key) if row.status is TransactionStatus.FAILED]
    if not rows:
        return None
    for row, receipt in zip(rows, await seek(rpc, rows), strict=True):
        if receipt is not None and (row.receipt is None or succeeded(receipt)):
            return await _restored(key, row.id)
    return None


async def _restored(key: str, row_id: UUID) -> TransactionRow:
    """Make a row that was marked failed its intent's current one again."""
    async with db.worker() as session:
        row = await session.get_one(TransactionRow, row_id, with_for_update=True)
        current = await _current(session, key)
        if current is not None and current.id != row.id:
            current.key = f"{key}{SUPERSEDED}{current.nonce}"
            await session.flush()
        row.key, row.problem = key, None
        if row.status is TransactionStatus.FAILED:
            row.status, row.block_number, row.block_hash = TransactionStatus.SUBMITTING, None, None
            row.receipt, row.finality = None, None
        await session.flush()
        await announce(session, row, Change.FOUND)
    return row
