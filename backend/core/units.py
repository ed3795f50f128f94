"""Exact formatting of token amounts in base units, without floats."""


def to_whole(units: str | int, decimals: int) -> str:
    """Return an amount as an input field shows it: `"1250500000"` with 6 decimals is `"1250.5"`."""
    digits = str(int(units)).rjust(decimals + 1, "0")
    whole, part = (digits[:-decimals], digits[-decimals:]) if decimals else (digits, "")
    part = part.rstrip("0")
    return f"{whole}.{part}" if part else whole


def grouped(units: str | int, decimals: int) -> str:
    """Return an amount as a sentence shows it: `"1250500000"` with 6 decimals is `"1,250.5"`."""
    whole, _, part = to_whole(units, decimals).partition(".")
    return f"{int(whole):,}" + (f".{part}" if part else "")
