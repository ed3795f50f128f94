"""Gas, EIP-1559 fees, nonce and balance for a transaction, queried in one round trip."""

from typing import Any

from backend.chain.abi.calls import Call, Intent
from backend.chain.errors import InsufficientFunds, Reverted, RpcError
from backend.chain.models import TransactionRow
from backend.chain.rpc import chain_ids
from backend.chain.rpc.json_rpc import Rpc, transaction
from backend.chain.signing.fees import Fees, Terms
from backend.chain.transactions.l1_fee import l1_fee

GAS_MARGIN = 1.3
"""Margin for state changes between the estimate and the block; unused gas costs nothing."""
TIP = 10**8
"""The tip in wei (0.1 gwei) if a node returns neither a tip nor a gas price."""
CEILING = 10
"""A fee is not raised above this multiple of today's price."""
_REFUSALS = frozenset({-32000, -32003, -32602})
"""Codes with which nodes refuse a call or a transaction; other codes are their own errors."""


def today(base_fee: int, tip: int) -> Fees:
    """Return fees that cover a doubled base fee."""
    return Fees(2 * base_fee + tip, tip)


async def fees_now(rpc: Rpc) -> Fees:
    """Return a chain's current fees, also from a node that does not know `eth_maxPriorityFeePerGas`."""
    block, tip = await rpc.attempt([("eth_getBlockByNumber", ["latest", False]), ("eth_maxPriorityFeePerGas", [])])
    return await _today(rpc, *_required([block, tip], 1))


async def _today(rpc: Rpc, block: Any, tip: Any) -> Fees:
    base_fee = int(block.get("baseFeePerGas", "0x0"), 16)
    if isinstance(tip, str):
        return today(base_fee, int(tip, 16))
    (price,) = await rpc.attempt([("eth_gasPrice", [])])
    return today(base_fee, max(TIP, int(price, 16) - base_fee) if isinstance(price, str) else TIP)


def _required(response: list[Any], count: int) -> list[Any]:
    """Return the results; raises the first error among the required ones."""
    for answer in response[:count]:
        if isinstance(answer, Exception):
            raise answer
    return response


def raised(before: Fees, now: Fees) -> Fees | None:
    """Return the fees of a replacement: an eighth more, which every node accepts, or the current price if that is
    higher.

    None if the price would be excessive: waiting is better then.
    """
    fees = Fees(max(_eighth_more(before.max_fee), now.max_fee), max(_eighth_more(before.tip), now.tip))
    return None if fees.max_fee > CEILING * now.max_fee else fees


def _eighth_more(amount: int) -> int:
    return amount + amount // 8 + 1


async def terms(rpc: Rpc, intent: Intent) -> Terms:
    """Simulate a call and price it. Raises Reverted, InsufficientFunds and ChainUnavailable."""
    try:
        return await _terms(rpc, intent)
    except InsufficientFunds:
        rpc.forget_height()  # the wallet may have been funded since
        return await _terms(rpc, intent)


async def _terms(rpc: Rpc, intent: Intent) -> Terms:
    parameters = transaction(Call(intent.to, intent.data, intent.value), intent.signer)
    try:
        gas, mined, balance, block, chain_id, *prices = _required(
            await rpc.attempt(
                [
                    ("eth_estimateGas", [parameters]),
                    ("eth_getTransactionCount", [intent.signer, "latest"]),
                    ("eth_getBalance", [intent.signer, "latest"]),
                    ("eth_getBlockByNumber", ["latest", False]),
                    ("eth_chainId", []),
                    ("eth_maxPriorityFeePerGas", []),
                ]
            ),
            5,
        )
    except RpcError as error:
        raise _refusal(intent, error) from None
    await chain_ids.check(rpc.eid, int(chain_id, 16))
    limit = int(int(gas, 16) * GAS_MARGIN) + 5_000
    fees = await _today(rpc, block, prices[0])
    written = await l1_fee(rpc, len(intent.data) // 2)
    if int(balance, 16) < intent.value + limit * fees.max_fee + written:
        raise no_funds(intent.signer, intent.chain_eid)
    return Terms(limit, fees, int(chain_id, 16), int(mined, 16))


async def replacement(rpc: Rpc, row: TransactionRow) -> Terms | None:
    """Return the terms to sign a stuck transaction again under its nonce; None if it should stay unchanged.

    Its gas is estimated again: nodes may refuse it because of its gas.
    """
    balance, block, chain_id, *prices = _required(
        await rpc.attempt(
            [
                ("eth_getBalance", [row.signer, "latest"]),
                ("eth_getBlockByNumber", ["latest", False]),
                ("eth_chainId", []),
                ("eth_maxPriorityFeePerGas", []),
            ]
        ),
        3,
    )
    await chain_ids.check(rpc.eid, int(chain_id, 16))
    now = await _today(rpc, block, prices[0])
    fees = raised(Fees(row.max_fee or 0, row.tip or 0), now)
    gas = max(row.gas, await _gas(rpc, row))
    if fees is None or int(balance, 16) < (row.value or 0) + gas * fees.max_fee:
        return None
    return Terms(gas, fees, int(chain_id, 16), row.nonce)


async def _gas(rpc: Rpc, row: TransactionRow) -> int:
    call = transaction(Call(row.to_address, row.data, row.value or 0), row.signer)
    try:
        return int(int(await rpc.request("eth_estimateGas", call), 16) * GAS_MARGIN) + 5_000
    except (Reverted, RpcError):
        return 0  # it would fail now: once mined, it shows why


async def base_fee(rpc: Rpc) -> int:
    """Return the base fee of the newest block, wei."""
    block = await rpc.request("eth_getBlockByNumber", "latest", False)
    return int(block.get("baseFeePerGas", "0x0"), 16)


def no_funds(signer: str, eid: int) -> InsufficientFunds:
    """Return the error of a wallet that cannot pay."""
    return InsufficientFunds(
        f"The wallet {signer} has too little native currency on the chain {eid} to pay for this. Fund it first."
    )


def _refusal(intent: Intent, error: RpcError) -> Exception:
    if error.says("insufficient funds", "insufficient balance", "outoffunds", "out of funds"):
        return no_funds(intent.signer, intent.chain_eid)
    if error.code in _REFUSALS:
        return Reverted(f"The node refused the call: {error.message}", name="Refused")
    return error
