"""Notes, and the states of a page without content: empty, failed, forbidden, loading."""

from typing import Any, Literal

import reflex as rx

from components.ui.icon import icon

Tone = Literal["", "ok", "warn", "bad", "info"]
SIGNS = {"": "info", "ok": "circle-check", "warn": "triangle-alert", "bad": "circle-x", "info": "info"}


def note(*children: Any, tone: Tone = "", sign: str | None = None, **props: Any) -> rx.Component:
    """Draw a note in a tinted box. Start it with `rx.el.b("The fact. ")`."""
    return rx.el.div(
        icon(sign or SIGNS[tone], 15),
        rx.el.div(*children, class_name="grow"),
        class_name=f"note {tone}".strip(),
        **props,
    )


def problem_note(problem: rx.Var[str], **props: Any) -> rx.Component:
    """Show a problem's text, or nothing if there is no problem; screen readers announce it immediately."""
    return rx.cond(problem != "", note(problem, tone="bad", role="alert", **props), rx.fragment())


def _blank(sign: str, tone: str, what: Any, why: Any, *actions: rx.Component, **props: Any) -> rx.Component:
    return rx.el.div(
        rx.el.span(icon(sign, 18), class_name=f"sign {tone}".strip()),
        rx.el.div(what, class_name="what"),
        *([rx.el.div(why, class_name="why")] if why is not None else []),
        *([rx.el.div(*actions, class_name="row")] if actions else []),
        class_name="blank",
        **props,
    )


def empty(sign: str, what: Any, why: Any = None, *actions: rx.Component) -> rx.Component:
    """Draw an empty state: what is missing, what will appear here, and the button that fills it."""
    return _blank(sign, "", what, why, *actions)


def failure(what: Any, why: Any, *actions: rx.Component) -> rx.Component:
    """Draw a failed load, with the problem's text and a retry button."""
    return _blank("cloud-off", "bad", what, why, *actions, role="alert")


def unread(words: Any, on_retry: Any) -> rx.Component:
    """Draw one line about a small part that did not load, with a retry link."""
    again = rx.el.button("Try again", type="button", class_name="link", on_click=on_retry)
    return rx.el.span(icon("cloud-off", 14), rx.el.span(words), again, class_name="unread", role="status")


def forbidden(why: Any, *ways_out: rx.Component) -> rx.Component:
    """Say that the user may not see this, with the problem's text (it names the scope)."""
    return _blank("lock", "", "No access", why, *ways_out)


def absent(what: str, state: Any, on_retry: Any, *ways_out: rx.Component) -> rx.Component:
    """Draw why a page's record cannot be shown: forbidden, not found, or not loaded. `what` is a noun, `state`
    a `state.core.api.Loads`."""
    again = rx.el.button(icon("rotate-cw", 15), "Try again", type="button", class_name="btn", on_click=on_retry)
    lost = rx.cond(
        state.is_missing,
        empty("compass", f"This {what} does not exist", "The address may be mistyped, or it was deleted.", *ways_out),
        failure(f"This {what} did not load", state.problem, again),
    )
    said = rx.cond(state.is_forbidden, forbidden(state.problem), lost)
    return rx.fragment(rx.el.h1(what.capitalize(), class_name="sr"), said)


def skeleton(rows: int = 4) -> rx.Component:
    """Draw the shape of a list while it loads."""
    widths = [("46%", "68%"), ("38%", "52%"), ("54%", "61%"), ("41%", "58%")]
    return rx.el.div(
        *[
            rx.el.div(
                rx.el.div(class_name="skeleton square"),
                rx.el.div(
                    rx.el.div(class_name="skeleton", style={"width": widths[i % 4][0]}),
                    rx.el.div(class_name="skeleton", style={"width": widths[i % 4][1]}),
                    class_name="col grow",
                ),
                class_name="item",
            )
            for i in range(rows)
        ],
        role="status",
        aria_busy="true",
        aria_label="Loading",
    )


def line_skeleton() -> rx.Component:
    """Draw the shape of a line of text while it loads."""
    bar = rx.el.div(class_name="skeleton", style={"width": "62%"})
    return rx.el.div(bar, class_name="line-skeleton", role="status", aria_busy="true", aria_label="Loading")


def page_skeleton() -> rx.Component:
    """Draw the shape of a page while it loads. Its key makes React replace it instead of moving its parts about."""
    return rx.el.div(
        rx.el.div(
            rx.el.div(class_name="skeleton", style={"width": "180px", "height": "22px"}),
            rx.el.div(class_name="skeleton", style={"width": "280px"}),
            class_name="col",
            style={"marginBottom": "24px", "paddingTop": "4px"},
        ),
        rx.el.div(skeleton(5), class_name="card"),
        key="skeleton",
    )
