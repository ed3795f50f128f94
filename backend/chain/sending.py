"""Stored bytes to the node, as often as it takes: the hash is known, so sending twice is harmless."""

from collections.abc import Sequence

import sqlalchemy as sa
import structlog
from sqlmodel import col

from backend import db
from backend.chain.errors import ChainUnavailable, InsufficientFunds, Reverted, RpcError
from backend.chain.models import TransactionRow, TransactionStatus
from backend.chain.rpc import Rpc

log = structlog.get_logger()
OPEN = (TransactionStatus.PENDING, TransactionStatus.SUBMITTING)


async def broadcast(rpc: Rpc, row: TransactionRow) -> None:
    """Hand the bytes to the node.

    What it says of the nonce is not believed: the receipts tell, and the chain's own count (`nonces.is_used`).
    Raises InsufficientFunds, ChainUnavailable, RpcError.
    """
    try:
        await rpc.request("eth_sendRawTransaction", row.raw)
    except Reverted:
        return  # A node that mines at once may tell the outcome here; the receipt tells it too.
    except RpcError as error:
        if error.says("already known", "already imported", "alreadyknown", "nonce too low", "nonce is too low"):
            return
        if error.says("insufficient funds"):
            raise InsufficientFunds(
                f"The wallet {row.signer} has too little native currency on the chain {row.chain_eid}; the transaction "
                "is stored and goes out when the wallet is funded."
            ) from None
        raise


async def offer(rpc: Rpc, row: TransactionRow) -> bool:
    """Hand the bytes to the node; False where it would not have them now, which is in the log and is no end."""
    try:
        await broadcast(rpc, row)
    except (InsufficientFunds, ChainUnavailable, RpcError) as error:
        told = error.message if isinstance(error, RpcError) else error.detail
        log.warning("chain.send", eid=rpc.eid, tx_hash=row.tx_hash, error=told)
        return False
    return True


async def line(row: TransactionRow) -> Sequence[TransactionRow]:
    """What the signer has open up to a transaction, in the order of the nonces."""
    async with db.worker() as session:
        found = sa.select(TransactionRow).where(
            col(TransactionRow.chain_eid) == row.chain_eid,
            col(TransactionRow.signer) == row.signer,
            col(TransactionRow.nonce) <= row.nonce,
            col(TransactionRow.status).in_(OPEN),
        )
        return (await session.execute(found.order_by(sa.asc("nonce")))).scalars().all()
