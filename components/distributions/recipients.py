"""The recipients of a distribution: who claimed, who can claim and be paid, and who cannot and why."""

import reflex as rx

from components.core.csv_link import csv_of
from components.core.permission import Scope, allowed
from components.distributions.check import recipient_row
from components.distributions.payout_all import payout_button
from components.ui.box import end
from components.ui.box import row as line
from components.ui.button import button, text_button
from components.ui.card import panel
from components.ui.icon import icon
from components.ui.note import empty
from components.ui.status import status
from components.ui.table import Col, list_table, pager, toolbar
from components.ui.value import amount
from state.distributions.detail import DistributionState
from state.distributions.operations import Payout
from state.distributions.recipients import PayeeView, RecipientsState

ONE = DistributionState.distribution


def recipients() -> rx.Component:
    """Draw the recipients in the order of their list."""
    csv = csv_of("/assets/" + ONE.asset_id + "/distributions/" + ONE.id + "/recipients", check="true")
    again = text_button("Recheck eligibility", on_click=RecipientsState.reload)
    return panel(
        allowed(Scope.ASSETS_WRITE, _payout_bar()),
        list_table(
            "Recipients",
            [Col("Recipient"), Col("Amount", right=True), Col("Claim")],
            RecipientsState,
            _recipient,
            empty=empty("users", "No recipients"),
            two=True,
        ),
        pager(
            rx.el.span("In the order of the recipient list", again, class_name="row wrap tight"),
            RecipientsState,
            csv=csv,
        ),
        label="Recipients",
    )


def _payout_bar() -> rx.Component:
    shown = RecipientsState.is_open & (RecipientsState.payable > 1)
    return rx.cond(shown, toolbar(end(payout_button())), rx.fragment())


def _recipient(row: rx.Var[PayeeView]) -> rx.Component:
    refused = rx.cond(RecipientsState.is_open, "Cannot claim now: ", "Not eligible: ").to(str) + row.why
    claim = rx.match(
        row.claim,
        ("claimed", status("claimed")),
        ("blocked", line(icon("circle-x", 15, class_name="bad-text"), rx.el.span(refused), cls="tight top")),
        ("ready", rx.cond(RecipientsState.is_open, _claimable(row), status("eligible"))),
        rx.el.span("not checked", class_name="muted"),
    )
    return recipient_row(row, amount(row.amount, ONE.symbol, ONE.decimals, 2, RecipientsState.least), claim)


def _claimable(row: rx.Var[PayeeView]) -> rx.Component:
    """Draw the status of a recipient who can claim, and the button that pays them."""
    pay = button(
        "Pay out",
        small=True,
        busy=RecipientsState.paying == row.address,
        disabled=RecipientsState.paying != "",
        on_click=Payout.pay(row.address),
        aria_label="Pay out to " + row.name,
    )
    return line(status("claimable"), allowed(Scope.ASSETS_WRITE, pay), cls="wrap")
