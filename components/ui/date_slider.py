"""A slider over days, and a box in which what belongs together lights up together."""

from typing import Any

import reflex as rx

from components.ui.value import Local


class DateSlider(Local):
    """A slider with a date field. Dates are texts such as 2026-11-20; it tells the picked one."""

    library = "$/public/react/date_slider.jsx"
    tag = "DateSlider"

    label: rx.Var[str]
    first: rx.Var[str]
    last: rx.Var[str]
    value: rx.Var[str]
    now: rx.Var[str]
    busy: rx.Var[bool]

    on_pick: rx.EventHandler[rx.event.passthrough_event_spec(str)]


class Linked(Local):
    """Highlights the elements inside that have the same `data-n` as the one under the pointer or with the focus."""

    library = "$/public/react/date_slider.jsx"
    tag = "Linked"


def date_slider(
    label: str,
    first: rx.Var[str],
    last: rx.Var[str],
    value: rx.Var[str],
    on_pick: Any,
    *,
    now: str = "",
    busy: rx.Var[bool] | bool = False,
) -> rx.Component:
    """Draw a slider from `first` to `last`; an empty `value` is the last day, which is called `now`."""
    return DateSlider.create(label=label, first=first, last=last, value=value, now=now, busy=busy, on_pick=on_pick)


def linked(*children: Any, **props: Any) -> rx.Component:
    """Draw a box whose parts light up together."""
    return Linked.create(*children, **props)
