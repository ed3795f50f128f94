"""The dialog of a new transfer: the fields at the left, the rules' verdicts at the right."""

from typing import Any

import reflex as rx

from components.compliance.verdicts import verdict_list, verdict_notes
from components.core.holder_picker import account_field
from components.ui.box import col
from components.ui.dialog import form_dialog
from components.ui.form import field_row, select_field, text_field
from components.ui.note import empty, note, problem_note
from state.core.session import Session
from state.transfers.form import NewTransfer


def transfer_dialog() -> rx.Component:
    """Draw the dialog."""
    form = NewTransfer
    return form_dialog(
        "New transfer",
        "Signed by one of the organization's server wallets. Every rule is checked as you type.",
        rx.el.div(_fields(), _answer(), class_name="transfer-form"),
        form=form,
        submit="Send transfer",
        width="900px",
    )


def _fields() -> rx.Component:
    form = NewTransfer
    no_wallet = note(
        rx.el.b("There is no server wallet. "),
        "Transfers are signed by one of the organization's server wallets. ",
        rx.el.a("Wallets", href="/o/" + Session.org.id + "/wallets", class_name="link"),
        tone="warn",
    )
    opened = (form.assets.length() > 0) & (form.wallets.length() == 0)
    return col(
        rx.cond(opened, no_wallet, rx.fragment()),
        field_row(
            _select("Asset", "asset_id", form.assets, placeholder="Choose an asset"),
            _select(
                "Chain", "chain_eid", form.chains, value=form.chain, disabled=form.asset == "",
                hint=rx.cond(form.asset == "", "Choose an asset first.", ""),
            ),
        ),
        _select("From", "from_wallet_id", form.wallets, placeholder="Choose a wallet", hint="It signs and pays gas."),
        account_field(
            "To", "to_address", id="transfer-to_address", errors=form.errors, asset_id=form.asset,
            chain_eid=form.chain, on_pick=form.write("to_address"),
        ),
        text_field(
            rx.el.span("Amount", rx.cond(form.symbol != "", rx.el.span(", ", form.symbol), rx.fragment())),
            "amount", errors=form.errors, id="transfer-amount", input_mode="decimal", hint="In tokens, such as 12.5.",
            on_change=form.write("amount").debounce(250), on_blur=form.leave("amount"),
        ),
        cls="wide",
    )  # fmt: skip


def _select(label: str, name: str, options: Any, **props: Any) -> rx.Component:
    return select_field(
        label,
        name,
        options,
        errors=NewTransfer.errors,
        id=f"transfer-{name}",
        on_change=NewTransfer.write(name),
        **props,
    )


def _answer() -> rx.Component:
    state = NewTransfer
    found = rx.fragment(
        col(verdict_notes(state), cls="answer"),
        rx.el.div(verdict_list(state.verdicts, "Rules"), class_name="answer-list"),
    )
    waiting = rx.cond(
        state.errors.contains("amount"),
        empty("scale", "No result yet", "The amount is invalid. Correct it to check the transfer against each rule."),
        empty("scale", "No result yet", "Fill in every field to check the transfer against each rule."),
    )
    said = rx.cond(
        state.check_problem != "",
        rx.el.div(problem_note(state.check_problem), class_name="answer"),
        rx.cond(state.answered, found, waiting),
    )
    return rx.el.section(
        said,
        class_name="card",
        aria_label="Result",
        aria_live="polite",
        aria_busy=state.checking,
    )
