"""Can this transfer happen? A form, and every rule's verdict."""

import reflex as rx

from components.ui.box import col, split
from components.ui.button import button
from components.ui.card import card
from components.ui.form import field_row, text_field
from components.ui.note import empty, note, problem_note
from components.verdicts import verdict_list
from state.asset import AssetState
from state.transfer_check import TransferCheckState


def transfer_check() -> rx.Component:
    """Draw the tab."""
    return rx.el.div(split(_answer(), _form(), side_first=True), on_mount=TransferCheckState.load)


def _form() -> rx.Component:
    state, asset = TransferCheckState, AssetState.asset
    chains = rx.el.select(
        rx.foreach(
            asset.places,
            lambda place: rx.el.option(place.chain, value=place.eid.to_string(), key=place.eid.to_string()),
        ),
        name="check_chain",
        id="f-check_chain",
        class_name="input",
    )
    wallets = rx.el.datalist(
        rx.foreach(state.wallets, lambda w: rx.el.option(w["label"], value=w["value"], key=w["value"])),
        id="own-wallets",
    )
    body = rx.el.form(
        rx.el.div(rx.el.label("Chain", html_for="f-check_chain", class_name="label"), chains, class_name="field"),
        _address("From", "from_address"),
        _address("To", "to_address"),
        field_row(
            text_field(
                "Amount", "amount", errors=state.errors, input_mode="decimal", hint="In whole tokens", id="check-amount"
            )
        ),
        wallets,
        problem_note(state.form_problem),
        rx.el.div(button("Check", "scale", kind="primary", type="submit", busy=state.saving), class_name="row"),
        on_submit=state.submit,
        no_validate=True,
        class_name="form",
    )
    return card("Can this happen?", body, pad=True)


def _address(label: str, name: str) -> rx.Component:
    return text_field(
        label, name, errors=TransferCheckState.errors, id=f"check-{name}", class_name="mono", spell_check=False,
        placeholder="0x…", list="own-wallets",
    )  # fmt: skip


def _answer() -> rx.Component:
    state = TransferCheckState
    yes = note(rx.el.b("This transfer can happen. "), "Every rule passes.", tone="ok")
    no = note(
        rx.el.b("This transfer is refused. "),
        state.failing,
        rx.cond(state.failing == 1, " rule stands", " rules stand"),
        " against it.",
        tone="bad",
    )
    differs = note(
        rx.el.b("The chain says otherwise. "), "What it knows may be newer than what is shown here.", tone="warn"
    )
    found = rx.el.div(
        col(
            rx.cond(state.allowed, yes, no),
            rx.cond(state.agrees, rx.fragment(), differs),
            cls="card-body",
        ),
        verdict_list(state.verdicts, "Rules"),
        role="status",
    )
    nothing = empty(
        "scale", "Nothing checked yet", "Every rule is asked, as the contract would ask it. Nothing is moved."
    )
    return card("Rules", rx.cond(state.answered, found, nothing))
