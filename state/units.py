"""Whole units for people, base units for chains: exact both ways, never a float."""

import re
from decimal import Decimal, localcontext

from backend.units import grouped, to_whole

__all__ = ["MAX_UINT256", "cost", "grouped", "percent", "plotted", "to_base", "to_whole"]

MAX_UINT256 = 2**256 - 1
_NUMBER = re.compile(r"\d*(\.\d*)?", re.ASCII)


def to_base(words: str, decimals: int) -> str:
    """`"1,250.5"` with 6 decimals is `"1250500000"`.

    Raises ValueError, in words for the field, where it is not a number, too fine, or more than a chain can hold.
    """
    plain = re.sub(r"[,\s_]", "", words)
    if not plain.strip(".") or not _NUMBER.fullmatch(plain):
        raise ValueError("Write a number, such as 1250.5")
    whole, _, part = plain.partition(".")
    part = part.rstrip("0")
    if len(part) > decimals:
        raise ValueError(f"At most {decimals} digits after the point")
    units = int((whole or "0") + part.ljust(decimals, "0")) if len(plain) < 200 else MAX_UINT256 + 1
    if units > MAX_UINT256:
        raise ValueError("More than a chain can hold")
    return str(units)


def cost(price: str, amount: str, decimals: int) -> int:
    """What an order costs in quote base units, rounded up; price is per whole token of `decimals`."""
    return -(-int(price) * int(amount) // 10**decimals)


def percent(bps: int) -> str:
    """30 basis points are 0.30%."""
    return f"{bps // 100}.{bps % 100:02d}%"


def plotted(units: str | int, decimals: int) -> float:
    """A number for a chart; nothing is ever computed with it."""
    with localcontext() as context:
        context.prec = 80
        return float(Decimal(int(units)).scaleb(-decimals))
