"""The dialog that registers a person or company."""

import reflex as rx

from backend.compliance.countries import NAMES
from components.core.holder_picker import account_field
from components.ui.dialog import form_dialog
from components.ui.form import choice, choices, field_row, text_field
from state.core.countries import written
from state.parties.form import PartyForm

COUNTRIES_ID = "countries"


def party_form() -> rx.Component:
    """Draw the dialog."""
    errors = PartyForm.errors
    kinds = choices(
        "Kind",
        choice("kind", "person", "Person", "Invests in their own name.", default_checked=True),
        choice("kind", "company", "Company", "A firm, fund or trust."),
    )
    return form_dialog(
        "Register a party",
        "You or a colleague verifies the identity afterwards.",
        kinds,
        text_field("Name", "name", errors=errors, id="p-name", max_length=120, hint="As in the party's documents."),
        field_row(
            text_field(
                "Country", "country", errors=errors, id="p-country", list=COUNTRIES_ID, placeholder="Type to search"
            ),
            text_field("Email", "email", errors=errors, id="p-email", type="email", optional=True),
        ),
        countries(),
        account_field(
            "Wallet address",
            "wallet_address",
            errors=errors,
            id="p-wallet",
            optional=True,
            free=True,
            offers="unassigned",
            hint="Holds the tokens. You can add it later.",
        ),
        form=PartyForm,
        submit="Register party",
        width="560px",
    )


def countries() -> rx.Component:
    """Render every country as a datalist, for the browser's own search within a field."""
    return rx.el.datalist(*[rx.el.option(value=written(code)) for code in NAMES], id=COUNTRIES_ID)
