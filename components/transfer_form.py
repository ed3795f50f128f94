"""The dialog of a new transfer: what is sent at the left, what the rules say at the right."""

from typing import Any

import reflex as rx

from components.ui.box import col
from components.ui.dialog import form_dialog
from components.ui.form import field_row, select_field, text_field
from components.ui.note import empty, note, problem_note
from components.verdicts import verdict_list
from state.new_transfer import NewTransfer
from state.session import Session


def transfer_dialog() -> rx.Component:
    """Draw the dialog."""
    form = NewTransfer
    return form_dialog(
        "New transfer",
        "Signed by one of the organization's server wallets. Every rule is asked as you write.",
        rx.el.div(_fields(), _answer(), class_name="transfer-form"),
        is_open=form.is_open,
        on_open_change=form.show,
        on_submit=form.submit,
        problem=form.form_problem,
        busy=form.saving,
        submit="Send transfer",
        width="900px",
    )


def _fields() -> rx.Component:
    form = NewTransfer
    no_wallet = note(
        rx.el.b("There is no server wallet. "),
        "Transfers are signed by one of the organization's own. ",
        rx.el.a("Wallets", href="/o/" + Session.org.id + "/wallets", class_name="link"),
        tone="warn",
    )
    opened = (form.assets.length() > 0) & (form.wallets.length() == 0)
    known = rx.el.datalist(
        rx.foreach(form.receivers, lambda r: rx.el.option(r["label"], value=r["value"], key=r["value"])),
        id="known-receivers",
    )
    return col(
        rx.cond(opened, no_wallet, rx.fragment()),
        field_row(
            _select("Asset", "asset_id", form.assets, placeholder="Choose an asset"),
            _select("Chain", "chain_eid", form.chains, value=form.chain),
        ),
        _select("From", "from_wallet_id", form.wallets, placeholder="Choose a wallet", hint="It signs and pays gas"),
        text_field(
            "To", "to_address", errors=form.errors, id="transfer-to_address", class_name="mono", spell_check=False,
            placeholder="0x…", list="known-receivers", on_change=form.write("to_address").debounce(250),
            on_blur=form.write("to_address"),
        ),
        text_field(
            rx.el.span("Amount", rx.cond(form.symbol != "", rx.el.span(", ", form.symbol), rx.fragment())),
            "amount", errors=form.errors, id="transfer-amount", input_mode="decimal", hint="In whole tokens",
            on_change=form.write("amount").debounce(250), on_blur=form.write("amount"),
        ),
        known,
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
    yes = note(rx.el.b("This can happen. "), "Every rule passes.", tone="ok")
    no = note(
        rx.el.b("The rules refuse this. "),
        state.failing,
        rx.cond(state.failing == 1, " rule stands", " rules stand"),
        " against it.",
        tone="bad",
    )
    differs = note(
        rx.el.b("The chain says otherwise. "), "What it knows is newer than what is shown here.", tone="warn"
    )
    found = rx.fragment(
        col(
            rx.cond(state.allowed, yes, no),
            rx.cond(state.agrees, rx.fragment(), differs),
            cls="answer",
        ),
        rx.el.div(verdict_list(state.verdicts, "Rules"), class_name="answer-list"),
    )
    waiting = empty("scale", "Can this happen?", "Once everything is written, each rule says so, as on chain.")
    said = rx.cond(
        state.check_problem != "",
        rx.el.div(problem_note(state.check_problem), class_name="answer"),
        rx.cond(state.answered, found, waiting),
    )
    return rx.el.section(
        said,
        class_name="card",
        aria_label="Can this happen?",
        aria_live="polite",
        aria_busy=state.checking,
    )
