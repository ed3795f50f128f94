"""Buttons that are disabled keep their look under the pointer: a pressed button is hovered while it runs."""

from tests.e2e.conftest import Console

STYLE = "button => { const s = getComputedStyle(button); return [s.color, s.backgroundColor, s.borderColor] }"
ALL_KINDS = ["primary", "danger", "quiet", ""]


def test_disabled_button_looks_the_same_under_the_pointer(console: Console) -> None:
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
