"""A node's receipts and logs, in the house's shapes."""

from collections.abc import Mapping
from typing import Any

from eth_utils.address import to_checksum_address

from backend.chain.outcome import Log, Outcome


def log_of(told: Mapping[str, Any]) -> Log:
    """A log as a node tells it."""
    return Log(
        to_checksum_address(told["address"]),
        tuple(told["topics"]),
        told["data"],
        int(told["blockNumber"], 16),
        told["blockHash"],
        told["transactionHash"],
        int(told["logIndex"], 16),
    )


def outcome_of(receipt: Mapping[str, Any]) -> Outcome:
    """A receipt as a node tells it, or as it was stored."""
    created = receipt.get("contractAddress")
    return Outcome(
        receipt["transactionHash"],
        int(receipt["blockNumber"], 16),
        receipt["blockHash"],
        to_checksum_address(created) if created else None,
        int(receipt["gasUsed"], 16),
        tuple(log_of(entry) for entry in receipt["logs"]),
    )


def slim(receipt: Mapping[str, Any]) -> dict[str, Any]:
    """What the transaction store keeps of a receipt: all of it but the bloom filter."""
    return {key: value for key, value in receipt.items() if key != "logsBloom"}


def succeeded(receipt: Mapping[str, Any]) -> bool:
    """Whether the transaction did what it was to do."""
    return int(receipt["status"], 16) == 1
