"""New keys and signed transactions, as every wallet provider returns them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class NewKey:
    """A new key, as stored by a wallet's row."""

    address: str
    key_ref: str
    provider: str


@dataclass(frozen=True, slots=True)
class Signed:
    """A signed transaction, ready to be broadcast."""

    raw: str
    tx_hash: str
