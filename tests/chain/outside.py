"""Transactions of wallets whose keys are not ours: what they send is not sent again by anybody."""

import asyncio

from backend.chain.calls import Call
from backend.chain.rpc import connect, transaction


async def send_as(eid: int, address: str, call: Call) -> None:
    """Send a call as a wallet of an embedded chain, and wait until it is in a block."""
    rpc = await connect(eid)
    await rpc.request("anvil_impersonateAccount", address)
    tx_hash = await rpc.request("eth_sendTransaction", transaction(call, address))
    await rpc.request("anvil_stopImpersonatingAccount", address)
    async with asyncio.timeout(60):
        while await rpc.request("eth_getTransactionReceipt", tx_hash) is None:  # noqa: ASYNC110 - the node's next block
            await asyncio.sleep(0.01)
