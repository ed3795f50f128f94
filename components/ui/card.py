"""Surfaces: page heads, cards, key-value lists, lists of items, tiles."""

from typing import Any

import reflex as rx

from components.ui.icon import mark
from components.ui.value import Now


def page_head(
    title: Any,
    sub: Any = None,
    *actions: rx.Component,
    badge: rx.Component | None = None,
    before: rx.Component | None = None,
    who: rx.Component | None = None,
) -> rx.Component:
    """Head a page: title, one line below it, actions at the right (the primary one last). `who` is a line that says who
    can do what the page is for, if the user cannot."""
    return rx.el.div(
        *([before] if before is not None else []),
        rx.el.div(
            rx.el.div(rx.el.h1(title), *([badge] if badge is not None else []), class_name="row wrap"),
            *([rx.el.div(sub, class_name="sub")] if sub is not None else []),
            *([who] if who is not None else []),
            class_name="grow",
        ),
        *([rx.el.div(*actions, class_name="actions")] if actions else []),
        class_name="page-head",
    )


def print_head(organization: Any) -> rx.Component:
    """Head a printed page: the organization and the time. Screens do not show it."""
    return rx.el.div(rx.el.b(organization), rx.el.span(Now.create()), class_name="print-head", aria_hidden="true")


def card(
    title: Any,
    *body: Any,
    right: Any = None,
    count: Any = None,
    foot: Any = None,
    pad: bool = False,
    label: Any = None,
    **props: Any,
) -> rx.Component:
    """Draw a card with a heading. `pad` pads the body (tables and lists bring their own padding)."""
    head = rx.el.div(
        rx.el.h2(title),
        *([rx.el.span(count, class_name="muted small num")] if count is not None else []),
        *([rx.el.div(right, class_name="end row")] if right is not None else []),
        class_name="card-head",
    )
    inner = [rx.el.div(*body, class_name="card-body")] if pad else list(body)
    last = [card_foot(foot)] if foot is not None else []
    classes = f"card {props.pop('class_name', '')}".strip()
    return rx.el.section(head, *inner, *last, class_name=classes, aria_label=label or title, **props)


def panel(*body: Any, label: str, **props: Any) -> rx.Component:
    """Draw a card without a heading; `label` names it for screen readers."""
    return rx.el.section(*body, class_name=f"card {props.pop('class_name', '')}".strip(), aria_label=label, **props)


def card_foot(*children: Any) -> rx.Component:
    """Draw a card's foot: a line of small text and links."""
    return rx.el.div(*children, class_name="card-foot")


def kv(*pairs: tuple[Any, Any] | rx.Component, two: bool = False) -> rx.Component:
    """List names and values, or a `dt` and `dd` that may be missing; `two` puts them in two columns."""
    cells = [
        cell
        for pair in pairs
        for cell in ((rx.el.dt(pair[0]), rx.el.dd(pair[1])) if isinstance(pair, tuple) else (pair,))
    ]
    return rx.el.dl(*cells, class_name="kv two" if two else "kv")


def items(*children: Any, label: str | None = None) -> rx.Component:
    """List items; children come from `item` (or from `rx.foreach`)."""
    return rx.el.ul(*children, **({"aria_label": label} if label else {}))


def item(
    title: Any, below: Any = None, *right: Any, sign: rx.Component | str | None = None, tone: str = "", **props: Any
) -> rx.Component:
    """Draw an item of a list: an icon in a tinted square, a title, a muted line, actions at the right."""
    lead = [mark(sign, tone) if isinstance(sign, str) else sign] if sign is not None else []
    return rx.el.li(
        *lead,
        rx.el.div(
            rx.el.div(title, class_name="title"),
            *([rx.el.div(below, class_name="below")] if below is not None else []),
            class_name="grow",
        ),
        *right,
        class_name="item",
        **props,
    )


def figure_strip(*figures: tuple[Any, Any]) -> rx.Component:
    """Draw numbers with their labels side by side; the strip wraps."""
    return rx.el.div(
        *[
            rx.el.div(rx.el.div(name, class_name="muted small"), rx.el.div(value, class_name="of"))
            for name, value in figures
        ],
        class_name="card strip",
    )


def logo(initials: Any, size: str = "", **props: Any) -> rx.Component:
    """Draw an organization's or asset's square with two letters; sizes: sm, lg."""
    return rx.el.span(initials, class_name=f"logo {size}".strip(), aria_hidden="true", **props)


def avatar(initials: Any, *, small: bool = False) -> rx.Component:
    """Draw a person's circle with two letters."""
    return rx.el.span(initials, class_name="avatar sm" if small else "avatar", aria_hidden="true")
