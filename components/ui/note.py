"""Words that matter in place: notes, and the four states a page can be in besides full."""

from typing import Any, Literal

import reflex as rx

from components.ui.icon import icon

Tone = Literal["", "ok", "warn", "bad", "info"]
SIGNS = {"": "info", "ok": "circle-check", "warn": "triangle-alert", "bad": "circle-x", "info": "info"}


def note(*children: Any, tone: Tone = "", sign: str | None = None, **props: Any) -> rx.Component:
    """Draw a note in a tinted box. Start it with `rx.el.b("What it is. ")`."""
    return rx.el.div(
        icon(sign or SIGNS[tone], 15),
        rx.el.div(*children, class_name="grow"),
        class_name=f"note {tone}".strip(),
        **props,
    )


def problem_note(problem: rx.Var[str], **props: Any) -> rx.Component:
    """Show a problem's words where it arose, nothing while there is none; read out at once."""
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
    """Say that there is nothing yet, what would be here, and offer to make the first."""
    return _blank(sign, "", what, why, *actions)


def failure(what: Any, why: Any, *actions: rx.Component) -> rx.Component:
    """Say that something did not load, with the problem's words and a way to try again."""
    return _blank("cloud-off", "bad", what, why, *actions, role="alert")


def unread(words: Any, on_retry: Any) -> rx.Component:
    """Say in a line, in its place, that something small did not load, with a way to try again."""
    again = rx.el.button("Try again", type="button", class_name="link", on_click=on_retry)
    return rx.el.span(icon("cloud-off", 14), rx.el.span(words), again, class_name="unread", role="status")


def forbidden(why: Any) -> rx.Component:
    """Say that the person may not see this, with the problem's words (it names the scope)."""
    return _blank("lock", "", "You cannot see this", why)


def absent(what: str, state: Any, on_retry: Any, *ways_out: rx.Component) -> rx.Component:
    """What a page is whose one record cannot be shown: not allowed, not there, or not read. `what` is a noun, `state`
    a `state.api.Loads`."""
    again = rx.el.button(icon("rotate-cw", 15), "Try again", type="button", class_name="btn", on_click=on_retry)
    lost = rx.cond(
        state.is_missing,
        empty("compass", f"There is no such {what}", "The address may be mistyped, or it is gone.", *ways_out),
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


def page_skeleton() -> rx.Component:
    """Draw the shape of a page while it loads."""
    return rx.el.div(
        rx.el.div(
            rx.el.div(class_name="skeleton", style={"width": "180px", "height": "22px"}),
            rx.el.div(class_name="skeleton", style={"width": "280px"}),
            class_name="col",
            style={"marginBottom": "24px", "paddingTop": "4px"},
        ),
        rx.el.div(skeleton(5), class_name="card"),
    )
