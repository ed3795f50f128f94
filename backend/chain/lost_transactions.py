"""Refusals that may be a reorganization's fault.

A check before a request looks at the newest state of a chain. While a reorganization has taken back what was done
there, that state lacks it: the account that was just frozen is not, the tokens that were just minted are gone. It is
sent again and will be there, so a refusal is no answer yet; the caller is asked to come back.
"""

import asyncio
import math
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend import db
from backend.chain import endpoints
from backend.chain.corrections import SUPERSEDED
from backend.chain.errors import ChainUnavailable
from backend.chain.models import TransactionRow
from backend.chain.rpc import Request, connect
from backend.chain.sending import OPEN
from backend.chain.terms import Finality, terms_of
from backend.errors import Conflict, NotFound, Unavailable

LOOKS = 3
"""How often the chain is asked for the blocks at once: the machines of a pool learn of a reorganization one by one."""
BLOCKS = 20
"""The newest blocks with transactions of ours that are looked at."""
LASTS = timedelta(minutes=5)
"""How long after a reorganization a transaction may be on its way again; afterwards refusals are believed."""


class TransactionsLost(ChainUnavailable):
    """Service Unavailable"""


@asynccontextmanager
async def considered(session: db.Write, *eids: int) -> AsyncIterator[None]:
    """Inside, something may be refused by the state of these chains.

    Raises TransactionsLost in place of Conflict and NotFound while transactions of ours on one of them are lost.
    """
    try:
        yield
    except (Conflict, NotFound) as refusal:
        async with db.paused(session):
            for eid in eids:
                if await exist(eid):
                    raise _told(eid) from refusal
        raise


def _told(eid: int) -> TransactionsLost:
    terms = terms_of(eid)
    wait = max(1, math.ceil(terms.block_time * (terms.confirmations + 1)))
    return TransactionsLost(
        f"A reorganization of the chain {eid} took recent transactions back; they are being sent again, and whether "
        "this is possible can be told once they are there. Try again in a few seconds.",
        headers={"Retry-After": str(wait)},
    )


async def may_concern(request_id: UUID) -> bool:
    """Whether transactions of ours are lost on a chain on which a request has sent some, or no node can tell."""
    chains = sa.select(col(TransactionRow.chain_eid)).where(col(TransactionRow.request_id) == request_id).distinct()
    async with db.worker() as session:
        eids = (await session.scalars(chains)).all()
    try:
        return any([await exist(eid) for eid in eids])
    except Unavailable:
        return True


async def exist(eid: int) -> bool:
    """Whether a transaction of ours that was included on a chain is not there now.

    Raises ChainUnavailable and RpcError.
    """
    if endpoints.is_embedded(eid):
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
        for told in looks
        for (_, hash_), found in zip(blocks, told, strict=True)
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
    """The newest blocks with transactions of ours that a reorganization can still take back."""
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
