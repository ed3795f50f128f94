"""Broadcast of stored transactions, with retries: the hash is known, so sending twice is harmless."""

from collections.abc import Sequence

import sqlalchemy as sa
import structlog
from sqlmodel import col

from backend.chain.errors import ChainUnavailable, InsufficientFunds, Reverted, RpcError
from backend.chain.models import TransactionRow, TransactionStatus
from backend.chain.rpc.json_rpc import Rpc
from backend.chain.transactions import relay
from backend.core import db

log = structlog.get_logger()
OPEN = (TransactionStatus.PENDING, TransactionStatus.SUBMITTING)


async def broadcast(rpc: Rpc, row: TransactionRow) -> None:
    """Send the bytes to the node.

    Its statements about the nonce are not trusted: receipts decide, and the chain's own count (`nonces.is_used`).
    Raises InsufficientFunds, ChainUnavailable, RpcError.
    """
    try:
        await relay.of(rpc).send(row.raw)
    except Reverted:
        return  # A node that mines immediately may report the outcome here; the receipt reports it too.
    except RpcError as error:
        if error.says("already known", "already imported", "alreadyknown", "nonce too low", "nonce is too low"):
            return
        if error.says("insufficient funds"):
            raise InsufficientFunds(
                f"The wallet {row.signer} has too little native currency on the chain {row.chain_eid}. The "
                "transaction is stored and is sent when the wallet is funded."
            ) from None
        raise


async def offer(rpc: Rpc, row: TransactionRow) -> bool:
    """Send the bytes to the node; return False if it refuses them now, which is logged and is not final."""
    try:
        await broadcast(rpc, row)
    except (InsufficientFunds, ChainUnavailable, RpcError) as error:
        answer = error.message if isinstance(error, RpcError) else error.detail
        log.warning("transaction.broadcast_failed", eid=rpc.eid, tx_hash=row.tx_hash, error=answer)
        return False
    return True


async def line(row: TransactionRow) -> Sequence[TransactionRow]:
    """Return the signer's open transactions up to one, in the order of the nonces."""
    async with db.worker() as session:
        found = sa.select(TransactionRow).where(
            col(TransactionRow.chain_eid) == row.chain_eid,
            col(TransactionRow.signer) == row.signer,
            col(TransactionRow.nonce) <= row.nonce,
            col(TransactionRow.status).in_(OPEN),
        )
        return (await session.execute(found.order_by(sa.asc("nonce")))).scalars().all()
