"""The return of a failed bridge's supply: the button in its drawer, and the confirmation dialog."""

import reflex as rx

from components.core.permission import Scope, allowed
from components.ui.box import text
from components.ui.button import button
from components.ui.dialog import form_dialog
from components.ui.form import area_field
from components.ui.note import note, problem_note
from state.bridges.list import BridgeState
from state.bridges.returns import BridgeReturnForm

BRIDGE = BridgeState.bridge


def return_button() -> rx.Component:
    """Draw the button, where the supply can be returned."""
    button_ = button("Return supply", kind="danger", on_click=BridgeReturnForm.begin, aria_haspopup="dialog")
    return rx.cond(BRIDGE.can_return, allowed(Scope.ASSETS_WRITE, button_), rx.fragment())


def return_dialog() -> rx.Component:
    """Draw the dialog."""
    state = BridgeReturnForm
    about = rx.el.span(
        "The packet is dropped on ", BRIDGE.destination, " and can never be delivered. Once that is final, its "
        "supply is minted back to the sender on ", BRIDGE.source, ". A second person must approve. This is final.",
    )  # fmt: skip
    return form_dialog(
        "Return the supply of this bridge",
        about,
        _plan(),
        area_field(
            "Reason", "reason", errors=state.errors, id="return-reason", rows=2, max_length=500,
            hint="Stored with the request and visible to everyone who can see it",
        ),
        form=state,
        submit="Request return",
        kind="danger",
        width="560px",
    )  # fmt: skip


def _plan() -> rx.Component:
    state = BridgeReturnForm
    steps = rx.el.ol(rx.foreach(state.steps, lambda words: rx.el.li(words, key=words)), class_name="plan-steps")
    return rx.el.div(
        rx.cond(state.planning, text("Querying the chains", cls="muted small"), rx.fragment()),
        problem_note(state.plan_problem),
        rx.cond(state.steps.length() > 0, steps, rx.fragment()),
        rx.foreach(state.warnings, lambda words: note(words, tone="warn", key=words)),
        class_name="col",
        aria_live="polite",
        aria_label="What happens",
        role="region",
    )
