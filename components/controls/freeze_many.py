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
    count, thawed = HoldersState.freezable, HoldersState.unfreezable
    some = text(rx.cond(count == 0, "none", count.to_string()), " can be frozen", cls="muted num")
    return allowed(
        Scope.ASSETS_WRITE,
        marks_bar(
            HoldersState,
            rx.cond(HoldersState.freezable < HoldersState.marked.length(), some, rx.fragment()),
            button("Freeze", "snowflake", small=True, on_click=FreezeMany.begin(FREEZE), disabled=count == 0),
            button("Unfreeze", "sun", small=True, on_click=FreezeMany.begin(UNFREEZE), disabled=thawed == 0),
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
    act = rx.cond(is_freeze, "Freeze ", "Unfreeze ").to(str) + holders
    about = rx.cond(
        is_freeze,
        rx.cond(
            state.count == 1,
            "The whole account is frozen, including tokens it receives later. Open orders stay. You can unfreeze the "
            "account later.",
            "Each whole account is frozen, including tokens it receives later. Open orders stay. Each freeze is a "
            "separate request. You can unfreeze the accounts later.",
        ),
        rx.cond(
            state.count == 1,
            "The whole account can send, sell and burn again under the rules.",
            "Each whole account can send, sell and burn again under the rules. Each one is a separate request.",
        ),
    ).to(str)
    several = text_field(
        rx.el.span("Type ", rx.el.b(symbol), " to confirm"), "symbol", errors=state.errors, id="many-symbol",
        spell_check=False,
    )  # fmt: skip
    fields = rx.fragment(
        rx.el.ul(rx.foreach(state.who, lambda one: rx.el.li(one, key=one)), class_name="strong"),
        rx.cond(state.more > 0, text("and ", state.more, " more", cls="muted"), rx.fragment()),
        rx.cond(state.omitted != "", note(state.omitted), rx.fragment()),
        second_person(state),
        area_field(
            "Reason", "reason", errors=state.errors, id="many-reason", rows=2, max_length=500, auto_focus=True,
            hint="Stored with each request and visible to everyone who can see it",
        ),
        rx.cond(state.count > 1, several, rx.fragment()),
    )  # fmt: skip
    nothing = note(rx.el.b("Nothing to do. "), state.omitted, tone="warn")
    return form_dialog(
        act,
        about,
        rx.cond(state.count > 0, fields, nothing),
        form=state,
        submit=rx.cond(state.is_guarded, "Request approval", act),
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
