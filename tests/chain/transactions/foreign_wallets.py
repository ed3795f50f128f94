"""Transactions of wallets with foreign keys: Signum does not resend them."""

import asyncio

from backend.chain.abi.calls import Call
from backend.chain.rpc.json_rpc import connect, transaction


async def send_as(eid: int, address: str, call: Call) -> None:
    """Send a call as a wallet of an embedded chain, and wait until it is in a block."""
    rpc = await connect(eid)
    await rpc.request("anvil_impersonateAccount", address)
    tx_hash = await rpc.request("eth_sendTransaction", transaction(call, address))
    await rpc.request("anvil_stopImpersonatingAccount", address)
    async with asyncio.timeout(60):
        while await rpc.request("eth_getTransactionReceipt", tx_hash) is None:  # noqa: ASYNC110 - the node's next block
            await asyncio.sleep(0.01)
