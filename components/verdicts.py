"""Rules' verdicts in a list: passed or refused, why, and what puts it right."""

import reflex as rx

from components.ui.button import link_button
from components.ui.icon import mark
from components.ui.status import status
from state.verdicts import Verdict


def verdict_list(verdicts: rx.Var[list[Verdict]], label: str) -> rx.Component:
    """Draw the list."""
    return rx.el.ul(rx.foreach(verdicts, _verdict), aria_label=label)


def _verdict(verdict: rx.Var[Verdict]) -> rx.Component:
    fix = rx.cond(verdict.fix != "", rx.el.div(verdict.fix, class_name="small"), rx.fragment())
    call = rx.cond(verdict.call != "", rx.el.div(verdict.call, class_name="mono muted break"), rx.fragment())
    right = rx.cond(
        verdict.href != "",
        link_button("Put it right", verdict.href, small=True, aria_label="Put it right: " + verdict.title),
        status(rx.cond(verdict.passed, "passed", "refused")),
    )
    return rx.el.li(
        rx.cond(verdict.passed, mark("check", "ok"), mark("x", "bad")),
        rx.el.div(
            rx.el.div(
                verdict.title, rx.el.span(rx.cond(verdict.passed, ", passed", ", refused"), class_name="sr"),
                class_name="strong",
            ),
            rx.el.div(verdict.reason, class_name="muted small"),
            fix,
            call,
        ),
        rx.el.div(right),
        class_name="verdict",
        key=verdict.id,
    )  # fmt: skip
