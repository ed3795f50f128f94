"""Lucide icons at the sizes the console uses."""

from typing import Any

import reflex as rx


def icon(name: str, size: int = 16, *, spin: bool = False, **props: Any) -> rx.Component:
    """Draw a decorative icon; `name` must be literal, so that only the icons in use are bundled."""
    classes = f"{props.pop('class_name', '')} {'spin' if spin else ''}".strip()
    stroke = props.pop("stroke_width", 2 if size < 15 else 1.75)
    return rx.icon(name, size=size, stroke_width=stroke, class_name=classes, aria_hidden="true", **props)


def mark(name: str, tone: str = "", *, spin: bool = False) -> rx.Component:
    """Draw an icon in a tinted square, for items of a list. Tones: ok, warn, bad, info."""
    return rx.el.span(icon(name, 15, spin=spin), class_name=f"mark {tone}".strip(), aria_hidden="true")
