"""The limits of an asset by chain."""

import reflex as rx

from components.compliance.cap_move import cap_move_dialog
from components.core.permission import Scope, may
from components.ui.button import button
from components.ui.card import card
from components.ui.note import note
from components.ui.table import Col, table, td, tr
from state.compliance.cap_move import CapMove
from state.compliance.cap_views import ChainCapsView
from state.compliance.caps import CapsState

STATE = CapsState


def limits_by_chain() -> rx.Component:
    """Draw the card, where the asset has a limit that its chains share."""
    shown = STATE.limits_holders | STATE.limits_amounts | (STATE.problem != "")
    move = button("Move share", "arrow-left-right", small=True, on_click=CapMove.show(True), aria_haspopup="dialog")
    why = rx.cond(
        STATE.is_set_by_hand,
        "A person set the shares. A new limit or another chain makes them equal again.",
        "The shares are equal, except where a chain already has more holders or a larger holding than that.",
    ).to(str)
    late = note("A chain has other limits than it should. An update is running, or one has failed.", tone="warn")
    body = card(
        "Limits by chain",
        _table(),
        rx.cond(STATE.in_step, rx.fragment(), rx.el.div(late, class_name="card-body")),
        right=rx.cond(may(Scope.ASSETS_WRITE) & (STATE.chains.length() > 1), move, rx.fragment()),
        foot=rx.el.span(
            "Every account with tokens counts as a holder: those of investors and of distributions, not the treasury. ",
            rx.cond(STATE.chains.length() > 1, "Each chain enforces its share. " + why, ""),
        ),
    )
    return rx.el.div(
        rx.cond(shown, rx.el.div(body, class_name="rules-history"), rx.fragment()),
        cap_move_dialog(),
        on_mount=STATE.load,
    )


def _table() -> rx.Component:
    return table(
        "Limits by chain",
        [
            Col("Chain"),
            Col("Holders counted", right=True),
            Col("Maximum per holder", right=True),
        ],
        STATE.rows,
        _row,
        empty=rx.fragment(),
        loading=STATE.loading,
        problem=STATE.problem,
        on_retry=STATE.load,
        two=True,
    )


def _row(row: rx.Var[ChainCapsView]) -> rx.Component:
    return tr(
        td(row.chain, class_name="strong"),
        td(row.holders, right=True, label="Holders counted"),
        td(
            rx.el.div(
                rx.el.div(row.maximum),
                rx.cond(row.largest != "", rx.el.div(row.largest, class_name="muted small"), rx.fragment()),
            ),
            right=True,
            label="Maximum per holder",
        ),
        key=row.id,
        class_name="facts",
    )
