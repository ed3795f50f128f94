"""Stored bytes to the node, as often as it takes: the hash is known, so sending twice is harmless."""

import sqlalchemy as sa
from sqlmodel import col

from backend import db
from backend.chain.errors import InsufficientFunds, Reverted, RpcError
from backend.chain.models import TransactionRow, TransactionStatus
from backend.chain.rpc import Rpc

OPEN = (TransactionStatus.PENDING, TransactionStatus.SUBMITTING)


async def broadcast(rpc: Rpc, row: TransactionRow) -> bool:
    """Hand the bytes to the node; False where it says that the nonce was used already, by this one or another."""
    try:
        await rpc.request("eth_sendRawTransaction", row.raw)
    except Reverted:
        return True  # A node that mines at once may tell the outcome here; the receipt tells it too.
    except RpcError as error:
        if error.says("already known", "already imported", "alreadyknown"):
            return True
        if error.says("nonce too low", "nonce is too low", "already been used"):
            return False
        if error.says("insufficient funds"):
            raise InsufficientFunds(
                f"The wallet {row.signer} has too little native currency on the chain {row.chain_eid}; the transaction "
                "is stored and goes out when the wallet is funded."
            ) from None
        raise
    return True


async def resend(rpc: Rpc, row: TransactionRow) -> None:
    """Send again what the signer has open up to this one: a lost nonce would hold back all that follow."""
    async with db.worker() as session:
        found = sa.select(TransactionRow).where(
            col(TransactionRow.chain_eid) == row.chain_eid,
            col(TransactionRow.signer) == row.signer,
            col(TransactionRow.nonce) <= row.nonce,
            col(TransactionRow.status).in_(OPEN),
        )
        rows = (await session.execute(found.order_by(sa.asc("nonce")))).scalars().all()
    for earlier in rows:
        await broadcast(rpc, earlier)
