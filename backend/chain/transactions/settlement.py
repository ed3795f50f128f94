"""Settlement: the process that indexes a chain brings its transactions to their final state.

It finishes open transactions that no workflow waits for, searches again for those marked failed without a receipt,
raises included transactions to safe and final, and reopens those whose block was replaced. No database transaction is
open during chain queries: each change is written separately, to a row that has not changed since the query.
"""

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import sqlalchemy as sa
import structlog
from sqlmodel import col

from backend.chain.bindings.failure_reason import reason
from backend.chain.errors import InsufficientFunds, Reverted
from backend.chain.finality import Finality
from backend.chain.models import TransactionRow, TransactionStatus
from backend.chain.rpc import finality, floors, node_urls
from backend.chain.rpc.finality import Heads
from backend.chain.rpc.json_rpc import Rpc
from backend.chain.rpc.receipts import Receipt, mined, receipts_of, succeeded
from backend.chain.rpc.terms import reaches
from backend.chain.signing import signed_transactions
from backend.chain.transactions import corrections, quote
from backend.chain.transactions.broadcast import OPEN, offer
from backend.chain.transactions.corrections import SUPERSEDED, Change, announce
from backend.chain.transactions.replacement import NonceUsed, push
from backend.core import db
from backend.core.recorded_time import recorded_now
from backend.core.runtime import runtime

log = structlog.get_logger()
LEFT_ALONE = timedelta(seconds=5)
"""How long an open transaction is left to the workflow that waits for it."""
SEARCH = 15.0
"""Seconds between two searches for transactions that were marked failed without a receipt."""
RECHECK = timedelta(seconds=15)
"""The minimum pause between two searches for one of them; a twentieth of its age when it is older, at most an hour."""
_OLDER = sa.text("updated_at < now() - least(greatest((now() - sent_at) / 20, :least), interval '1 hour')")
BATCH = 200
"""Rows checked in one pass."""
# Declared at import.
_follows: list[Callable[[int], Awaitable[None]]] = []


@dataclass
class Searches:
    """When this process last searched for failed transactions without a receipt, by chain and `time.monotonic`."""

    at: dict[int, float] = field(default_factory=dict)


async def settle(rpc: Rpc) -> None:
    """Do all due work for the transactions of a chain. Raises ChainUnavailable and RpcError."""
    has_changed = await settle_open(rpc)
    searches = runtime.part(Searches)
    is_search_due = time.monotonic() - searches.at.get(rpc.eid, -SEARCH) >= SEARCH
    if node_urls.is_embedded(rpc.eid) and not has_changed and not is_search_due:
        return  # its blocks are final immediately
    await _settle_included(rpc)
    if is_search_due:
        searches.at[rpc.eid] = time.monotonic()
        await _settle_unmined(rpc)
    for follow in _follows:
        await follow(rpc.eid)


def then(*follows: Callable[[int], Awaitable[None]]) -> None:
    """Register functions called with the chain after each settlement; duplicates are ignored."""
    _follows.extend(follow for follow in follows if follow not in _follows)


async def settle_open(rpc: Rpc) -> bool:
    """Finish open transactions that are mined and deep enough, and push the others; return whether there were any."""
    rows = await _rows(
        rpc.eid, col(TransactionRow.status).in_(OPEN), col(TransactionRow.updated_at) < recorded_now() - LEFT_ALONE
    )
    if not rows:
        return False
    included = (await finality.heads(rpc)).included
    for row, receipt in zip(rows, await receipts_of(rpc, rows), strict=True):
        if receipt is None:
            await _push(rpc, row)
        elif int(receipt["blockNumber"], 16) <= included and await _is_canonical(rpc, receipt):
            await _end(rpc, row, receipt, Change.ALTERED if _is_altered(row, receipt) else Change.SETTLED)
    return True


async def follow_reorg(rpc: Rpc, block: int) -> None:
    """Check every transaction above the newest block that both branches share: reopen those whose block was replaced,
    and send them again. Those that the queried machine still has in their block are checked once more."""
    rows = await _rows(rpc.eid, col(TransactionRow.block_number) > block, limit=None)
    replaced = {row.id for row in await _reopen_replaced(rpc, rows)}
    await corrections.check(rpc.eid, [row.id for row in rows if row.id not in replaced])


async def _settle_included(rpc: Rpc) -> None:
    """Raise transactions to safe and final as the chain's heads rise, after checking that each is still in its block;
    and compare those due for a check with the chain."""
    rising = col(TransactionRow.finality).in_([Finality.INCLUDED, Finality.SAFE])
    due = sa.and_(col(TransactionRow.is_check_due), col(TransactionRow.block_number).is_not(None))
    rows = await _rows(rpc.eid, sa.or_(rising, due))
    if not rows:
        return
    heads = await finality.heads(rpc)
    ready = [row for row in rows if row.is_check_due or heads.of(row.block_number or 0) is not row.finality]
    if not ready:
        return
    seen, hashes = await finality.with_blocks(rpc, sorted({row.block_number or 0 for row in ready}))
    for row in ready:
        if hashes.get(row.block_number or 0) == row.block_hash:
            await _raise(row, seen)
    await _reopen_replaced(rpc, [row for row in ready if hashes.get(row.block_number or 0) != row.block_hash])


async def _raise(row: TransactionRow, heads: Heads) -> None:
    """Record a block's finality on a machine that has it; a higher finality from another machine stays."""
    level = heads.of(row.block_number or 0) or Finality.INCLUDED

    def note(current: TransactionRow) -> None:
        if not reaches(current.finality, level):
            current.finality = level
        current.is_check_due = False

    await _change(row, note, None)


async def _settle_unmined(rpc: Rpc) -> None:
    """Search again for the receipts of transactions that were marked failed without one; the older, the less often."""
    rows = await _rows(
        rpc.eid,
        col(TransactionRow.status) == TransactionStatus.FAILED,
        col(TransactionRow.block_number).is_(None),
        sa.or_(col(TransactionRow.is_check_due), _OLDER.bindparams(least=RECHECK)),
    )
    if not rows:
        return
    included = (await finality.heads(rpc)).included
    for row, receipt in zip(rows, await receipts_of(rpc, rows), strict=True):
        if receipt is None:
            await _change(row, _looked, None)
        elif int(receipt["blockNumber"], 16) <= included and await _is_canonical(rpc, receipt):
            await _end(rpc, row, receipt, Change.FOUND)


async def _reopen_replaced(rpc: Rpc, rows: Sequence[TransactionRow]) -> list[TransactionRow]:
    """Reopen and return the transactions whose block was replaced. A block that a machine does not have is no proof:
    its transaction is checked again later."""
    replaced = [row for row in rows if row.block_number is not None and await _was_replaced(rpc, row)]
    for row in replaced:
        current = await _change(row, _reopen, Change.LOST)
        if current is None:
            continue
        log.warning("transaction.reopened", eid=rpc.eid, tx_hash=row.tx_hash, block_number=row.block_number)
        if SUPERSEDED in current.key:
            await _cancel(rpc, current)
        else:
            await offer(rpc, current)
    return replaced


async def _was_replaced(rpc: Rpc, row: TransactionRow) -> bool:
    """Return whether two reads show another block at the transaction's height."""
    for _ in range(1 if node_urls.is_embedded(rpc.eid) else 2):
        block = await rpc.request("eth_getBlockByNumber", hex(row.block_number or 0), False)
        if block is None or block["hash"] == row.block_hash:
            return False
    return True


async def _is_canonical(rpc: Rpc, receipt: Receipt) -> bool:
    block = await rpc.request("eth_getBlockByNumber", receipt["blockNumber"], False)
    return block is not None and bool(block["hash"] == receipt["blockHash"])


def _is_altered(row: TransactionRow, receipt: Receipt) -> bool:
    """Return whether a reorganized transaction had another effect than in the replaced block."""
    before = row.reopened_receipt
    return before is not None and succeeded(before) and succeeded(receipt) and _effect(before) != _effect(receipt)


def _effect(receipt: Mapping[str, Any]) -> tuple[Any, ...]:
    logs = [(entry["address"].lower(), entry["topics"], entry["data"]) for entry in receipt["logs"]]
    return (receipt.get("contractAddress") or "").lower(), logs


def _looked(row: TransactionRow) -> None:
    row.updated_at, row.is_check_due = recorded_now(), False


def _reopen(row: TransactionRow) -> None:
    row.reopened_receipt = row.receipt
    row.status, row.block_number, row.block_hash, row.receipt = TransactionStatus.SUBMITTING, None, None, None
    row.problem, row.finality, row.reopened_at, row.is_check_due = None, None, db.now(), False


async def _cancel(rpc: Rpc, row: TransactionRow) -> None:
    """Cancel the nonce of a failed transaction that is open again, although its intent was signed again since."""
    terms = await quote.replacement(rpc, row)
    if terms is None:
        return
    async with db.worker() as session:
        current = await session.get_one(TransactionRow, row.id, with_for_update=True)
        if current.status not in OPEN or current.tx_hash != row.tx_hash:
            return
        await signed_transactions.sign_cancellation(current, terms)
    await offer(rpc, current)


async def _push(rpc: Rpc, row: TransactionRow) -> None:
    try:
        await push(rpc, row)
    except NonceUsed as lost:
        problem = lost.stored()

        def fail(current: TransactionRow) -> None:
            current.status, current.problem = TransactionStatus.FAILED, problem

        await _change(row, fail, Change.SETTLED)
        return
    except (Reverted, InsufficientFunds) as error:
        log.warning("transaction.resend_failed", eid=rpc.eid, tx_hash=row.tx_hash, error=error.detail)
    touched = sa.update(TransactionRow).where(col(TransactionRow.id) == row.id)
    async with db.worker() as session:
        await session.execute(touched.values(updated_at=recorded_now()))


async def _end(rpc: Rpc, row: TransactionRow, receipt: Receipt, change: Change) -> None:
    """Write what a receipt settles."""
    values = mined(row, receipt) | {"is_check_due": False}
    values["problem"] = None if succeeded(receipt) else (await reason(rpc, row, receipt)).stored()

    def note(current: TransactionRow) -> None:
        for name, value in values.items():
            setattr(current, name, value)

    await _change(row, note, change)
    floors.raise_to(rpc.eid, int(receipt["blockNumber"], 16))


async def _change(
    row: TransactionRow, apply: Callable[[TransactionRow], None], change: Change | None
) -> TransactionRow | None:
    """Change a row that has not changed since the chain query; None if it has."""
    async with db.worker() as session:
        current = await session.get_one(TransactionRow, row.id, with_for_update=True)
        before = (row.status, row.tx_hash, row.block_hash)
        if (current.status, current.tx_hash, current.block_hash) != before:
            return None
        apply(current)
        await session.flush()
        if change is not None:
            await announce(session, current, change)
        return current


async def _rows(eid: int, *conditions: Any, limit: int | None = BATCH) -> Sequence[TransactionRow]:
    found = sa.select(TransactionRow).where(col(TransactionRow.chain_eid) == eid, *conditions)
    async with db.look() as session:
        rows = await session.execute(found.order_by(sa.asc("block_number"), sa.asc("nonce")).limit(limit))
        return rows.scalars().all()
