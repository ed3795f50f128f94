"""The daily limits of an asset in its controls, and the dialog that changes them."""

import reflex as rx

from components.core.permission import Scope, allowed, may, who_can
from components.ui.box import col, text
from components.ui.button import button
from components.ui.card import card, card_foot, item
from components.ui.dialog import form_dialog
from components.ui.form import text_field
from components.ui.note import problem_note
from state.assets.detail import AssetState
from state.controls.controls import ControlForm
from state.controls.daily_limits import ACTIONS, NAMES, DailyLimits, DailyLimitView

STATE = DailyLimits
ALWAYS = "Always needs a second person"
LIMIT_TOO = f"{ALWAYS} now. A limit counts if that rule ends."


def daily_limits() -> rx.Component:
    """Draw the card of daily limits and its dialog."""
    listed = rx.el.ul(rx.foreach(STATE.limits, _limit), aria_label="Daily limits")
    shown = rx.cond(STATE.problem != "", problem_note(STATE.problem), listed)
    edit = button("Edit limits", small=True, on_click=STATE.show(True), aria_haspopup="dialog")
    # Who cannot use any of the controls reads above them who can.
    foot = may(Scope.ASSETS_WRITE) & ~may(Scope.ORGS_WRITE)
    return rx.el.div(
        card(
            "Daily limits",
            shown,
            rx.cond(foot, card_foot(text(who_can(Scope.ORGS_WRITE, "edit limits"), cls="muted small")), rx.fragment()),
            right=allowed(Scope.ORGS_WRITE, edit),
        ),
        _dialog(),
        on_mount=STATE.load,
    )


def _limit(limit: rx.Var[DailyLimitView]) -> rx.Component:
    symbol = AssetState.asset.symbol
    left = rx.fragment(limit.available, " ", symbol, " left of ", limit.limit, " in 24 hours")
    guarded = ControlForm.guarded.contains(limit.policy_action)
    none = rx.cond(guarded, ALWAYS, "No limit")
    return item(
        limit.name,
        rx.el.span(rx.cond(limit.limit != "", rx.fragment(left, rx.cond(guarded, ". " + ALWAYS, "")), none)),
        rx.cond(limit.limit != "", text(limit.used, " used", cls="num muted small"), rx.fragment()),
        sign="gauge",
        key=limit.action,
    )


def _dialog() -> rx.Component:
    fields = [
        text_field(
            rx.el.span(name, ", ", AssetState.asset.symbol), action, errors=STATE.errors, id=f"daily-{action}",
            input_mode="decimal", optional=True, default_value=_given(action),
            hint=rx.cond(ControlForm.guarded.contains(ACTIONS[action]), LIMIT_TOO, ""),
        )
        for action, name in NAMES.items()
    ]  # fmt: skip
    return form_dialog(
        "Daily limits",
        "Above a limit, a second person must approve. Enter tokens per 24 hours, such as 1250.5; an empty field means "
        "no limit. You can lower a limit alone. Raising or removing one also needs a second person.",
        col(*fields),
        form=STATE,
        submit="Save limits",
        width="560px",
    )


def _given(action: str) -> rx.Var[str]:
    """Return the current limit of a field; the API lists limits in the order of `NAMES`."""
    return STATE.limits[list(NAMES).index(action)].given.to(str)
