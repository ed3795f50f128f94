"""Buttons that are disabled keep their look under the pointer: a pressed button is hovered while it runs."""

import re
from typing import Literal

import pytest

from tests.e2e.conftest import Console

STYLE = "button => { const s = getComputedStyle(button); return [s.color, s.backgroundColor, s.borderColor] }"
GROUNDS = """button => {
    const found = [];
    for (let at = button; at; at = at.parentElement) found.push(getComputedStyle(at).backgroundColor);
    return found;
}"""
ALL_KINDS = ["primary", "danger", "quiet", ""]
READABLE = 4.5
"""The contrast ratio that small text needs."""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_disabled_button_looks_the_same_and_readable_under_the_pointer(
    console: Console, theme: Literal["light", "dark"]
) -> None:
    console.page.emulate_media(color_scheme=theme)
    page = console.sign_in(path="organizations").heading("Organizations").page
    button = page.get_by_role("button", name="New organization")
    button.evaluate("button => { button.disabled = true; button.style.transition = 'none' }")
    for kind in ALL_KINDS:
        button.evaluate("(button, kind) => { button.className = `btn ${kind}` }", kind)
        page.mouse.move(0, 0)
        away = button.evaluate(STYLE)
        button.hover(force=True)
        assert button.evaluate("button => button.matches(':hover')")
        assert button.evaluate(STYLE) == away, kind
        assert contrast(away[0], button.evaluate(GROUNDS)) >= READABLE, kind


def contrast(text: str, grounds: list[str]) -> float:
    """Return the contrast ratio of a text on its background (WCAG 2.2): computed colors, the outermost one last."""
    ground = [0.0, 0.0, 0.0]
    for *color, alpha in map(_parts, reversed(grounds)):
        ground = [alpha * part + (1 - alpha) * below for part, below in zip(color, ground, strict=True)]
    one, other = sorted((_luminance(_parts(text)[:3]), _luminance(ground)))
    return (other + 0.05) / (one + 0.05)


def _parts(color: str) -> list[float]:
    """Return red, green, blue and alpha, each from 0 to 1."""
    parts = [float(part) for part in re.findall(r"[\d.]+", color)]
    return [part / 255 for part in parts[:3]] + (parts[3:] or [1.0])


def _luminance(parts: list[float]) -> float:
    red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
