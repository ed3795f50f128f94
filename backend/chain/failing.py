"""Why a transaction failed where it was mined, asked again on the state before its block."""

from backend.chain.calls import Call
from backend.chain.errors import ChainUnavailable, Reverted, RpcError
from backend.chain.models import TransactionRow
from backend.chain.receipts import Receipt
from backend.chain.rpc import Rpc, transaction


async def reason(rpc: Rpc, row: TransactionRow, receipt: Receipt) -> Reverted:
    """The contract's refusal, decoded; what ran out; or that another transaction came before it.

    A node that has forgotten that state, or does not answer, leaves the reason open: the end is known all the same.
    """
    call = transaction(Call(row.to_address, row.data, row.value or 0), row.signer)
    before = hex(max(0, int(receipt["blockNumber"], 16) - 1))
    try:
        await rpc.request("eth_call", call, before)
    except Reverted as refusal:
        return _out_of_gas(row) if refusal.name == "Unknown" and _spent(row, receipt) else refusal
    except (ChainUnavailable, RpcError):
        return Reverted("The transaction failed where it was mined; its node does not tell why.", name="Unknown")
    if _spent(row, receipt):
        return _out_of_gas(row)
    return Reverted(
        "The transaction failed where it was mined, though it would pass alone: another came before it.", name="Raced"
    )


def _spent(row: TransactionRow, receipt: Receipt) -> bool:
    """Whether it used what it had: a call inside leaves a 64th to its caller."""
    return row.gas > 0 and int(receipt["gasUsed"], 16) * 64 >= row.gas * 63


def _out_of_gas(row: TransactionRow) -> Reverted:
    return Reverted(
        f"The transaction ran out of gas: {row.gas} were enough when it was estimated, and not where it was mined.",
        name="OutOfGas",
        arguments={"gas": row.gas},
        resolution="Try it again: the gas is estimated anew.",
    )
