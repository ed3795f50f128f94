"""Logs of the contracts' events, made by hand."""

from collections.abc import Sequence
from typing import Any

from eth_utils.crypto import keccak

from backend.chain.abi import codec
from backend.chain.abi.codec import contract, encode
from backend.chain.abi.outcome import Log


def log_of(name: str, event: str, at: str, place: tuple[int, int], **values: Any) -> Log:
    """The log of an event of a contract `name` at `at`, in a block and at an index."""
    item = next(i for i in contract(name).abi if i["type"] == "event" and i["name"] == event)
    indexed = [i for i in item["inputs"] if i["indexed"]]
    plain = [i for i in item["inputs"] if not i["indexed"]]
    topics = ["0x" + codec._signature(item).hex(), *("0x" + encode([i], [values[i["name"]]]).hex() for i in indexed)]
    data = "0x" + encode(plain, [values[i["name"]] for i in plain]).hex()
    block, index = place
    return Log(at, tuple(topics), data, block, _hash("block", block), _hash("transaction", block, index), index)


def _hash(*parts: Any) -> str:
    return "0x" + keccak(text=":".join(map(str, parts))).hex()


def by_place(logs: Sequence[Log]) -> list[Log]:
    """Logs in the order of the chain."""
    return sorted(logs, key=lambda log: (log.block_number, log.log_index))
