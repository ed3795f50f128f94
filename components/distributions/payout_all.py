"""The payment of all listed recipients who can claim now: its button and its confirmation."""

import reflex as rx

from components.ui.button import button
from components.ui.dialog import confirm
from state.distributions.detail import DistributionState
from state.distributions.payout_all import PayoutAll
from state.distributions.recipients import RecipientsState

ONE = DistributionState.distribution


def payout_button() -> rx.Component:
    """Draw the button."""
    words = rx.el.span("Pay out ", RecipientsState.payable, " recipients")
    return button(words, "send", small=True, disabled=RecipientsState.paying != "", on_click=PayoutAll.show(True))


def payout_dialog() -> rx.Component:
    """Ask for confirmation before the recipients are paid."""
    state = PayoutAll
    return confirm(
        rx.el.span("Pay out ", state.count, " recipients?"),
        rx.el.span(
            "Pays ", rx.el.b(state.total), " on ", ONE.chain, " to ", state.names,
            ". Your treasury sends a transaction for each and pays the gas. This cannot be undone.",
        ),
        form=state,
        word=rx.el.span("Pay out ", state.count, " recipients"),
        danger=False,
    )  # fmt: skip
