"""What ends in the next 90 days: a strip with a square per day, and the entries."""

from typing import Any

import reflex as rx

from components.ui.button import text_button
from components.ui.card import card, items
from components.ui.icon import mark
from components.ui.note import empty
from components.ui.value import when
from state.insight.overview import InsightState
from state.insight.views import MonthView, UpcomingView


def calendar_card() -> rx.Component:
    """Draw the strip, and below it the entries."""
    state = InsightState
    strip = rx.el.div(rx.foreach(state.months, _month), class_name="calendar-box", aria_hidden="true")
    more = rx.el.div(
        text_button("Show all " + state.upcoming.length().to_string(), on_click=state.open_calendar),
        class_name="card-foot",
    )
    left = rx.el.div("The first ", state.upcoming.length(), " of ", state.upcoming_total, class_name="card-foot")
    rows = rx.fragment(
        items(rx.foreach(state.listed, _entry), label="What ends in the next 90 days"),
        rx.cond(state.listed.length() < state.upcoming.length(), more, rx.fragment()),
        rx.cond(state.is_open & (state.upcoming_total > state.upcoming.length()), left, rx.fragment()),
    )
    none = empty(
        "calendar-check",
        "Nothing ends in 90 days",
        "Attestations, lock-ups, drafted distributions and approvals appear here before they end.",
    )
    return rx.cond(
        state.problem != "",
        rx.fragment(),
        card(
            "Next 90 days",
            strip,
            rx.cond(state.upcoming.length() > 0, rows, none),
            count=rx.cond(state.upcoming_total > 0, state.upcoming_total.to_string(), ""),
        ),
    )


def _month(month: rx.Var[MonthView]) -> rx.Component:
    return rx.el.div(
        rx.el.span(month.label, class_name="muted nowrap"),
        rx.el.div(rx.foreach(month.days, _cell), class_name="calendar-strip"),
        class_name="calendar-month",
        key=month.label,
    )


def _cell(cell: rx.Var[dict[str, Any]]) -> rx.Component:
    return rx.el.i(class_name="day " + cell["kind"].to(str), title=cell["title"].to(str))


def _entry(entry: rx.Var[UpcomingView]) -> rx.Component:
    return rx.el.li(
        rx.match(
            entry.kind,
            ("attestation", mark("hourglass", "warn")),
            ("lockup", mark("lock-open", "ok")),
            ("distribution", mark("split")),
            mark("user-check", "info"),
        ),
        rx.el.div(
            rx.el.a(entry.title, href=entry.href, class_name="link plain title"),
            rx.el.div(when(entry.at, "day"), ", ", entry.words, class_name="below"),
            class_name="grow",
        ),
        class_name="item",
        key=entry.id,
    )
