"""The transaction store: one signed transaction per intent, stored before it is broadcast.

A nonce is given out under a lock on its signer's row, in the transaction that stores the signed bytes, and only after
the call was simulated: no nonce is burnt by a call that would fail, and none is lost by a crash. The same intent finds
its own row again, and the same bytes are sent as often as it takes.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert
from sqlmodel import col

from backend import db
from backend.chain import confirming
from backend.chain.calls import Call, Intent
from backend.chain.errors import InsufficientFunds, Reverted, RpcError
from backend.chain.models import SignerRow, TransactionRow, TransactionStatus
from backend.chain.outcome import Outcome
from backend.chain.recovery import recover
from backend.chain.rpc import Rpc, connect, transaction
from backend.chain.wallet_provider import provider
from backend.errors import BadRequest

__all__ = ["Intent", "Outcome", "execute", "find", "recover", "rehearse"]

OnStored = Callable[[str], Awaitable[None]]
GAS_MARGIN = 1.3
"""What the state may change between the estimate and the block; unused gas costs nothing."""


@dataclass(frozen=True, slots=True)
class _Terms:
    gas: int
    max_fee: int
    tip: int
    chain_id: int
    mined: int
    """Nonce by the chain's count; ours is never below it."""


async def find(key: str) -> TransactionRow | None:
    """The transaction of an intent, None before it is stored."""
    async with db.worker() as session:
        found = sa.select(TransactionRow).where(col(TransactionRow.key) == key)
        return (await session.execute(found)).scalar_one_or_none()


async def execute(intent: Intent, on_stored: OnStored | None = None) -> Outcome:
    """Sign, store, broadcast and confirm a transaction, or go on with the one this intent has already.

    One that failed is tried anew, and kept as `{key}#failed{nonce}`: that is how a request's retry works. Never inside
    an open transaction of the caller. `on_stored` is told the hash before the confirmation.
    Raises Reverted, InsufficientFunds, ChainUnavailable, BadRequest.
    """
    row = await find(intent.key)
    if row is None or row.status is TransactionStatus.FAILED:
        row = await _prepare(intent)
    if on_stored is not None:
        await on_stored(row.tx_hash)
    return await confirming.finish(row)


async def rehearse(intent: Intent) -> None:
    """Whether a transaction would pass and can be paid, before anybody is told it is accepted. Nothing is signed.

    Raises Reverted, InsufficientFunds, ChainUnavailable, BadRequest.
    """
    await _terms(await connect(intent.chain_eid), intent)


async def _prepare(intent: Intent) -> TransactionRow:
    if not provider().has(intent.signer):
        raise BadRequest(f"No key is held for the wallet {intent.signer}; it cannot sign here.")
    rpc = await connect(intent.chain_eid)
    terms = await _terms(rpc, intent)
    async with db.worker() as session:
        signer = await _lock_signer(session, intent)
        found = sa.select(TransactionRow).where(col(TransactionRow.key) == intent.key)
        row = (await session.execute(found)).scalar_one_or_none()
        if row is not None and row.status is not TransactionStatus.FAILED:
            return row
        if row is not None:
            row.key = f"{row.key}#failed{row.nonce}"
            await session.flush()
        nonce = max(signer.next_nonce, terms.mined)
        signer.next_nonce = nonce + 1
        row = await _signed(intent, terms, nonce)
        session.add(row)
    return row


async def _lock_signer(session: db.Write, intent: Intent) -> SignerRow:
    """The signer's row, made where it is new; whoever has it gives out the next nonce."""
    fresh = SignerRow(chain_eid=intent.chain_eid, address=intent.signer)
    await session.execute(insert(SignerRow).values(**fresh.model_dump()).on_conflict_do_nothing())
    locked = sa.select(SignerRow).filter_by(chain_eid=intent.chain_eid, address=intent.signer).with_for_update()
    return (await session.execute(locked)).scalar_one()


async def _signed(intent: Intent, terms: _Terms, nonce: int) -> TransactionRow:
    fields: dict[str, Any] = {
        "type": 2,
        "chainId": terms.chain_id,
        "nonce": nonce,
        "gas": terms.gas,
        "value": intent.value,
        "maxFeePerGas": terms.max_fee,
        "maxPriorityFeePerGas": terms.tip,
        "data": intent.data,
    }
    if intent.to is not None:
        fields["to"] = intent.to
    signed = await provider().sign_transaction(intent.signer, fields)
    return TransactionRow(
        organization_id=intent.organization_id,
        key=intent.key,
        chain_eid=intent.chain_eid,
        signer=intent.signer,
        nonce=nonce,
        to_address=intent.to,
        data=intent.data,
        value=intent.value,
        raw=signed.raw,
        tx_hash=signed.tx_hash,
        label=intent.label,
    )


async def _terms(rpc: Rpc, intent: Intent) -> _Terms:
    """Simulate the call and price it, in one round trip. Raises Reverted and InsufficientFunds."""
    parameters = transaction(Call(intent.to, intent.data, intent.value), intent.signer)
    try:
        gas, mined, balance, block, tip, chain_id = await rpc.batch(
            [
                ("eth_estimateGas", [parameters]),
                ("eth_getTransactionCount", [intent.signer, "latest"]),
                ("eth_getBalance", [intent.signer, "latest"]),
                ("eth_getBlockByNumber", ["latest", False]),
                ("eth_maxPriorityFeePerGas", []),
                ("eth_chainId", []),
            ]
        )
    except RpcError as error:
        if error.says("insufficient funds", "insufficient balance", "outoffunds", "out of funds"):
            raise _no_funds(intent) from None
        raise Reverted(f"The node would not take the call: {error.message}", name="Refused") from None
    limit = int(int(gas, 16) * GAS_MARGIN) + 5_000
    fee = 2 * int(block["baseFeePerGas"], 16) + int(tip, 16)
    if int(balance, 16) < intent.value + limit * fee:
        raise _no_funds(intent)
    return _Terms(limit, fee, int(tip, 16), int(chain_id, 16), int(mined, 16))


def _no_funds(intent: Intent) -> InsufficientFunds:
    return InsufficientFunds(
        f"The wallet {intent.signer} has too little native currency on the chain {intent.chain_eid} to pay for this."
    )
