"""A transaction's row with its signed bytes, and its replacements with a higher fee."""

from typing import Any

from backend.chain.abi.calls import Intent
from backend.chain.models import TransactionRow, TransactionStatus
from backend.chain.signing.fees import Terms
from backend.chain.signing.keys import Signed
from backend.chain.signing.wallet_provider import holder
from backend.core.recorded_time import recorded_now


async def signed(intent: Intent, terms: Terms, nonce: int) -> TransactionRow:
    """Return a new row of an intent. Raises BadRequest if there is no key."""
    made = await _sign(intent.signer, intent.to, intent.data, intent.value, terms, nonce)
    return TransactionRow(
        organization_id=intent.organization_id,
        request_id=intent.request_id,
        key=intent.key,
        chain_eid=intent.chain_eid,
        signer=intent.signer,
        nonce=nonce,
        to_address=intent.to,
        data=intent.data,
        value=intent.value,
        gas=terms.gas,
        max_fee=terms.fees.max_fee,
        tip=terms.fees.tip,
        raw=made.raw,
        tx_hash=made.tx_hash,
        label=intent.label,
        status=TransactionStatus.SUBMITTING,
    )


async def sign_again(row: TransactionRow, terms: Terms) -> None:
    """Sign a row's transaction again under its nonce with other terms; the earlier version is kept, because it may be
    mined."""
    made = await _sign(row.signer, row.to_address, row.data, row.value or 0, terms, row.nonce)
    row.earlier = [*row.earlier, {"tx_hash": row.tx_hash, "raw": row.raw}]
    row.raw, row.tx_hash, row.sent_at = made.raw, made.tx_hash, recorded_now()
    row.gas, row.max_fee, row.tip = terms.gas, terms.fees.max_fee, terms.fees.tip


async def sign_cancellation(row: TransactionRow, terms: Terms) -> None:
    """Sign an empty transfer to the signer itself under a row's nonce, so that the earlier versions cannot be mined
    later."""
    row.to_address, row.data, row.value = row.signer, "0x", 0
    await sign_again(row, terms)


async def _sign(signer: str, to: str | None, data: str, value: int, terms: Terms, nonce: int) -> Signed:
    fields: dict[str, Any] = {
        "type": 2,
        "chainId": terms.chain_id,
        "nonce": nonce,
        "gas": terms.gas,
        "value": value,
        "maxFeePerGas": terms.fees.max_fee,
        "maxPriorityFeePerGas": terms.fees.tip,
        "data": data,
    }
    if to is not None:
        fields["to"] = to
    return await (await holder(signer)).sign_transaction(signer, fields)
