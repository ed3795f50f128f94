"""Plain layout: rows, columns, text."""

from typing import Any

import reflex as rx


def row(*children: Any, cls: str = "", **props: Any) -> rx.Component:
    """Lay children out in a line. Words for `cls`: top, wrap, tight, wide, center."""
    return rx.el.div(*children, class_name=f"row {cls}".strip(), **props)


def col(*children: Any, cls: str = "", **props: Any) -> rx.Component:
    """Lay children out below each other. Words for `cls`: none, tight, wide."""
    return rx.el.div(*children, class_name=f"col {cls}".strip(), **props)


def end(*children: Any, cls: str = "", **props: Any) -> rx.Component:
    """Push what follows to the end of a row."""
    return rx.el.div(*children, class_name=f"end row {cls}".strip(), **props)


def text(*children: Any, cls: str = "", **props: Any) -> rx.Component:
    """Write inline text. Words for `cls`: muted, small, strong, heavy, mono, num, trunc, nowrap, break, ok-text, …."""
    return rx.el.span(*children, class_name=cls, **props)


def number(value: Any, unit: Any = None) -> rx.Component:
    """Write a number in tabular digits, with its unit."""
    return rx.el.span(value, *([rx.el.span(unit, class_name="unit")] if unit is not None else []), class_name="num")


def split(main: rx.Component, side: rx.Component, *, side_first: bool = False) -> rx.Component:
    """Put a narrow column beside the main one; one above the other below 1180 px."""
    if side_first:
        return rx.el.div(side, main, class_name="split left")
    return rx.el.div(main, side, class_name="split")
