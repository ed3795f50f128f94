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


def tabulated(units: str | int, decimals: int) -> str:
    """Return an amount as a printed table shows it: grouped, and rounded down to as many decimals as it needs, at most
    6."""
    text = rounded(units, decimals, DIGITS)
    return text.rstrip("0").rstrip(".") if "." in text else text


def priced(units: str | int, decimals: int, *, is_exact: bool = True) -> str:
    """Return a price as a sentence shows it, with two decimals or, where it has them, more: `"99800000"` with 6
    decimals is `"99.80"`. If it need not be exact, it is rounded like other amounts."""
    text = grouped(units, decimals) if is_exact else rounded(units, decimals)
    whole, _, part = text.partition(".")
    return f"{whole}.{part.ljust(2, '0')}" if decimals >= 2 else text


def shortened(address: str) -> str:
    """Return the two ends of an address: `0x5290…9EE7`."""
    return f"{address[:6]}…{address[-4:]}"
