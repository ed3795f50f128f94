"""The dialog that moves a share of an asset's limits to another chain."""

import reflex as rx

from components.ui.box import text
from components.ui.dialog import form_dialog
from components.ui.form import area_field, field_row, select_field, text_field
from components.ui.note import problem_note
from components.ui.progress import diff
from state.assets.detail import AssetState
from state.compliance.cap_move import CapMove
from state.compliance.caps import CapsState

STATE = CapMove


def cap_move_dialog() -> rx.Component:
    """Draw the dialog."""
    holders = _amount("Holders to move", "holders", "numeric", "Part of the maximum number of holders")
    tokens = _amount(
        rx.el.span("Amount to move, ", AssetState.asset.symbol), "tokens", "decimal", "Part of the maximum per holder"
    )
    return form_dialog(
        "Move share",
        "Moves a part of one chain's limits to another chain. The total stays the same. "
        "The first chain is lowered before the other is raised.",
        field_row(
            select_field(
                "From", "source", CapsState.chains, errors=STATE.errors, id="caps-source", value=STATE.source,
                on_change=STATE.write("source"),
            ),
            select_field(
                "To", "target", CapsState.chains, errors=STATE.errors, id="caps-target", value=STATE.target,
                on_change=STATE.write("target"),
            ),
        ),
        rx.cond(CapsState.limits_holders, holders, rx.fragment()),
        rx.cond(CapsState.limits_amounts, tokens, rx.fragment()),
        _plan(),
        area_field(
            "Reason", "reason", errors=STATE.errors, id="caps-reason", rows=2, max_length=500,
            hint="Stored with the request and visible to everyone who can see it",
        ),
        form=STATE,
        submit="Move share",
        width="560px",
    )  # fmt: skip


def _amount(label: str | rx.Component, name: str, mode: str, hint: str) -> rx.Component:
    return text_field(
        label, name, errors=STATE.errors, id=f"caps-{name}", input_mode=mode, optional=True, hint=hint,
        on_change=STATE.write(name).debounce(250), on_blur=STATE.write(name),
    )  # fmt: skip


def _plan() -> rx.Component:
    """Draw the limits before and after, or why they are refused."""
    changes = rx.el.div(diff(STATE.changes), class_name="card plan-diff")
    return rx.el.div(
        rx.cond(STATE.planning, text("Checking the limits", cls="muted small"), rx.fragment()),
        problem_note(STATE.plan_problem),
        rx.cond(STATE.changes.length() > 0, changes, rx.fragment()),
        class_name="col",
        aria_live="polite",
        aria_label="Limits after the move",
        role="region",
    )
