"""A branch of a chain that was reorganized away, for the machines that have not noticed yet."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.support.node_pool.anvil import Anvil

Json = dict[str, Any]


@dataclass
class Branch:
    """Blocks above `fork`, up to `tip`, with their transactions and receipts."""

    fork: int
    tip: int
    blocks: dict[int, Json] = field(default_factory=dict)
    receipts: dict[str, Json] = field(default_factory=dict)
    raw: list[str] = field(default_factory=list)
    """Return the transactions as they were signed, in the order of the chain."""

    @classmethod
    async def recorded(cls, node: Anvil, depth: int) -> "Branch":
        """Read the newest `depth` blocks of a chain."""
        tip = await node.height()
        branch = cls(max(0, tip - depth), tip)
        numbers = [hex(number) for number in range(branch.fork + 1, tip + 1)]
        blocks = await node.batch([("eth_getBlockByNumber", [number, True]) for number in numbers])
        receipts = await node.batch([("eth_getBlockReceipts", [number]) for number in numbers])
        branch.blocks = {int(block["number"], 16): block for block in blocks}
        branch.receipts = {entry["transactionHash"]: entry for block in receipts for entry in block}
        hashes = [entry["hash"] for block in blocks for entry in block["transactions"]]
        branch.raw = await node.batch([("eth_getRawTransactionByHash", [tx_hash]) for tx_hash in hashes])
        return branch

    def block(self, number: int, full: bool) -> Json:
        """Return a block, with its transactions or their hashes."""
        block = self.blocks[number]
        if full:
            return block
        return block | {"transactions": [entry["hash"] for entry in block["transactions"]]}

    def number_of(self, block_hash: str) -> int | None:
        """Return the number of a block of this branch."""
        return next((number for number, block in self.blocks.items() if block["hash"] == block_hash), None)

    def transaction(self, tx_hash: str) -> Json | None:
        """Return a transaction of this branch."""
        entries = (entry for block in self.blocks.values() for entry in block["transactions"])
        return next((entry for entry in entries if entry["hash"] == tx_hash), None)

    def sent_by(self, address: str, height: int) -> int:
        """Return how many transactions of an account are in this branch, up to a height."""
        entries = (e for n, block in self.blocks.items() if n <= height for e in block["transactions"])
        return sum(entry["from"].lower() == address.lower() for entry in entries)

    def logs(self, first: int, last: int, query: Mapping[str, Any]) -> list[Json]:
        """Return the logs of some blocks that match the addresses and topics of a query."""
        logs = [entry for receipt in self.receipts.values() for entry in receipt["logs"]]
        return [entry for entry in logs if first <= int(entry["blockNumber"], 16) <= last and fits(entry, query)]


def fits(log: Mapping[str, Any], query: Mapping[str, Any]) -> bool:
    """Return whether a log matches a query of `eth_getLogs`."""
    addresses = _listed(query.get("address"))
    if addresses and log["address"].lower() not in addresses:
        return False
    wanted = [_listed(topic) for topic in query.get("topics") or []]
    topics = [topic.lower() for topic in log["topics"]]
    return len(topics) >= len(wanted) and all(not w or t in w for w, t in zip(wanted, topics, strict=False))


def _listed(value: str | Sequence[str] | None) -> list[str]:
    if value is None:
        return []
    return [entry.lower() for entry in ([value] if isinstance(value, str) else value)]
