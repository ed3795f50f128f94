"""Formatting of token amounts in base units, without floats, and of addresses in sentences."""


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


DIGITS = 6
"""Decimals of an amount that people read at most."""


def rounded(units: str | int, decimals: int, digits: int | None = None) -> str:
    """Return an amount as people compare it: grouped, and rounded down to at most `digits` decimals, or `"<0.01"`.
    Without `digits`, up to 6 decimals are shown as they are; of more, two, or six below one: `"3,397.30"`. Show the
    exact amount next to it or on hover."""
    exact = grouped(units, decimals)
    whole, _, part = exact.partition(".")
    if len(part) <= (DIGITS if digits is None else digits):
        return exact
    if digits is None:
        digits = DIGITS if whole == "0" else 2
    if whole == "0" and not part[:digits].strip("0"):
        return f"<0.{'1'.rjust(digits, '0')}" if digits else "<1"
    return f"{whole}.{part[:digits]}" if digits else whole


def priced(units: str | int, decimals: int) -> str:
    """Return a price: grouped, with two decimals or as many as it has: `"103.10"`, `"102.137"`."""
    whole, _, part = grouped(units, decimals).partition(".")
    return f"{whole}.{part.ljust(min(2, decimals), '0')}" if decimals else whole


def shortened(address: str) -> str:
    """Return the two ends of an address: `0x5290…9EE7`."""
    return f"{address[:6]}…{address[-4:]}"
