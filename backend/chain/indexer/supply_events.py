"""The supply of a token at a block, from its events: for nodes that do not keep the state of old blocks.

The embedded chains lose it when they are restarted, and in a long chain after some hundred blocks.
"""

from backend.chain.abi.codec import topic
from backend.chain.indexer.log_limits import CAP
from backend.chain.rpc.json_rpc import connect

NOBODY = f"0x{0:064x}"
"""The zero address as a topic: tokens are minted from it, and burned to it."""


async def supply(eid: int, at: str, first: int, block: int) -> int | None:
    """Return all mints less all burns from the block of a token's creation until another one; None if the node does
    not have the block or does not list every event."""
    span = {"address": at, "fromBlock": hex(first), "toBlock": hex(block)}
    answer = await (await connect(eid)).together(
        [
            ("eth_getBlockByNumber", [hex(block), False]),
            ("eth_getLogs", [{**span, "topics": [topic("Transfer"), NOBODY]}]),
            ("eth_getLogs", [{**span, "topics": [topic("Transfer"), None, NOBODY]}]),
        ]
    )
    if answer is None or answer[0] is None or any(len(logs) >= CAP for logs in answer[1:]):
        return None
    minted, burned = (sum(int(entry["data"], 16) for entry in logs) for logs in answer[1:])
    return minted - burned
