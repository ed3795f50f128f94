"""Gas, EIP-1559 fees, nonce and balance for a transaction, queried in one round trip."""

from collections.abc import Sequence
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
    (found,) = await terms_of_all(rpc, [intent])
    if isinstance(found, Exception):
        raise found
    return found


async def terms_of_all(rpc: Rpc, intents: Sequence[Intent]) -> list[Terms | Exception]:
    """Do the same for calls of one signer, which pays for all of them: each has its terms or its refusal. Raises
    ChainUnavailable."""
    found = await _terms(rpc, intents)
    if any(isinstance(one, InsufficientFunds) for one in found):
        rpc.forget_height()  # the wallet may have been funded since
        found = await _terms(rpc, intents)
    return found


async def _terms(rpc: Rpc, intents: Sequence[Intent]) -> list[Terms | Exception]:
    signer, count = intents[0].signer, len(intents)
    calls = [transaction(Call(one.to, one.data, one.value), signer) for one in intents]
    answers = await rpc.attempt(
        [
            *(("eth_estimateGas", [call]) for call in calls),
            ("eth_getTransactionCount", [signer, "latest"]),
            ("eth_getBalance", [signer, "latest"]),
            ("eth_getBlockByNumber", ["latest", False]),
            ("eth_chainId", []),
            ("eth_maxPriorityFeePerGas", []),
        ]
    )
    try:
        mined, balance, block, chain_id, tip = _required(answers[count:], 4)
    except RpcError as error:
        refusal = _refusal(intents[0], error)
        return [refusal for _ in intents]
    await chain_ids.check(rpc.eid, int(chain_id, 16))
    fees, has = await _today(rpc, block, tip), int(balance, 16)
    found = list[Terms | Exception]()
    for intent, gas in zip(intents, answers, strict=False):
        if isinstance(gas, Exception):
            found.append(_refusal(intent, gas) if isinstance(gas, RpcError) else gas)
            continue
        limit = int(int(gas, 16) * GAS_MARGIN) + 5_000
        cost = intent.value + limit * fees.max_fee + await l1_fee(rpc, len(intent.data) // 2)
        if has < cost:
            found.append(no_funds(intent.signer, intent.chain_eid))
            continue
        has -= cost
        found.append(Terms(limit, fees, int(chain_id, 16), int(mined, 16)))
    return found


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
