"""A list of rule verdicts: passed or refused, the reason, and a link to the fix."""

from typing import Any

import reflex as rx

from components.ui.api_call import api_call
from components.ui.button import link_button
from components.ui.icon import mark
from components.ui.note import note
from components.ui.status import status
from state.compliance.verdicts import Verdict


def verdict_list(verdicts: rx.Var[list[Verdict]], label: str) -> rx.Component:
    """Draw the list of verdicts."""
    return rx.el.ul(rx.foreach(verdicts, _verdict), aria_label=label)


def verdict_notes(state: Any) -> rx.Component:
    """Say whether a checked transfer is allowed, and whether the chain agrees; `state` has the verdicts."""
    yes = note(rx.el.b("This transfer is allowed. "), "Every rule passes.", tone="ok")
    no = note(
        rx.el.b("This transfer is refused. "),
        state.failing,
        rx.cond(state.failing == 1, " rule refuses", " rules refuse"),
        " it.",
        tone="bad",
    )
    differs = note(rx.el.b("The chain disagrees. "), "Its state may be newer than the data shown here.", tone="warn")
    return rx.fragment(rx.cond(state.allowed, yes, no), rx.cond(state.agrees, rx.fragment(), differs))


def _verdict(verdict: rx.Var[Verdict]) -> rx.Component:
    fix = rx.cond(verdict.fix != "", rx.el.div(verdict.fix, class_name="small"), rx.fragment())
    right = rx.cond(
        verdict.href != "",
        link_button(verdict.go, verdict.href, small=True, aria_label=verdict.go + ": " + verdict.title),
        status(rx.cond(verdict.passed, "passed", "refused")),
    )
    return rx.el.li(
        rx.cond(verdict.passed, mark("check", "ok"), mark("x", "bad")),
        rx.el.div(
            rx.el.div(
                verdict.title, rx.el.span(rx.cond(verdict.passed, ", passed", ", refused"), class_name="sr"),
                class_name="strong",
            ),
            rx.el.div(verdict.reason, class_name="muted small", title=verdict.exact),
            fix,
            api_call(verdict.call),
        ),
        rx.el.div(right),
        class_name="verdict",
        key=verdict.id,
    )  # fmt: skip
