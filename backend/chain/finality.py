"""Levels of finality."""

from enum import StrEnum


class Finality(StrEnum):
    """Finality of a block. `included`: it has as many blocks on top as the chain's `confirmations`. `safe` and `final`:
    as defined by the chain's terms."""

    INCLUDED = "included"
    SAFE = "safe"
    FINAL = "final"
