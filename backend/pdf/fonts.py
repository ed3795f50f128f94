"""The fonts of reports. They are embedded, so that a report looks the same everywhere.

They have the letters of Latin, Greek, Cyrillic, Armenian and Georgian. Other letters appear as boxes.
"""

from functools import lru_cache
from pathlib import Path

from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont

PLAIN, BOLD = "DejaVuSansCondensed", "DejaVuSansCondensed-Bold"
_FOLDER = Path(__file__).parent / "fonts"


@lru_cache(1)
def register() -> None:
    """Make the fonts known to the library, once in a process."""
    for name in (PLAIN, BOLD):
        pdfmetrics.registerFont(TTFont(name, str(_FOLDER / f"{name}.ttf")))


def width(text: str, font: str, size: float) -> float:
    """Return the width of a text, in points."""
    register()
    return float(pdfmetrics.stringWidth(text, font, size))


def wrapped(text: str, font: str, size: float, room: float) -> list[str]:
    """Return the lines of a text that fit into some points: broken at spaces, and in a word that is too long."""
    lines = [""]
    for word in text.split():
        if width(f"{lines[-1]} {word}".strip(), font, size) <= room:
            lines[-1] = f"{lines[-1]} {word}".strip()
            continue
        *full, rest = _broken(word, font, size, room)
        lines += [*full, rest]
    return [line for line in lines if line] or [""]


def _broken(word: str, font: str, size: float, room: float) -> list[str]:
    parts = [""]
    for letter in word:
        if parts[-1] and width(parts[-1] + letter, font, size) > room:
            parts.append("")
        parts[-1] += letter
    return parts
