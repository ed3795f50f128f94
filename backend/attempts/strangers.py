"""Accounts that call contracts without Signum. Only embedded chains let them: their node signs for any account."""

import asyncio
import os
import time
from dataclasses import dataclass

from eth_utils.address import to_checksum_address

from backend.chain.abi.calls import Call
from backend.chain.errors import Reverted
from backend.chain.rpc.json_rpc import Rpc, connect
from backend.core.errors import Unavailable

GAS = 3_000_000
"""Stated, because a node that estimates the gas refuses a call that would fail before it is sent."""
MONEY = 10**18
MINED = 10.0
"""Seconds to wait for a block."""


@dataclass(frozen=True)
class Sent:
    """A call that is in a block; `refused` is why the contract reverted it."""

    tx_hash: str
    block_number: int
    refused: Reverted | None


async def arrive(eid: int) -> str:
    """Return a new account with native currency for gas."""
    address = to_checksum_address(os.urandom(20))
    await (await connect(eid)).request("anvil_setBalance", address, hex(MONEY))
    return address


async def send(eid: int, sender: str, call: Call) -> Sent:
    """Send a call as an account, and return what the contract did with it."""
    rpc = await connect(eid)
    await rpc.request("anvil_impersonateAccount", sender)
    try:
        sent = {"from": sender, "to": call.to, "data": call.data, "gas": hex(GAS)}
        tx_hash = str(await rpc.request("eth_sendTransaction", sent))
    finally:
        await rpc.request("anvil_stopImpersonatingAccount", sender)
    receipt = await _receipt(rpc, tx_hash)
    block = int(receipt["blockNumber"], 16)
    refused = None if int(receipt["status"], 16) else await _why(rpc, sender, call, block)
    return Sent(tx_hash, block, refused)


async def _receipt(rpc: Rpc, tx_hash: str) -> dict[str, str]:
    ends = time.monotonic() + MINED
    while True:
        found: dict[str, str] | None = await rpc.request("eth_getTransactionReceipt", tx_hash)
        if found is not None:
            return found
        if time.monotonic() > ends:
            raise Unavailable("The chain made no block. Retry.")
        await asyncio.sleep(0.05)


async def _why(rpc: Rpc, sender: str, call: Call, block: int) -> Reverted:
    """Return why a call was reverted in a block: the block's own state gives the same answer, because it changed
    nothing.
    """
    try:
        await rpc.simulate(call, sender, hex(block))
    except Reverted as refused:
        return refused
    raise Unavailable("The chain refused the call and then allowed it. Retry.")
