"""The transfer check: a form, and every rule's verdict."""

import reflex as rx

from components.compliance.verdicts import verdict_list, verdict_notes
from components.core.holder_picker import account_field
from components.ui.box import col, split
from components.ui.button import button
from components.ui.card import card
from components.ui.form import field_row, text_field
from components.ui.note import empty, problem_note
from state.assets.detail import AssetState
from state.compliance.transfer_check import TransferCheckState


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
        on_change=state.pick_chain,
    )
    body = rx.el.form(
        rx.el.div(rx.el.label("Chain", html_for="f-check_chain", class_name="label"), chains, class_name="field"),
        _address("From", "from_address"),
        _address("To", "to_address"),
        field_row(
            text_field(
                rx.el.span("Amount, ", asset.symbol),
                "amount",
                errors=state.errors,
                input_mode="decimal",
                hint="In tokens, such as 12.5",
                id="check-amount",
            )
        ),
        problem_note(state.form_problem),
        rx.el.div(
            button("Check transfer", "scale", kind="primary", type="submit", busy=state.saving), class_name="row"
        ),
        on_submit=state.submit,
        no_validate=True,
        class_name="form",
    )
    return card("Check a transfer", body, pad=True)


def _address(label: str, name: str) -> rx.Component:
    state, asset = TransferCheckState, AssetState.asset
    first = rx.cond(asset.places.length() > 0, asset.places[0].eid.to_string(), "")
    return account_field(
        label, name, id=f"check-{name}", errors=state.errors, asset_id=asset.id,
        chain_eid=rx.cond(state.chain != "", state.chain, first),
    )  # fmt: skip


def _answer() -> rx.Component:
    state = TransferCheckState
    found = rx.el.div(
        col(verdict_notes(state), cls="card-body"),
        verdict_list(state.verdicts, "Rules"),
        role="status",
    )
    nothing = empty("scale", "Nothing checked yet", "Evaluates every rule as the contract would. No tokens are moved.")
    return card("Rules", rx.cond(state.answered, found, nothing))
