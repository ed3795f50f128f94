"""Nonces: assigned in the database, one after the other; a single node's count is never trusted alone."""

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert
from sqlmodel import col

from backend.chain.errors import ChainUnavailable, RpcError
from backend.chain.models import SignerRow, TransactionRow
from backend.chain.rpc.json_rpc import Rpc
from backend.chain.rpc.transport import is_pruned
from backend.core import db

MOST_AHEAD = 1_000
"""How far a node's count may be ahead of ours. It is ahead if our database is older than the chain, or the node
lies."""
_MOST_COUNTED = 2**62
"""No count above this fits into the column."""
MOST_MISSING = 50
"""Maximum number of missing nonces filled at a time."""


async def lock(session: db.Write, eid: int, address: str) -> SignerRow:
    """Return the signer's row, locked, created if needed; the lock's holder assigns the next nonce.

    Raises in a workflow that another process has taken over.
    """
    await db.check_owner(session)
    locked = sa.select(SignerRow).filter_by(chain_eid=eid, address=address).with_for_update()
    if (known := (await session.execute(locked)).scalar_one_or_none()) is not None:
        return known
    fresh = SignerRow(chain_eid=eid, address=address)
    await session.execute(insert(SignerRow).values(**fresh.model_dump()).on_conflict_do_nothing())
    return (await session.execute(locked)).scalar_one()


async def take(session: db.Write, eid: int, address: str, answer: int, count: int = 1) -> int:
    """Assign a signer's next nonces and return the first, as `lock` and `give` do, in one statement if the row
    exists."""
    mined, ours = sa.literal(min(answer, _MOST_COUNTED), sa.BigInteger), col(SignerRow.next_nonce)
    mine = (col(SignerRow.chain_eid) == eid, col(SignerRow.address) == address)
    taken = (
        sa.update(SignerRow)
        .where(*mine, ours >= mined - MOST_AHEAD)
        .values(next_nonce=sa.func.greatest(ours, mined) + count)
    )
    following: int | None = await session.scalar(
        taken.returning(ours), execution_options={"synchronize_session": False}
    )
    if following is None:
        return give(await lock(session, eid, address), answer, count)
    return following - count


def give(signer: SignerRow, answer: int, count: int = 1) -> int:
    """Return the first of the next nonces of a locked signer: ours, or the chain's count if that is ahead. Raises
    ChainUnavailable."""
    if answer > signer.next_nonce + MOST_AHEAD:
        raise ChainUnavailable(
            f"The node of the chain {signer.chain_eid} reports a nonce of {answer} for {signer.address}, but only "
            f"{signer.next_nonce} are known here; the node is not trusted."
        )
    nonce = max(signer.next_nonce, answer)
    signer.next_nonce = nonce + count
    return nonce


async def is_used(rpc: Rpc, row: TransactionRow, block: int) -> bool:
    """Return whether the chain counts the nonce of a transaction as used at a block, or now on a node without
    history."""
    try:
        answer = await rpc.request("eth_getTransactionCount", row.signer, hex(block))
    except RpcError as error:
        if not is_pruned(error):
            raise
        return await count(rpc, row.signer) > row.nonce
    return int(answer, 16) > row.nonce


async def missing(rpc: Rpc, row: TransactionRow) -> list[int]:
    """Return unassigned nonces before a transaction's, skipped because a node reported a count that was too high.
    Lowest first."""
    mined = await count(rpc, row.signer)
    mine = sa.select(col(TransactionRow.nonce)).where(
        col(TransactionRow.chain_eid) == row.chain_eid,
        col(TransactionRow.signer) == row.signer,
        col(TransactionRow.nonce) >= mined,
    )
    async with db.worker() as session:
        taken = set((await session.execute(mine)).scalars())
    last = min(row.nonce, mined + MOST_AHEAD)
    return [nonce for nonce in range(mined, last) if nonce not in taken][:MOST_MISSING]


async def count(rpc: Rpc, address: str) -> int:
    """Return how many transactions of an account are mined."""
    return int(await rpc.request("eth_getTransactionCount", address, "latest"), 16)
