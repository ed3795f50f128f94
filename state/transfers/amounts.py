"""Amounts of tokens and money that are sent: numbers above zero."""

from state.core.units import to_base


def to_positive(words: str, decimals: int) -> str:
    """Convert an amount as `to_base` does. Raises ValueError with a message for zero too."""
    units = to_base(words, decimals)
    if not int(units):
        raise ValueError("Enter a number above 0")
    return units
