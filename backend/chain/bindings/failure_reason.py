"""Why a mined transaction failed, found by simulating it on the state before its block."""

from backend.chain.abi.calls import Call
from backend.chain.errors import ChainUnavailable, Reverted, RpcError
from backend.chain.models import TransactionRow
from backend.chain.rpc.json_rpc import Rpc, transaction
from backend.chain.rpc.receipts import Receipt


async def reason(rpc: Rpc, row: TransactionRow, receipt: Receipt) -> Reverted:
    """Return the contract's decoded refusal, the exhausted resource, or that another transaction came before it.

    If a node no longer has that state, or does not answer, the reason stays unknown; the failure itself is certain.
    """
    call = transaction(Call(row.to_address, row.data, row.value or 0), row.signer)
    before = hex(max(0, int(receipt["blockNumber"], 16) - 1))
    try:
        await rpc.request("eth_call", call, before)
    except Reverted as refusal:
        return _out_of_gas(row) if refusal.name == "Unknown" and _spent(row, receipt) else refusal
    except (ChainUnavailable, RpcError):
        return Reverted("The transaction failed when it was mined; its node does not know why.", name="Unknown")
    if _spent(row, receipt):
        return _out_of_gas(row)
    return Reverted(
        "The transaction failed when it was mined, though it passes alone: another transaction came before it.",
        name="Raced",
    )


def _spent(row: TransactionRow, receipt: Receipt) -> bool:
    """Return whether it used all its gas: an inner call leaves a 64th to its caller."""
    return row.gas > 0 and int(receipt["gasUsed"], 16) * 64 >= row.gas * 63


def _out_of_gas(row: TransactionRow) -> Reverted:
    return Reverted(
        f"The transaction ran out of gas: {row.gas} was enough when it was estimated, but not when it was mined.",
        name="OutOfGas",
        arguments={"gas": row.gas},
        resolution="Retry; the gas is estimated again.",
    )
