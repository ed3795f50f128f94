"""Marked rows of a list: checkboxes, the bar of actions, and the outcomes of an action."""

from typing import Any

import reflex as rx

from components.ui.box import text
from components.ui.button import button, link
from components.ui.status import status
from components.ui.table import Col, table, td, tr


def mark_box(marks: Any, row: rx.Var[Any], name: rx.Var[str]) -> rx.Component:
    """Draw the checkbox of a row; `marks` is the state of the list (`Marks`)."""
    return rx.el.input(
        type="checkbox",
        checked=marks.marked.contains(row.id),
        on_change=lambda on: marks.mark(row.id, on),
        aria_label="Select " + name,
        class_name="mark-box",
    )


def marks_bar(marks: Any, *actions: Any) -> rx.Component:
    """Draw how many rows are marked, and the actions on them; nothing while no row is marked."""
    count, all_ = marks.marked.length(), marks.rows.length()
    everything = button(
        rx.el.span("Select all ", all_, rx.el.span(" on this page", class_name="hide-narrow")),
        small=True,
        kind="quiet",
        on_click=marks.mark_all(True),
    )
    bar = rx.el.div(
        text(count, " selected", cls="strong num"),
        *actions,
        rx.cond(count < all_, everything, rx.fragment()),
        button("Clear", small=True, kind="quiet", on_click=marks.mark_all(False)),
        class_name="marks-bar",
        role="toolbar",
        aria_label="Actions on selected rows",
        custom_attrs={"data-marks": ""},
    )
    return rx.cond(count > 0, bar, rx.fragment())


def outcomes(state: Any) -> rx.Component:
    """Draw the outcomes of a state with `outcomes`, `known`, `refusals` and `running`."""
    said = rx.cond(
        state.running,
        rx.el.span(state.known, " of ", state.outcomes.length(), " sent"),
        rx.el.span(state.known - state.refusals, " accepted, ", state.refusals, " refused"),
    )
    return rx.fragment(
        rx.el.p(said, class_name="muted num", role="status"),
        table(
            "Results",
            [Col("Name"), Col("Chain"), Col("Result")],
            state.outcomes,
            _row,
            empty=rx.fragment(),
            loading=rx.Var.create(False),
            problem=rx.Var.create("").to(str),
            slim=True,
        ),
    )


def _row(outcome: rx.Var[Any]) -> rx.Component:
    request = rx.cond(outcome.href != "", link("View request", outcome.href), rx.fragment())
    return tr(
        td(outcome.name, class_name="strong"),
        td(outcome.place),
        td(
            rx.el.div(status(outcome.status), " ", request, class_name="row tight"),
            rx.cond(outcome.detail != "", rx.el.div(outcome.detail, class_name="muted small"), rx.fragment()),
            class_name="wrap",
            full=True,
        ),
        key=outcome.id,
    )
