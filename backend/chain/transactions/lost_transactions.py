"""Refusals that a reorg may have caused.

A check before a request reads the newest state of a chain. After a reorg has removed transactions, that state lacks
their effects: a frozen account is not frozen, minted tokens are missing. The transactions are sent again, so a refusal
is not final; the caller is asked to retry.
"""

import asyncio
import math
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.chain.errors import ChainUnavailable
from backend.chain.finality import Finality
from backend.chain.models import TransactionRow
from backend.chain.rpc import node_urls
from backend.chain.rpc.json_rpc import Request, connect
from backend.chain.rpc.terms import terms_of
from backend.chain.transactions.broadcast import OPEN
from backend.chain.transactions.corrections import SUPERSEDED
from backend.core import db
from backend.core.errors import Conflict, NotFound, Unavailable

LOOKS = 3
"""How often the chain is queried for the blocks in immediate succession: the machines of a pool learn of a reorg one by
one."""
BLOCKS = 20
"""The newest blocks with our transactions that are checked."""
LASTS = timedelta(minutes=5)
"""How long after a reorg a transaction may still be pending again; afterwards refusals are trusted."""


class TransactionsLost(ChainUnavailable):
    """Service Unavailable"""


@asynccontextmanager
async def considered(session: db.Write, *eids: int) -> AsyncIterator[None]:
    """Guard operations that may be refused because of the state of these chains.

    Raises TransactionsLost instead of Conflict and NotFound while transactions of ours on one of them are lost.
    """
    try:
        yield
    except (Conflict, NotFound) as refusal:
        async with db.paused(session):
            for eid in eids:
                if await exist(eid):
                    raise _refusal(eid) from refusal
        raise


def _refusal(eid: int) -> TransactionsLost:
    terms = terms_of(eid)
    wait = max(1, math.ceil(terms.block_time * (terms.confirmations + 1)))
    return TransactionsLost(
        f"A reorganization of the chain {eid} removed recent transactions. They are being sent again; until then it is "
        "unknown whether this operation is possible. Retry in a few seconds.",
        headers={"Retry-After": str(wait)},
    )


async def may_concern(request_id: UUID) -> bool:
    """Return whether transactions of ours are lost on a chain to which a request has sent some, or no node knows."""
    chains = sa.select(col(TransactionRow.chain_eid)).where(col(TransactionRow.request_id) == request_id).distinct()
    async with db.worker() as session:
        eids = (await session.scalars(chains)).all()
    try:
        return any([await exist(eid) for eid in eids])
    except Unavailable:
        return True


async def exist(eid: int) -> bool:
    """Return whether one of our included transactions is missing from its chain.

    Raises ChainUnavailable and RpcError.
    """
    if node_urls.is_embedded(eid):
        return False
    if await _is_on_its_way_again(eid):
        return True
    blocks = await _blocks(eid)
    if not blocks:
        return False
    rpc = await connect(eid)
    calls: list[Request] = [("eth_getBlockByNumber", [hex(number), False]) for number, _ in blocks]
    looks = await asyncio.gather(*(rpc.batch(calls) for _ in range(LOOKS)))
    # A machine without a block is behind; the state that refused came from one that has it.
    return any(
        found is not None and found["hash"] != hash_
        for answer in looks
        for (_, hash_), found in zip(blocks, answer, strict=True)
    )


async def _is_on_its_way_again(eid: int) -> bool:
    found = sa.select(col(TransactionRow.id)).where(
        *_of(eid),
        col(TransactionRow.status).in_(OPEN),
        col(TransactionRow.reopened_at) > db.now() - LASTS,
    )
    async with db.worker() as session:
        return await session.scalar(found.limit(1)) is not None


async def _blocks(eid: int) -> Sequence[tuple[int, str]]:
    """Return the newest blocks with our transactions that a reorg can still remove."""
    number, hash_ = col(TransactionRow.block_number), col(TransactionRow.block_hash)
    found = sa.select(number, hash_).where(
        *_of(eid), col(TransactionRow.finality).in_([Finality.INCLUDED, Finality.SAFE])
    )
    async with db.worker() as session:
        rows = await session.execute(found.distinct().order_by(number.desc()).limit(BLOCKS))
        return [(row.block_number, row.block_hash) for row in rows]


def _of(eid: int) -> tuple[sa.ColumnElement[bool], ...]:
    return (
        col(TransactionRow.chain_eid) == eid,
        col(TransactionRow.key).not_like(f"%{SUPERSEDED}%"),
    )
