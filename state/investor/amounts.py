"""Amounts of an order that an investor enters. Pure functions."""

from backend.core.units import rounded, to_whole
from state.core.charts import nearest

BPS = 10_000
ROUNDING = 68
"""Base units of the quote currency that the fills of an order and its fee can round up, together."""


def money(units: int, decimals: int) -> str:
    """Return an amount of money with two decimals, rounded to the nearest: `1,124.27`."""
    hundredths = nearest(100 * units, int(10**decimals))
    return f"{hundredths // 100:,}.{hundredths % 100:02d}" if hundredths or not units else "<0.01"


def tokens(units: str | int, decimals: int, digits: int = 6) -> str:
    """Return an amount of tokens, rounded down to at most `digits` decimals, without zeros at its end."""
    text = rounded(units, decimals, digits)
    return text.rstrip("0").rstrip(".") if "." in text else text


def affordable(quote: int, price: int, decimals: int, fee_bps: int) -> int:
    """Return the most base units of a token that an amount of the quote currency buys, fees and rounding included."""
    left = quote - ROUNDING
    return max(left, 0) * 10**decimals * BPS // (price * (BPS + fee_bps)) if price > 0 else 0


def part(units: int, percent: int, decimals: int, digits: int = 6) -> str:
    """Return a part of an amount in whole units, rounded down to at most `digits` decimals."""
    step = 10 ** max(decimals - digits, 0)
    return to_whole(units * percent // 100 // step * step, decimals)
