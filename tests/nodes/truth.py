"""The state of a chain, read from its real node and decoded without the product's code."""

from dataclasses import dataclass

from tests.support.node_pool.anvil import Anvil

TRANSFER = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"
"""Transfer(address,address,uint256)"""
TOTAL_SUPPLY = "0x18160ddd"
ZERO_ADDRESS = "0x" + "0" * 40


@dataclass(frozen=True, order=True)
class Transfer:
    """A Transfer event; addresses are in lower case."""

    block_number: int
    log_index: int
    tx_hash: str
    from_address: str
    to_address: str
    amount: int


async def transfers(node: Anvil, token: str) -> list[Transfer]:
    """Return every transfer of a token, in the order of the chain."""
    query = {"fromBlock": "0x0", "toBlock": "latest", "address": token, "topics": [TRANSFER]}
    return sorted(
        Transfer(
            int(log["blockNumber"], 16),
            int(log["logIndex"], 16),
            log["transactionHash"],
            "0x" + log["topics"][1][-40:],
            "0x" + log["topics"][2][-40:],
            int(log["data"], 16),
        )
        for log in await node.call("eth_getLogs", query)
    )


async def supply(node: Anvil, token: str) -> int:
    """Return the total supply of a token."""
    return int(await node.call("eth_call", {"to": token, "data": TOTAL_SUPPLY}, "latest"), 16)


async def burns(node: Anvil, token: str) -> int:
    """Return how many burns of a token were executed."""
    return sum(transfer.to_address == ZERO_ADDRESS for transfer in await transfers(node, token))


async def count(node: Anvil, address: str) -> int:
    """Return how many transactions of an account are mined."""
    return int(await node.call("eth_getTransactionCount", address, "latest"), 16)
