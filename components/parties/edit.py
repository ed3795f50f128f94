"""The dialog that changes a party's name, email and wallet."""

import reflex as rx

from components.ui.dialog import form_dialog
from components.ui.form import text_field
from state.parties.edit import PartyEdit


def edit_dialog() -> rx.Component:
    """Draw the dialog."""
    errors, given = PartyEdit.errors, PartyEdit.given
    return form_dialog(
        "Edit party",
        "Earlier decisions and attestations stay as they are. So do kind and country, which the decision was about.",
        text_field("Name", "name", errors=errors, id="e-name", default_value=given["name"], max_length=120),
        text_field(
            "Email", "email", errors=errors, id="e-email", default_value=given["email"], type="email", optional=True
        ),
        text_field(
            "Wallet address", "wallet_address", errors=errors, id="e-wallet", default_value=given["wallet_address"],
            class_name="mono", placeholder="0x", spell_check=False, optional=True,
            hint="A new wallet has no attestation: attest the party again before it can receive tokens. Tokens in the "
            "earlier wallet stay there: move them with Recover wallet, on the asset's tab Controls.",
        ),
        form=PartyEdit,
        submit="Save party",
    )  # fmt: skip
