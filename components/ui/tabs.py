"""Tabs (places within a page) and filters (pressed buttons with counts)."""

from collections.abc import Mapping, Sequence
from typing import Any

import reflex as rx


def tabs(label: str, value: rx.Var[str], on_pick: Any, *places: tuple[str, Any, rx.Component]) -> rx.Component:
    """Draw tabs from (value, title, content); only the selected content is mounted. `on_pick(value)` is called on
    every press, even of the shown tab: until a page has loaded, that may be the tab of the last visit."""
    triggers = [rx.tabs.trigger(title, value=key, on_click=on_pick(key)) for key, title, _ in places]
    return rx.tabs.root(
        rx.el.div(
            rx.tabs.list(*triggers, size="2", aria_label=label),
            class_name="scroll-x",
            style={"marginBottom": "20px"},
        ),
        *[rx.tabs.content(content, value=key) for key, _, content in places],
        value=value,
        activation_mode="manual",
    )


def counted(options: Sequence[tuple[str, str]], state: Any) -> list[tuple[Any, ...]]:
    """Return filters by status with the counts of a state."""
    return [(key, word, state.counts[key]) for key, word in options]


def filters(
    label: str,
    value: rx.Var[str],
    on_pick: Any,
    options: Sequence[tuple[Any, ...]] | rx.Var[list[Any]],
    shown: Mapping[str, rx.Var[bool]] | None = None,
) -> rx.Component:
    """Draw filters from (value, word) or (value, word, count); `on_pick(value)` gets the pressed filter's value.
    `shown` says of some values whether they are offered."""

    def one(key: Any, word: Any, count: Any = None) -> rx.Component:
        number = [rx.el.span(count, class_name="n")] if count is not None else []
        pressed = rx.cond(value == key, "true", "false")
        return rx.el.button(
            word, *number, type="button", class_name="filter", aria_pressed=pressed, on_click=on_pick(key)
        )

    drawn = [
        rx.cond(shown[option[0]], one(*option), rx.fragment()) if shown and option[0] in shown else one(*option)
        for option in options
    ]
    return rx.el.div(*drawn, class_name="filters", role="group", aria_label=label)
