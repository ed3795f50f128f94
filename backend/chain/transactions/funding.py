"""Whether the operator can pay for the deployment, and how much to send otherwise."""

from collections.abc import Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal

import sqlalchemy as sa
from sqlmodel import col

from backend.chain.abi.calls import Call
from backend.chain.bindings import external_contracts
from backend.chain.chain_models import ChainRow
from backend.chain.errors import InsufficientFunds, Reverted, RpcError
from backend.chain.rpc.json_rpc import Rpc, transaction
from backend.chain.transactions import quote
from backend.chain.transactions.l1_fee import l1_fee
from backend.core import db
from backend.core.errors import Conflict

SETTLING = 120_000
"""Maximum gas of setting the factory's terms: the protocol's share and the default quote currency."""
UNTOLD = 4_000_000
"""Gas of a contract if the node gives no estimate for an empty wallet."""
_SHORT = Context(prec=2, rounding=ROUND_CEILING)


async def check(rpc: Rpc, agent: str, creations: Sequence[Call]) -> None:
    """Check that the agent can pay for the creations. Raises InsufficientFunds with the amount and chain, and Conflict
    if a block of the chain is too small for them."""
    if not creations:
        return
    balance, block = await rpc.batch(
        [("eth_getBalance", [agent, "latest"]), ("eth_getBlockByNumber", ["latest", False])]
    )
    each = [await _gas(rpc, agent, call) for call in creations]
    await _check_blocks(rpc, agent, max(each), int(block["gasLimit"], 16) if "gasLimit" in block else None)
    price = (await quote.fees_now(rpc)).max_fee
    gas = SETTLING + sum(int(one * quote.GAS_MARGIN) + 5_000 for one in each)
    written = sum([await l1_fee(rpc, len(call.data) // 2) for call in creations])
    if int(balance, 16) < gas * price + written:
        raise await _lacking(rpc.eid, agent, gas, price, written, int(balance, 16))


async def _gas(rpc: Rpc, agent: str, call: Call) -> int:
    try:
        return int(await rpc.request("eth_estimateGas", transaction(call, agent)), 16)
    except (Reverted, RpcError):
        return UNTOLD


async def _check_blocks(rpc: Rpc, agent: str, gas: int, limit: int | None) -> None:
    """Raise Conflict if a creation does not fit into a block: on HyperEVM, for accounts without big blocks."""
    if limit is None or gas <= limit:
        return
    try:
        if await rpc.request("eth_usingBigBlocks", agent):
            return
    except (Reverted, RpcError):
        pass  # a method of HyperEVM only
    raise Conflict(
        f"Blocks of {await external_contracts.display_name(rpc.eid)} allow {limit:,} gas, but one of Signum's "
        f"contracts needs {gas:,}. On HyperEVM, enable big blocks for the operator {agent} and for every treasury."
    )


async def _lacking(eid: int, agent: str, gas: int, price: int, written: int, balance: int) -> InsufficientFunds:
    async with db.worker() as session:
        found = sa.select(col(ChainRow.display_name), col(ChainRow.native_currency_symbol))
        name, symbol = (await session.execute(found.where(col(ChainRow.xchain_eid) == eid))).one()
    beside = f", and {amount(written)} {symbol} for writing them to Ethereum" if written else ""
    return InsufficientFunds(
        f"The operator {agent} needs about {amount(gas * price + written)} {symbol} on {name} to deploy Signum's "
        f"contracts ({gas:,} gas at up to {Decimal(price).scaleb(-9).normalize(_SHORT):f} gwei{beside}) and has "
        f"{held(balance)}. Send it to that address; the deployment then continues automatically."
    )


def amount(wei: int) -> str:
    """Return whole units of the native currency, two digits, rounded up."""
    return f"{Decimal(wei).scaleb(-18).normalize(_SHORT):f}"


def held(wei: int) -> str:
    """Return whole units of the native currency, at most six decimals, rounded down."""
    return f"{Decimal(wei).scaleb(-18).quantize(Decimal('1e-6'), rounding=ROUND_FLOOR).normalize():f}"
