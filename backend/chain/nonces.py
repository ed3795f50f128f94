"""Nonces: given out in the database, one after the other, and never believed to a node alone."""

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert
from sqlmodel import col

from backend import db
from backend.chain.errors import ChainUnavailable, RpcError
from backend.chain.models import SignerRow, TransactionRow
from backend.chain.rpc import Rpc
from backend.chain.transport import is_pruned

MOST_AHEAD = 1_000
"""How far a node's count may be ahead of ours. It is where our database is older than the chain; or the node lies."""
MOST_MISSING = 50
"""Missing nonces that are filled at a time."""


async def lock(session: db.Write, eid: int, address: str) -> SignerRow:
    """The signer's row, made where it is new; whoever has it gives out the next nonce."""
    fresh = SignerRow(chain_eid=eid, address=address)
    await session.execute(insert(SignerRow).values(**fresh.model_dump()).on_conflict_do_nothing())
    locked = sa.select(SignerRow).filter_by(chain_eid=eid, address=address).with_for_update()
    return (await session.execute(locked)).scalar_one()


def give(signer: SignerRow, told: int) -> int:
    """The next nonce of a locked signer: ours, or the chain's count where that is ahead. Raises ChainUnavailable."""
    if told > signer.next_nonce + MOST_AHEAD:
        raise ChainUnavailable(
            f"The node of the chain {signer.chain_eid} tells a nonce of {told} for {signer.address}, of which "
            f"{signer.next_nonce} are known here; it is not believed."
        )
    nonce = max(signer.next_nonce, told)
    signer.next_nonce = nonce + 1
    return nonce


async def is_used(rpc: Rpc, row: TransactionRow, block: int) -> bool:
    """Whether the chain counts the nonce of a transaction as used at a block, or now on a node without history."""
    try:
        told = await rpc.request("eth_getTransactionCount", row.signer, hex(block))
    except RpcError as error:
        if not is_pruned(error):
            raise
        return await count(rpc, row.signer) > row.nonce
    return int(told, 16) > row.nonce


async def missing(rpc: Rpc, row: TransactionRow) -> list[int]:
    """Nonces before a transaction's that nobody has: a node had told a count that was too high. Lowest first."""
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
    """How many transactions of an account are mined."""
    return int(await rpc.request("eth_getTransactionCount", address, "latest"), 16)
