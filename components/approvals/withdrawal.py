"""The button and the dialog with which the requester withdraws a request that waits."""

from typing import Any

import reflex as rx

from components.ui.button import button
from components.ui.dialog import form_dialog
from components.ui.form import area_field
from state.approvals.withdrawal import Withdrawal


def withdraw_button(on_click: Any, **look: Any) -> rx.Component:
    """Draw the button; show it to the requester only."""
    return button("Withdraw request", "undo-2", on_click=on_click, **look)


def withdrawal_dialog() -> rx.Component:
    """Draw the dialog that withdraws."""
    return form_dialog(
        "Withdraw: " + Withdrawal.title,
        "The request ends and nothing is done. You cannot undo this, but you can request the action again.",
        area_field(
            "Reason",
            "reason",
            errors=Withdrawal.errors,
            id="withdraw-reason",
            max_length=500,
            optional=True,
            hint="Shown to the people who could approve it, and in the audit log.",
        ),
        form=Withdrawal,
        submit="Withdraw request",
        kind="danger",
    )
