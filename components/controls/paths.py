"""The bridge paths of an asset: open, paused or limited, and the dialogs that change them."""

import reflex as rx

from components.controls.second_person import second_person
from components.core.permission import Scope, allowed
from components.ui.box import col, row, text
from components.ui.button import button
from components.ui.card import card, item
from components.ui.dialog import form_dialog
from components.ui.form import area_field, select_field, text_field
from components.ui.note import note, problem_note
from components.ui.progress import diff
from state.assets.detail import AssetState
from state.controls.paths import WINDOWS, AssetPathView, PathControls

STATE = PathControls
CHOSEN = PathControls.chosen
BETWEEN = rx.el.span("between ", CHOSEN.one, " and ", CHOSEN.other)


def path_controls() -> rx.Component:
    """Draw the card, where the asset is on more than one chain."""
    listed = rx.el.ul(rx.foreach(STATE.paths, _path), aria_label="Bridge paths")
    shown = rx.cond(STATE.problem != "", problem_note(STATE.problem), listed)
    drawn = rx.cond(
        (STATE.paths.length() > 0) | (STATE.problem != ""), card("Bridge paths", shown), rx.fragment()
    )  # fmt: skip
    return rx.el.div(drawn, *[_dialog(kind) for kind in WORDS], on_mount=PathControls.load)


def _path(path: rx.Var[AssetPathView]) -> rx.Component:
    limited = rx.fragment("At most ", path.limit, "; ", path.room, " available now")
    below = rx.el.span(
        rx.cond(path.is_paused, "Paused. ", "Open. "), rx.cond(path.limit != "", limited, "No limit")
    )  # fmt: skip

    def do(kind: str, name: str) -> rx.Component:
        return button(
            name, small=True, on_click=PathControls.show(kind, path.id), aria_haspopup="dialog",
            aria_label=name + " the path between " + path.one + " and " + path.other,
        )  # fmt: skip

    acts = row(rx.cond(path.is_paused, do("unpause", "Resume"), do("pause", "Pause")), do("limit", "Limit"))
    return item(
        rx.el.span(path.one, " and ", path.other),
        below,
        allowed(Scope.ASSETS_WRITE, acts),
        sign="arrow-left-right",
        key=path.id,
    )


WORDS = {
    "pause": (
        "Pause the bridge path",
        rx.fragment(
            "No packets pass ", BETWEEN, " in either direction. Packets in transit wait and are delivered "
            "after you resume the path.",
        ),
        "Pause path", "danger",
    ),
    "unpause": (
        "Resume the bridge path", rx.fragment("Packets pass ", BETWEEN, " again. Waiting packets can be delivered."),
        "Resume path", "primary",
    ),
    "limit": (
        "Limit the bridge path",
        rx.fragment(
            "At most this amount passes ", BETWEEN, " per time window, both directions combined. You can change "
            "or remove the limit at any time.",
        ),
        "Set limit", "primary",
    ),
}  # fmt: skip


def _dialog(kind: str) -> rx.Component:
    title, about, submit, look = WORDS[kind]
    return form_dialog(
        title,
        about,
        *(_limit_fields() if kind == "limit" else [_plan()]),
        second_person(STATE),
        area_field(
            "Reason", "reason", errors=STATE.errors, id=f"{kind}-path-reason", rows=2, max_length=500,
            hint="Stored with the request and visible to everyone who can see it",
        ),
        is_open=STATE.kind == kind,
        on_open_change=STATE.close,
        form=STATE,
        submit=rx.cond(STATE.is_guarded, "Request approval", submit),
        kind=look,
        width="560px",
    )  # fmt: skip


def _limit_fields() -> list[rx.Component]:
    return [
        text_field(
            rx.el.span("Amount, ", AssetState.asset.symbol), "amount", errors=STATE.errors, id="limit-path-amount",
            input_mode="decimal", optional=True, hint="In tokens, such as 1250.5. Empty: no limit",
        ),
        select_field(
            "Window", "window_seconds", WINDOWS, errors=STATE.errors, id="limit-path-window", default_value="86400"
        ),
    ]  # fmt: skip


def _plan() -> rx.Component:
    return rx.el.div(
        rx.cond(STATE.planning, text("Querying the chains", cls="muted small"), rx.fragment()),
        problem_note(STATE.plan_problem),
        rx.cond(STATE.changes.length() > 0, rx.el.div(diff(STATE.changes), class_name="card plan-diff"), rx.fragment()),
        col(rx.foreach(STATE.warnings, lambda words: note(words, tone="warn", key=words))),
        class_name="col effects",
        aria_live="polite",
        aria_label="What it changes",
        role="region",
    )
