"""The plot of `make bench`: how many times the floor's time or cost each measurement takes, on a logarithmic scale."""

import math
from collections.abc import Sequence
from html import escape
from typing import Any

ROW, LEFT, WIDTH, TOP = 18, 230, 560, 34
"""Pixels: the height of a row, the widths of the names and of the bars, and the height of the scale."""
MARKS = (0.5, 1, 2, 5, 10, 20, 50)
INK, PALE, BAR = "#1d2330", "#d9dde5", "#3e63dd"


def svg(rows: Sequence[dict[str, Any]]) -> str:
    """Return an SVG with a bar from 1 for each row with a floor."""
    shown = [row for row in rows if row.get("ratio_floor")]
    height = TOP + ROW * len(shown) + 8
    marks = [_mark(value, height) for value in MARKS]
    bars = [_bar(row, TOP + ROW * place) for place, row in enumerate(shown)]
    size = f'width="{LEFT + WIDTH + 60}" height="{height}" viewBox="0 0 {LEFT + WIDTH + 60} {height}"'
    text = f'font-family="system-ui, sans-serif" font-size="11" fill="{INK}"'
    title = "<title>Time or cost, in multiples of the same work with nothing around it</title>"
    page = f'<rect width="100%" height="100%" fill="#fff"/>{title}'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} {text}>\n{page}\n' + "\n".join([*marks, *bars]) + "\n</svg>\n"
    )


def _at(ratio: float) -> float:
    """Return where a ratio is, from the left."""
    low, high = math.log(MARKS[0]), math.log(MARKS[-1] * 1.2)
    share = (math.log(ratio) - low) / (high - low)
    return round(LEFT + WIDTH * min(max(share, 0), 1), 1)


def _mark(value: float, height: int) -> str:
    x = _at(value)
    line = f'<line x1="{x}" x2="{x}" y1="{TOP - 8}" y2="{height}" stroke="{INK if value == 1 else PALE}"/>'
    return f'{line}<text x="{x}" y="{TOP - 14}" text-anchor="middle">{value:g}x</text>'


def _bar(row: dict[str, Any], y: int) -> str:
    one, end = _at(1), _at(row["ratio_floor"])
    x, width = min(one, end), max(abs(end - one), 1)
    name = f'<text x="{LEFT - 12}" y="{y + 12}" text-anchor="end">{escape(row["name"])}</text>'
    bar = f'<rect x="{x}" y="{y + 3}" width="{width:.1f}" height="{ROW - 6}" fill="{BAR}"/>'
    return f'{name}{bar}<text x="{max(one, end) + 6}" y="{y + 12}">{row["ratio_floor"]:g}</text>'
