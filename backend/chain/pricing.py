"""What a transaction costs and needs: gas, fees by EIP-1559, the signer's nonce and means, asked in one round trip."""

from dataclasses import dataclass
from typing import Any

from backend.chain import identity
from backend.chain.calls import Call, Intent
from backend.chain.errors import InsufficientFunds, Reverted, RpcError
from backend.chain.l1_fee import l1_fee
from backend.chain.models import TransactionRow
from backend.chain.rpc import Rpc, transaction

GAS_MARGIN = 1.3
"""What the state may change between the estimate and the block; unused gas costs nothing."""
TIP = 10**8
"""The tip in wei (0.1 gwei) where a node tells neither a tip nor a gas price."""
CEILING = 10
"""A transaction is not bumped above so many times today's price."""
_REFUSALS = frozenset({-32000, -32003, -32602})
"""Codes by which nodes refuse a call or a transaction; with others they tell of trouble of their own."""


@dataclass(frozen=True, slots=True)
class Fees:
    """What one unit of gas may cost at most, and what of it goes to whoever mines, wei."""

    max_fee: int
    tip: int


@dataclass(frozen=True, slots=True)
class Terms:
    """What a transaction would be signed with. `mined` is the signer's nonce by the chain's count."""

    gas: int
    fees: Fees
    chain_id: int
    mined: int


def today(base_fee: int, tip: int) -> Fees:
    """Enough for a base fee that doubles."""
    return Fees(2 * base_fee + tip, tip)


async def fees_now(rpc: Rpc) -> Fees:
    """Return today's fees of a chain, also from a node that does not know `eth_maxPriorityFeePerGas`."""
    block, tip = await rpc.attempt([("eth_getBlockByNumber", ["latest", False]), ("eth_maxPriorityFeePerGas", [])])
    return await _today(rpc, *_required([block, tip], 1))


async def _today(rpc: Rpc, block: Any, tip: Any) -> Fees:
    base_fee = int(block.get("baseFeePerGas", "0x0"), 16)
    if isinstance(tip, str):
        return today(base_fee, int(tip, 16))
    (price,) = await rpc.attempt([("eth_gasPrice", [])])
    return today(base_fee, max(TIP, int(price, 16) - base_fee) if isinstance(price, str) else TIP)


def _required(told: list[Any], count: int) -> list[Any]:
    """The results; raises the first error among those that are needed."""
    for answer in told[:count]:
        if isinstance(answer, Exception):
            raise answer
    return told


def raised(before: Fees, now: Fees) -> Fees | None:
    """The fees of a replacement: an eighth more, which every node takes, or today's price where that is more.

    None where the price would leave all reason: then it is better to wait.
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
    await identity.check(rpc.eid, int(chain_id, 16))
    limit = int(int(gas, 16) * GAS_MARGIN) + 5_000
    fees = await _today(rpc, block, prices[0])
    written = await l1_fee(rpc, len(intent.data) // 2)
    if int(balance, 16) < intent.value + limit * fees.max_fee + written:
        raise no_funds(intent.signer, intent.chain_eid)
    return Terms(limit, fees, int(chain_id, 16), int(mined, 16))


async def replacement(rpc: Rpc, row: TransactionRow) -> Terms | None:
    """What a stuck transaction may be signed with anew under its nonce; None where it should stay as it is.

    Its gas is estimated again: it may be the gas for which no node takes it.
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
    await identity.check(rpc.eid, int(chain_id, 16))
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
        return 0  # it would fail now: mined so, it tells why


async def base_fee(rpc: Rpc) -> int:
    """Of the newest block, wei."""
    block = await rpc.request("eth_getBlockByNumber", "latest", False)
    return int(block.get("baseFeePerGas", "0x0"), 16)


def no_funds(signer: str, eid: int) -> InsufficientFunds:
    """The refusal of a wallet that cannot pay."""
    return InsufficientFunds(f"The wallet {signer} has too little native currency on the chain {eid} to pay for this.")


def _refusal(intent: Intent, error: RpcError) -> Exception:
    if error.says("insufficient funds", "insufficient balance", "outoffunds", "out of funds"):
        return no_funds(intent.signer, intent.chain_eid)
    if error.code in _REFUSALS:
        return Reverted(f"The node would not take the call: {error.message}", name="Refused")
    return error
