"""What charts show, as texts and numbers: short amounts, scales with round steps, months below a chart."""

from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any

from state.core.units import grouped, rounded

STEPS = ((10**12, "T"), (10**9, "B"), (10**6, "M"), (10**3, "K"))


def compact(units: str | int, decimals: int = 0) -> str:
    """Return an amount as people grasp it, rounded to at most two decimals: `"25.64M"`, `"128K"`, `"9,999.5"`."""
    whole = int(10**decimals)
    hundredths = nearest(100 * int(units), whole)
    if hundredths < 100 * STEPS[-1][0] * 10:
        return grouped(hundredths, 2) if hundredths or not int(units) else rounded(units, decimals, 2)
    shown = ((nearest(100 * int(units), whole * size), letter) for size, letter in STEPS)
    hundredths, letter = next(one for one in shown if one[0] >= 100)
    return f"{grouped(hundredths, 2)}{letter}"


def nearest(numerator: int, denominator: int) -> int:
    """Return a quotient of numbers from 0, rounded to the nearest whole number; halves are rounded up."""
    return (2 * numerator + denominator) // (2 * denominator)


def moved(before: int, now: int) -> str:
    """Return by how much percent an amount changed, to the nearest tenth: `"+1.2%"`; empty without one before."""
    if before <= 0:
        return ""
    tenths = nearest(abs(now - before) * 1000, before)
    sign = "" if now == before else "+" if now > before else "−"
    return f"{sign}{tenths // 10:,}.{tenths % 10}%" if tenths or not sign else f"{sign}less than 0.1%"


def exact(units: str | int, decimals: int, unit: str = "") -> str:
    """Return a whole amount with its unit."""
    return f"{grouped(units, decimals)} {unit}".rstrip()


def scale(top: int, steps: int = 4) -> list[int]:
    """Return round numbers from 0 to at least `top`, at most `steps` of them above 0."""
    rough = max(-(-top // steps), 1)
    power = int(10 ** (len(str(rough)) - 1))
    step = next(times * power // 2 for times in (2, 4, 5, 10, 20) if times * power // 2 * steps >= top) or 1
    return list(range(0, -(-max(top, 1) // step) * step + 1, step))


def ticks(numbers: Sequence[int], decimals: int = 0) -> list[dict[str, Any]]:
    """Return the lines of a scale: how far up each is, and its label."""
    return [{"at": number / numbers[-1], "label": compact(number, decimals)} for number in numbers]


def span(low: int, high: int, steps: int = 4) -> list[int]:
    """Return round numbers from at most `low` to at least `high`, for a scale that does not begin at 0. If both are
    equal, there is room on each side."""
    if low == high:
        low, high = low - max(low // 20, 1), high + max(high // 20, 1)
    step = scale(high - low, steps)[1]
    return list(range(max(low, 0) // step * step, -(-high // step) * step + 1, step))


def marks(numbers: Sequence[int], decimals: int) -> list[dict[str, Any]]:
    """Return the lines of a `span`: how far up each is, and its label, with as many decimals as its steps need."""
    first, last, step = numbers[0], numbers[-1], numbers[1] - numbers[0]
    spare = next((n for n in range(decimals, 0, -1) if step % int(10**n) == 0), 0)
    return [
        {"at": (number - first) / (last - first), "label": rounded(number, decimals, decimals - spare)}
        for number in numbers
    ]


def months(days: Sequence[date]) -> list[dict[str, Any]]:
    """Return where the months begin among equally distant days, and their names."""
    found = [n for n in range(1, len(days)) if days[n].month != days[n - 1].month]
    return [
        {"at": n / (len(days) - 1), "label": f"{days[n]:%b %Y}" if days[n].month == 1 else f"{days[n]:%b}"}
        for n in found
    ]


def day(at: date) -> str:
    """Return a day as people write it: 14 Mar 2026."""
    return f"{at.day} {at:%b %Y}"


def ahead(days: int, today: date) -> str:
    """Return the day that is some days from today."""
    return day(today + timedelta(days=days))
