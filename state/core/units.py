"""Conversion between whole units and base units: exact, without floats."""

import re
from collections.abc import Iterable
from decimal import Decimal, localcontext

from backend.core.units import grouped, priced, rounded, shortened, to_whole

__all__ = [
    "MAX_UINT256", "brief", "column_decimals", "cost", "grouped", "percent", "plain", "plotted", "priced",
    "rounded",
    "shortened", "to_base", "to_whole", "with_short_addresses", "with_short_amounts",
]  # fmt: skip

MAX_UINT256 = 2**256 - 1
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{40}\b")
_LONG = re.compile(r"(\d\.\d{2})\d{5,}")
_SMALL = re.compile(r"(?<![\d.,])(0\.\d{6})\d+")
_TINY = re.compile(r"(?<![\d.,])0\.000000\d+")
_NUMBER = re.compile(r"(?:\d{1,3}(?:([,_\s])\d{3})(?:\1\d{3})*|\d*)(?:\.\d*)?", re.ASCII)
"""Digits, also in groups of three with one separator; decimals after a point."""


def with_short_addresses(words: str) -> str:
    """Shorten every address in a text."""
    return _ADDRESS.sub(lambda found: shortened(found[0]), words)


def with_short_amounts(words: str) -> str:
    """Cut every number in a text with more than 6 decimals to two, or to six below one; show the text itself on
    hover."""
    return _LONG.sub(r"\1", _SMALL.sub(r"\1", _TINY.sub("<0.000001", words)))


def brief(words: str) -> str:
    """Shorten every address and number in a text; show the text itself on hover."""
    return with_short_amounts(with_short_addresses(words))


def plain(words: str) -> str:
    """Return a number as typed without the separators of its thousands. A comma separates thousands, never decimals.

    Raises ValueError with a message if it is not a number, such as `"1,5"`, which may mean 1.5.
    """
    typed = words.strip()
    if not typed.strip(".") or not _NUMBER.fullmatch(typed):
        comma = ". Decimals follow a point, not a comma" if "," in typed else ""
        raise ValueError(f"Enter a number, such as 1250.5{comma}")
    return re.sub(r"[,_\s]", "", typed)


def to_base(words: str, decimals: int) -> str:
    """Convert `"1,250.5"` with 6 decimals to `"1250500000"`.

    Raises ValueError with a message if it is not a number, has too many decimals, or exceeds a chain's maximum.
    """
    typed = plain(words)
    whole, _, part = typed.partition(".")
    part = part.rstrip("0")
    if len(part) > decimals:
        raise ValueError(f"At most {decimals} decimals")
    units = int((whole or "0") + part.ljust(decimals, "0")) if len(typed) < 200 else MAX_UINT256 + 1
    if units > MAX_UINT256:
        raise ValueError("Exceeds the maximum of a chain")
    return str(units)


def cost(price: str, amount: str, decimals: int) -> int:
    """Return an order's cost in quote base units, rounded up; the price is per whole token of `decimals`."""
    return -(-int(price) * int(amount) // int(10**decimals))


def percent(bps: int) -> str:
    """Format basis points: 30 are 0.30%."""
    return f"{bps // 100}.{bps % 100:02d}%"


def column_decimals(amounts: Iterable[str], decimals: int) -> int:
    """Return how many decimals a column of amounts in base units always shows, so that its digits align: two if one of
    them is no whole number. Unknown amounts are empty."""
    return 2 * any(int(units) % 10**decimals for units in amounts if units)


def plotted(units: str | int, decimals: int) -> float:
    """Return a number for a chart; never compute with it."""
    with localcontext() as context:
        context.prec = 80
        return float(Decimal(int(units)).scaleb(-decimals))
