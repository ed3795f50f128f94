"""The page on which anyone can try to break the demo."""

import reflex as rx

from app.shell.layout import Nav, page
from components.attempts.list import attempts
from components.core.permission import Scope
from components.ui.button import button
from components.ui.card import page_head
from components.ui.note import empty, failure, forbidden, note, problem_note, skeleton
from state.attempts.list import AttemptsState
from state.core.session import Session

IS_EMBEDDED = Session.network == "devnet"


@page(
    route="/o/[org_id]/attempts",
    title="Try to break it",
    nav=Nav("Network", "hammer", 67, "x", shown=IS_EMBEDDED & (Session.org.role == "admin")),
    needs=Scope.ORGS_WRITE,
    on_load=[AttemptsState.load],
)
def try_to_break_it() -> rx.Component:
    """Draw the attempts."""
    state = AttemptsState
    absent = empty("hammer", "Only a demo can be broken", "Attempts exist on an embedded installation on this machine.")
    again = failure("This did not load", state.problem, button("Try again", "rotate-cw", on_click=state.load))
    broken = rx.cond(state.is_forbidden, forbidden(state.problem), rx.cond(state.is_missing, absent, again))
    whole = rx.el.div(
        _summary(),
        problem_note(state.refusal),
        attempts("Against the rules", state.against_rules),
        attempts("Against the machinery", state.against_machinery),
        class_name="col wide",
    )
    known = rx.cond(state.against_rules.length() > 0, whole, skeleton())
    return rx.fragment(
        page_head(
            "Try to break it",
            "Every button makes a real attempt on the embedded chains. Signum's rules and the contract decide "
            "independently, and you see both.",
        ),
        rx.cond(state.problem != "", broken, known),
    )


def _summary() -> rx.Component:
    state = AttemptsState
    differ = note(
        rx.el.b("Something broke. "),
        "The two verdicts differ, or a chain holds something else than it must.",
        tone="bad",
    )
    held = note(
        rx.el.b(
            "Signum held against ",
            state.held,
            " of ",
            state.tried,
            rx.cond(state.tried == 1, " attempt. ", " attempts. "),
        ),
        tone="ok",
    )
    return rx.cond(state.is_broken, differ, rx.cond(state.tried > 0, held, rx.fragment()))
