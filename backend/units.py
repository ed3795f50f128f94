"""Base units of a token as people write them: exact, never a float."""


def to_whole(units: str | int, decimals: int) -> str:
    """`"1250500000"` with 6 decimals is `"1250.5"`, as an input field takes it."""
    digits = str(int(units)).rjust(decimals + 1, "0")
    whole, part = (digits[:-decimals], digits[-decimals:]) if decimals else (digits, "")
    part = part.rstrip("0")
    return f"{whole}.{part}" if part else whole


def grouped(units: str | int, decimals: int) -> str:
    """`"1250500000"` with 6 decimals is `"1,250.5"`, as a sentence has it."""
    whole, _, part = to_whole(units, decimals).partition(".")
    return f"{int(whole):,}" + (f".{part}" if part else "")
