"""Whether the operator can pay for what is to be deployed, and what to send where it cannot."""

from collections.abc import Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal

import sqlalchemy as sa
from sqlmodel import col

from backend import db
from backend.chain import named, pricing
from backend.chain.calls import Call
from backend.chain.errors import InsufficientFunds, Reverted, RpcError
from backend.chain.l1_fee import l1_fee
from backend.chain.rpc import Rpc, transaction
from backend.chains.models import ChainRow
from backend.errors import Conflict

SETTLING = 120_000
"""Gas that setting the factory's terms may take: the protocol's share and the default quote currency."""
UNTOLD = 4_000_000
"""Gas of a contract where the node does not estimate it for a wallet that has nothing."""
_SHORT = Context(prec=2, rounding=ROUND_CEILING)


async def check(rpc: Rpc, agent: str, creations: Sequence[Call]) -> None:
    """Nothing where the agent can pay for the creations. Raises InsufficientFunds, saying how much is needed where, and
    Conflict where a block of the chain does not take them."""
    if not creations:
        return
    balance, block = await rpc.batch(
        [("eth_getBalance", [agent, "latest"]), ("eth_getBlockByNumber", ["latest", False])]
    )
    each = [await _gas(rpc, agent, call) for call in creations]
    await _check_blocks(rpc, agent, max(each), int(block["gasLimit"], 16) if "gasLimit" in block else None)
    price = (await pricing.fees_now(rpc)).max_fee
    gas = SETTLING + sum(int(one * pricing.GAS_MARGIN) + 5_000 for one in each)
    written = sum([await l1_fee(rpc, len(call.data) // 2) for call in creations])
    if int(balance, 16) < gas * price + written:
        raise await _lacking(rpc.eid, agent, gas, price, written, int(balance, 16))


async def _gas(rpc: Rpc, agent: str, call: Call) -> int:
    try:
        return int(await rpc.request("eth_estimateGas", transaction(call, agent)), 16)
    except (Reverted, RpcError):
        return UNTOLD


async def _check_blocks(rpc: Rpc, agent: str, gas: int, limit: int | None) -> None:
    """Raises Conflict where a creation does not fit a block: on HyperEVM, for who did not ask for big ones."""
    if limit is None or gas <= limit:
        return
    try:
        if await rpc.request("eth_usingBigBlocks", agent):
            return
    except (Reverted, RpcError):
        pass  # a method of HyperEVM's alone
    raise Conflict(
        f"Blocks of {await named.display_name(rpc.eid)} take {limit:,} gas, and one of our contracts needs {gas:,}. On "
        f"HyperEVM, have big blocks for the operator {agent} and for every treasury."
    )


async def _lacking(eid: int, agent: str, gas: int, price: int, written: int, balance: int) -> InsufficientFunds:
    async with db.worker() as session:
        found = sa.select(col(ChainRow.display_name), col(ChainRow.native_currency_symbol))
        name, symbol = (await session.execute(found.where(col(ChainRow.xchain_eid) == eid))).one()
    beside = f", and {amount(written)} {symbol} for writing them to Ethereum" if written else ""
    return InsufficientFunds(
        f"The operator {agent} needs about {amount(gas * price + written)} {symbol} on {name} to deploy our contracts "
        f"({gas:,} gas at up to {Decimal(price).scaleb(-9).normalize(_SHORT):f} gwei{beside}) and has {held(balance)}. "
        "Send it there; the rest is done by itself."
    )


def amount(wei: int) -> str:
    """Whole units of the native currency, two digits, rounded up."""
    return f"{Decimal(wei).scaleb(-18).normalize(_SHORT):f}"


def held(wei: int) -> str:
    """Whole units of the native currency, six decimals at most, rounded down."""
    return f"{Decimal(wei).scaleb(-18).quantize(Decimal('1e-6'), rounding=ROUND_FLOOR).normalize():f}"
