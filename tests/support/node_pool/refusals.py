"""The errors of real nodes and providers, in their own words."""

from random import Random
from typing import Any


class Refusal(Exception):
    """An error object of JSON-RPC."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.error = {"code": code, "message": message} | ({} if data is None else {"data": data})


def no_method(method: str) -> Refusal:
    """A method that does not exist."""
    return Refusal(-32601, f"the method {method} does not exist/is not available")


def no_header() -> Refusal:
    """State of a block that the machine does not have yet."""
    return Refusal(-32000, "header not found")


def no_tag(tag: str, dice: Random) -> Refusal:
    """A block tag that is not supported."""
    return dice.choice(
        [
            Refusal(-39001, "Unknown block"),
            Refusal(-32000, f"{tag} block not found"),
            Refusal(-32602, f"Invalid params: unknown block tag {tag}"),
        ]
    )


def no_state(number: int, dice: Random) -> Refusal:
    """State of a block that the machine no longer keeps."""
    return dice.choice(
        [
            Refusal(-32000, f"missing trie node {number:064x} (path ) state is not available"),
            Refusal(-32000, "historical state is not available"),
            Refusal(-32602, "invalid block number: only the latest block is supported"),
        ]
    )


def range_too_wide(most: int, dice: Random) -> Refusal:
    """More blocks than one `eth_getLogs` may ask for."""
    return dice.choice(
        [
            Refusal(-32602, f"query exceeds max block range {most}"),
            Refusal(-32005, f"block range is too wide (max {most})"),
            Refusal(-32614, f"eth_getLogs is limited to a {most} range"),
            Refusal(-32600, f"You can make eth_getLogs requests with up to a {most} block range."),
            Refusal(-32701, f"exceed maximum block range: {most}"),
            Refusal(-32000, f"Block range limit exceeded: {most}"),
        ]
    )


def too_many_logs(most: int, dice: Random) -> Refusal:
    """More logs than one answer may hold."""
    return dice.choice(
        [
            Refusal(-32005, f"query returned more than {most} results"),
            Refusal(-32602, f"query exceeds max results {most}, retry with a smaller range"),
            Refusal(-32602, "Log response size exceeded. You can make eth_getLogs requests with a smaller range."),
        ]
    )


def too_many_addresses(most: int) -> Refusal:
    """More addresses than one `eth_getLogs` may name."""
    return Refusal(-32602, f"exceed max addresses or topics per search position ({most})")


def beyond_head() -> Refusal:
    """A range of logs that ends above the machine's head."""
    return Refusal(-32602, "block range extends beyond current head block")


def unknown_block() -> Refusal:
    """Logs of a block hash that the machine does not know."""
    return Refusal(-32000, "unknown block")


def nonce_too_low(next_nonce: int, nonce: int) -> Refusal:
    """A transaction whose nonce is used."""
    return Refusal(-32000, f"nonce too low: next nonce {next_nonce}, tx nonce {nonce}")


def insufficient_funds() -> Refusal:
    """A sender whose balance, as the machine knows it, is too small."""
    return Refusal(-32000, "insufficient funds for gas * price + value")


def batch_too_large(most: int) -> Refusal:
    """More calls than a batch may hold."""
    return Refusal(-32600, f"batch too large, at most {most} calls")


def no_batches() -> Refusal:
    """A provider without batches."""
    return Refusal(-32600, "Invalid request: batch requests are not supported")
