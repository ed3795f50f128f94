"""The bar of actions on selected holders, and the dialog that freezes or unfreezes them together."""

import reflex as rx

from components.controls.second_person import second_person
from components.core.permission import Scope, allowed
from components.ui.box import text
from components.ui.button import button
from components.ui.dialog import dialog, form_dialog
from components.ui.form import area_field, text_field
from components.ui.marks import marks_bar, outcomes
from components.ui.note import note, problem_note
from state.assets.detail import AssetState
from state.assets.holders import HoldersState
from state.controls.freeze_many import FREEZE, UNFREEZE, FreezeMany


def freeze_bar() -> rx.Component:
    """Draw the actions on the selected holders."""
    count = HoldersState.freezable
    some = text(rx.cond(count == 0, "none", count.to_string()), " can be frozen", cls="muted num")
    return allowed(
        Scope.ASSETS_WRITE,
        marks_bar(
            HoldersState,
            rx.cond(HoldersState.freezable < HoldersState.marked.length(), some, rx.fragment()),
            button("Freeze", "snowflake", small=True, on_click=FreezeMany.begin(FREEZE), disabled=count == 0),
            button("Unfreeze", "sun", small=True, on_click=FreezeMany.begin(UNFREEZE)),
        ),
    )


def freeze_dialog() -> rx.Component:
    """Draw the dialog: reason and confirmation first, then the outcome for each holder."""
    opened = rx.el.div(on_mount=FreezeMany.rest)
    return rx.fragment(opened, rx.cond(FreezeMany.outcomes.length() > 0, _outcomes(), _form()))


def _form() -> rx.Component:
    state, symbol = FreezeMany, AssetState.asset.symbol
    is_freeze = state.kind == FREEZE
    holders = rx.cond(state.count == 1, "1 holder", state.count.to_string() + " holders")
    about = rx.cond(
        is_freeze,
        "Each whole account is frozen, including tokens it receives later. Open orders stay. Each freeze is a request "
        "of its own, and you can unfreeze the account later.",
        "Each whole account can send, sell and burn again under the rules. Each one is a request of its own.",
    ).to(str)
    fields = rx.fragment(
        rx.el.p(text(state.who, cls="strong")),
        rx.cond(state.omitted != "", note(state.omitted), rx.fragment()),
        second_person(state),
        area_field(
            "Reason", "reason", errors=state.errors, id="many-reason", rows=2, max_length=500, auto_focus=True,
            hint="Stored with each request and visible to everyone who can see it",
        ),
        text_field(
            rx.el.span("Type ", rx.el.b(symbol), " to confirm"), "symbol", errors=state.errors, id="many-symbol",
            spell_check=False,
        ),
    )  # fmt: skip
    nothing = note(rx.el.b("Nothing to do. "), state.omitted, tone="warn")
    return form_dialog(
        rx.cond(is_freeze, "Freeze ", "Unfreeze ").to(str) + holders,
        about,
        rx.cond(state.count > 0, fields, nothing),
        form=state,
        submit=rx.cond(state.is_guarded, "Request approval", rx.cond(is_freeze, "Freeze", "Unfreeze")),
    )


def _outcomes() -> rx.Component:
    state = FreezeMany
    retry = button(
        rx.el.span("Retry ", state.refusals, " refused"), "rotate-cw", busy=state.running, on_click=state.retry
    )
    return dialog(
        rx.cond(state.kind == FREEZE, "Freezes", "Unfreezes"),
        "Accepted ones continue as requests, also after this dialog is closed.",
        outcomes(state),
        problem_note(state.form_problem),
        is_open=state.is_open,
        on_open_change=state.show,
        foot=(
            rx.el.span(class_name="end"),
            rx.cond((state.refusals > 0) & ~state.running, retry, rx.fragment()),
            rx.dialog.close(button("Close", kind="primary")),
        ),
        width="640px",
    )
