"""The transaction store: one signed transaction per intent, stored before it is broadcast.

A nonce is given out under a lock on its signer's row, in the transaction that stores the signed bytes, and only after
the call was simulated: no nonce is burnt by a call that would fail, and none is lost by a crash. The same intent finds
its own row again, and the same bytes are sent as often as it takes.
"""

from collections.abc import Awaitable, Callable

import sqlalchemy as sa
from sqlmodel import col

from backend import db
from backend.chain import confirming, nonces, pricing, signing
from backend.chain.calls import Intent
from backend.chain.models import TransactionRow, TransactionStatus
from backend.chain.outcome import Outcome
from backend.chain.recovery import recover
from backend.chain.rpc import connect
from backend.chain.wallet_provider import holder

__all__ = ["Intent", "Outcome", "execute", "find", "recover", "rehearse"]

OnStored = Callable[[str], Awaitable[None]]


async def find(key: str) -> TransactionRow | None:
    """The transaction of an intent, None before it is stored."""
    async with db.worker() as session:
        found = sa.select(TransactionRow).where(col(TransactionRow.key) == key)
        return (await session.execute(found)).scalar_one_or_none()


async def execute(intent: Intent, on_stored: OnStored | None = None) -> Outcome:
    """Sign, store, broadcast and confirm a transaction, or go on with the one this intent has already.

    One that failed is tried anew, and kept as `{key}#failed{nonce}`: that is how a request's retry works. Never inside
    an open transaction of the caller. `on_stored` is told the hash before the confirmation, and each one that replaces
    it. Raises Reverted, InsufficientFunds, ChainUnavailable, BadRequest.
    """
    row = await find(intent.key)
    if row is None or row.status is TransactionStatus.FAILED:
        row = await _prepare(intent)
    if on_stored is not None:
        await on_stored(row.tx_hash)
    return await confirming.finish(row, on_stored)


async def rehearse(intent: Intent) -> None:
    """Whether a transaction would pass and can be paid, before anybody is told it is accepted. Nothing is signed.

    Raises Reverted, InsufficientFunds, ChainUnavailable, BadRequest.
    """
    await pricing.terms(await connect(intent.chain_eid), intent)


async def _prepare(intent: Intent) -> TransactionRow:
    await holder(intent.signer)
    terms = await pricing.terms(await connect(intent.chain_eid), intent)
    async with db.worker() as session:
        signer = await nonces.lock(session, intent.chain_eid, intent.signer)
        found = sa.select(TransactionRow).where(col(TransactionRow.key) == intent.key)
        row = (await session.execute(found)).scalar_one_or_none()
        if row is not None and row.status is not TransactionStatus.FAILED:
            return row
        if row is not None:
            row.key = f"{row.key}#failed{row.nonce}"
            await session.flush()
        row = await signing.signed(intent, terms, nonces.give(signer, terms.mined))
        session.add(row)
    return row
