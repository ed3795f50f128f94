"""The ABI of our contracts: calls, answers, events and errors, as Python values.

In and out: addresses are EIP-55 strings, `bytes3` a country such as "DEU", other bytes are `0x…` strings (bytes are
accepted as input too), numbers are int, structs are dicts by their Solidity names.
"""

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any
from uuid import UUID

from eth_abi.abi import decode as abi_decode
from eth_abi.abi import encode as abi_encode
from eth_utils.address import to_checksum_address
from eth_utils.crypto import keccak

ARTIFACTS = Path(__file__).parents[2] / "contracts" / "artifacts"
CONTRACTS = (
    "AttestationRegistry",
    "RWAToken",
    "MarketFactory",
    "Market",
    "MerkleDistributor",
    "LocalEndpoint",
    "TestUSD",
)

Item = Mapping[str, Any]


def organization_key(organization_id: UUID) -> bytes:
    """Return an organization's key on chain: the 16 bytes of its UUID, then 16 zero bytes."""
    return organization_id.bytes.ljust(32, b"\0")


def address_word(address: str) -> bytes:
    """Return an address as bytes32, the format of omnichain peers."""
    return bytes.fromhex(address.removeprefix("0x")).rjust(32, b"\0")


def word_address(word: bytes | str) -> str | None:
    """Return the address in a bytes32, None if it is zero."""
    raw = bytes.fromhex(word.removeprefix("0x")) if isinstance(word, str) else word
    return to_checksum_address(raw[-20:]) if any(raw) else None


def signature_type(item: Item) -> str:
    """Return a parameter's canonical type, with tuples expanded."""
    if not str(item["type"]).startswith("tuple"):
        return str(item["type"])
    inner = ",".join(signature_type(c) for c in item["components"])
    return f"({inner}){str(item['type'])[5:]}"


def _signature(item: Item) -> bytes:
    return keccak(text=f"{item['name']}({','.join(signature_type(i) for i in item['inputs'])})")


def _into(item: Item, value: Any) -> Any:
    """Convert a Python value to eth-abi's format."""
    kind = str(item["type"])
    if kind.endswith("]"):
        element = {**item, "type": kind[: kind.rindex("[")]}
        return [_into(element, v) for v in value]
    if kind == "tuple":
        return tuple(_into(c, value[c["name"]]) for c in item["components"])
    if kind == "bytes3":
        return str(value).encode() if isinstance(value, str) else value
    if kind.startswith("bytes") and isinstance(value, str):
        return bytes.fromhex(value.removeprefix("0x"))
    return value


def _out(item: Item, value: Any) -> Any:
    """Convert a value decoded by eth-abi to this module's format."""
    kind = str(item["type"])
    if kind.endswith("]"):
        element = {**item, "type": kind[: kind.rindex("[")]}
        return [_out(element, v) for v in value]
    if kind == "tuple":
        return {c["name"]: _out(c, v) for c, v in zip(item["components"], value, strict=True)}
    if kind == "address":
        return to_checksum_address(value)
    if kind == "bytes3":
        return bytes(value).rstrip(b"\0").decode("ascii", "replace")
    return "0x" + bytes(value).hex() if kind.startswith("bytes") else value


def encode(inputs: Sequence[Item], values: Sequence[Any]) -> bytes:
    """Encode arguments in the order of the ABI."""
    return abi_encode([signature_type(i) for i in inputs], [_into(i, v) for i, v in zip(inputs, values, strict=True)])


def decode(outputs: Sequence[Item], data: bytes) -> list[Any]:
    """Decode values in the order of the ABI. Raises eth_abi's DecodingError if the data has another shape."""
    values = abi_decode([signature_type(o) for o in outputs], data)
    return [_out(o, v) for o, v in zip(outputs, values, strict=True)]


class Contract:
    """An artifact: its functions by name, its creation code, and its ABI."""

    def __init__(self, name: str) -> None:
        artifact = json.loads((ARTIFACTS / f"{name}.json").read_text())
        self.name = name
        self.abi: list[Item] = artifact["abi"]
        self.bytecode: str = artifact["bytecode"]
        self._functions = {i["name"]: i for i in self.abi if i["type"] == "function"}
        self._selectors = {name: _signature(item)[:4] for name, item in self._functions.items()}
        self._constructor: list[Item] = next((i["inputs"] for i in self.abi if i["type"] == "constructor"), [])

    def data(self, function: str, *values: Any) -> str:
        """Return call data."""
        return "0x" + (self._selectors[function] + encode(self._functions[function]["inputs"], values)).hex()

    def creation(self, *values: Any) -> str:
        """Return creation code with the constructor's arguments."""
        return "0x" + self.bytecode.removeprefix("0x") + encode(self._constructor, values).hex()

    def answer(self, function: str, data: str) -> Any:
        """Return a call's answer: a single value itself, several values as a list."""
        values = decode(self._functions[function]["outputs"], bytes.fromhex(data.removeprefix("0x")))
        return values[0] if len(values) == 1 else values


@lru_cache
def contract(name: str) -> Contract:
    """Return the artifact of one of our contracts."""
    return Contract(name)


@lru_cache
def _items(kind: str) -> dict[str, Item]:
    """Return events by topic, errors by selector, of all our contracts."""
    size = 32 if kind == "event" else 4
    found: dict[str, Item] = {}
    for name in CONTRACTS:
        for item in contract(name).abi:
            if item["type"] == kind:
                found["0x" + _signature(item)[:size].hex()] = item
    return found


def topic(event: str) -> str:
    """Return the first topic of one of our events, by its name."""
    return next(key for key, item in _items("event").items() if item["name"] == event)


def event_of(topics: Sequence[str], data: str) -> tuple[str, dict[str, Any]] | None:
    """Return the name and arguments of a log, None if it is not one of our events."""
    item = _items("event").get(topics[0]) if topics else None
    if item is None:
        return None
    indexed = [i for i in item["inputs"] if i["indexed"]]
    if len(indexed) != len(topics) - 1:
        return None
    plain = [i for i in item["inputs"] if not i["indexed"]]
    values = dict(zip([i["name"] for i in plain], decode(plain, bytes.fromhex(data.removeprefix("0x"))), strict=True))
    for entry, word in zip(indexed, topics[1:], strict=True):
        values[entry["name"]] = decode([entry], bytes.fromhex(word.removeprefix("0x")))[0]
    return item["name"], values


def error_of(data: str) -> tuple[str, dict[str, Any]] | None:
    """Return the name and arguments of revert data, None if it is not one of our errors."""
    item = _items("error").get(data[:10])
    if item is None:
        return None
    values = decode(item["inputs"], bytes.fromhex(data[10:]))
    return item["name"], dict(zip([i["name"] for i in item["inputs"]], values, strict=True))
