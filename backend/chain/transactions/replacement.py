"""Transactions that are not mined: send again, raise the fee, or give up if another one took the nonce.

A lost or missing nonce blocks all that follow, so everything before it is pushed too.
"""

from datetime import datetime, timedelta

import sqlalchemy as sa
import structlog
from sqlalchemy.exc import IntegrityError
from sqlmodel import col

from backend.chain.abi.calls import Call
from backend.chain.errors import Reverted
from backend.chain.models import TransactionRow, TransactionStatus
from backend.chain.rpc import finality, node_urls
from backend.chain.rpc.json_rpc import Rpc
from backend.chain.rpc.receipts import seek
from backend.chain.rpc.terms import terms_of
from backend.chain.signing import nonces, signed_transactions
from backend.chain.transactions import quote
from backend.chain.transactions.broadcast import OPEN, line, offer
from backend.core import db
from backend.core.recorded_time import recorded_now

log = structlog.get_logger()
TAKEN = {True: timedelta(seconds=1), False: timedelta(minutes=3)}
SIGHTINGS = {True: 3, False: 6}
"""For how long and how often in a row a nonce must be seen as used at a final block, without a receipt for any of the
transaction's hashes, before it counts as taken by another transaction; embedded, public."""
STUCK = {True: timedelta(seconds=5), False: timedelta(seconds=60)}
"""How long the next transaction of a signer may wait for its block before its fee is raised; embedded, public."""


class NonceUsed(Reverted):
    """Conflict"""


async def push(rpc: Rpc, row: TransactionRow) -> TransactionRow:
    """Push a transaction without a receipt; return its current row.

    Raises NonceUsed if another transaction has permanently taken its nonce.
    """
    if await _is_gone(rpc, row):
        raise NonceUsed(f"The nonce {row.nonce} of {row.signer} was used by another transaction.", name="NonceUsed")
    for earlier in await line(row):
        await offer(rpc, earlier)
    for nonce in await nonces.missing(rpc, row):
        await _fill(rpc, row, nonce)
    return await _bump(rpc, row) if await _is_stuck(rpc, row) else row


async def _is_gone(rpc: Rpc, row: TransactionRow) -> bool:
    """Return whether another transaction has the nonce, by consistent observations over time. A single one proves
    nothing: the count and the missing receipt may come from different machines."""
    heads = await finality.heads(rpc)
    is_taken = await nonces.is_used(rpc, row, heads.final) and await seek(rpc, [row]) == [None]
    if not is_taken and not row.taken_sightings:
        return False
    since, sightings = await _sighted(row, is_taken)
    is_embedded = node_urls.is_embedded(row.chain_eid)
    # A node without history counts at its newest block, which is final after this time.
    until_final = timedelta(seconds=(heads.latest - heads.final) * terms_of(rpc.eid).block_time)
    is_long = since is not None and db.now() - since >= max(TAKEN[is_embedded], until_final)
    return is_long and sightings >= SIGHTINGS[is_embedded]


async def _sighted(row: TransactionRow, is_taken: bool) -> tuple[datetime | None, int]:
    """Record an observation; one that contradicts the earlier ones resets the count."""
    since = sa.func.coalesce(col(TransactionRow.taken_since), db.now()) if is_taken else None
    count = col(TransactionRow.taken_sightings) + 1 if is_taken else 0
    note = sa.update(TransactionRow).where(col(TransactionRow.id) == row.id)
    kept = note.values(taken_since=since, taken_sightings=count, updated_at=col(TransactionRow.updated_at))
    async with db.worker() as session:
        answer = await session.execute(
            kept.returning(col(TransactionRow.taken_since), col(TransactionRow.taken_sightings))
        )
        row.taken_since, row.taken_sightings = answer.one()
    return row.taken_since, row.taken_sightings


async def _is_stuck(rpc: Rpc, row: TransactionRow) -> bool:
    """Return whether it is the signer's next, and has waited too long or cannot pay the base fee."""
    if await nonces.count(rpc, row.signer) != row.nonce:
        return False
    waited = recorded_now() - row.sent_at
    return waited > STUCK[node_urls.is_embedded(row.chain_eid)] or await quote.base_fee(rpc) > (row.max_fee or 0)


async def _bump(rpc: Rpc, row: TransactionRow) -> TransactionRow:
    """Replace it with the same call under the same nonce with a higher fee, once regardless of the number of
    callers."""
    terms = await quote.replacement(rpc, row)
    if terms is None:
        return row
    async with db.worker() as session:
        await db.check_owner(session)
        current = await session.get_one(TransactionRow, row.id, with_for_update=True)
        if current.status not in OPEN or current.tx_hash != row.tx_hash:
            return current
        await signed_transactions.sign_again(current, terms)
    log.info("transaction.fee_raised", eid=rpc.eid, tx_hash=current.tx_hash, nonce=row.nonce, max_fee=current.max_fee)
    await offer(rpc, current)
    return current


async def _fill(rpc: Rpc, row: TransactionRow, nonce: int) -> None:
    """Fill a nonce that was skipped because of a node's false count, with an empty transfer to ourselves.

    Signing the following transaction again would be simpler, but both could then be mined later.
    """
    key = f"gap:{row.chain_eid}:{row.signer}:{nonce}"
    intent = Call(row.signer, "0x").intent(key, eid=row.chain_eid, signer=row.signer, label="fill a nonce")
    terms = await quote.terms(rpc, intent)
    try:
        async with db.worker() as session:
            filler = await signed_transactions.signed(intent, terms, nonce)
            filler.status = TransactionStatus.SUBMITTING
            session.add(filler)
    except IntegrityError:
        return  # another process has filled it
    log.warning("transaction.nonce_gap_found", eid=rpc.eid, signer=row.signer, nonce=nonce)
    await offer(rpc, filler)
