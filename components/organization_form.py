"""The dialog that creates or edits an organization."""

import pycountry
import reflex as rx

from components.ui.button import button
from components.ui.dialog import form_dialog
from components.ui.form import area_field, choice, choices, field_row, select_field, text_field
from state.organization import OrganizationState
from state.organization_form import OrganizationForm

COUNTRIES = sorted(((c.alpha_3, f"{c.name} ({c.alpha_3})") for c in pycountry.countries), key=lambda pair: pair[1])
JURISDICTIONS_ID = "jurisdictions"
NETWORKS = [("testnet", "Testnet"), ("mainnet", "Mainnet")]
Form = OrganizationForm


def new_button() -> rx.Component:
    """Draw the button that begins a sub-organization, for those who can make one there."""
    new = button("New", "plus", small=True, on_click=Form.create)
    return rx.cond(OrganizationState.can_write, new, rx.fragment())


def organization_form() -> rx.Component:
    """Draw the dialog."""
    is_new = Form.mode == "create"
    given = Form.given
    place = choices(
        "Where it stands",
        choice(
            "place", "below", "Below " + given.name, "Its admins are admins here too.",
            checked=Form.place == "below", on_change=Form.put("below"),
        ),
        choice(
            "place", "alone", "On its own", "Begins a hierarchy of its own; you are its admin.",
            checked=Form.place == "alone", on_change=Form.put("alone"),
        ),
    )  # fmt: skip

    def now(value: rx.Var[str]) -> rx.Var[str]:
        return rx.cond(is_new, "", value).to(str)

    errors = Form.errors
    return form_dialog(
        rx.cond(is_new, "New organization", "Edit " + given.name),
        rx.cond(is_new, "It has members, wallets and assets of its own.", "Changing its name changes no id."),
        rx.cond(is_new & OrganizationState.can_write, place, rx.fragment()),
        text_field("Name", "name", errors=errors, default_value=now(given.name), max_length=120),
        field_row(
            text_field(
                "Type", "org_type", errors=errors, optional=True, default_value=now(given.org_type), max_length=60,
                placeholder="Special purpose vehicle",
            ),
            text_field(
                "Jurisdiction", "jurisdiction", errors=errors, optional=True, default_value=now(given.jurisdiction),
                max_length=60, list=JURISDICTIONS_ID, placeholder="LUX, or a state",
            ),
        ),
        field_row(
            text_field("Email", "email", errors=errors, optional=True, default_value=now(given.email), type="email"),
            text_field("Website", "website", errors=errors, optional=True, default_value=now(given.website),
                       placeholder="https://", input_mode="url"),
        ),
        area_field("Description", "description", errors=errors, optional=True, default_value=now(given.description),
                   max_length=2000),
        select_field(
            "Network", "network", NETWORKS, errors=errors, default_value=given.network,
            hint="API keys without a network of their own follow it.",
        ),
        rx.el.datalist(*[rx.el.option(name, value=code) for code, name in COUNTRIES], id=JURISDICTIONS_ID),
        is_open=Form.is_open,
        on_open_change=Form.show,
        on_submit=Form.submit,
        problem=Form.form_problem,
        busy=Form.saving,
        submit=rx.cond(is_new, "Create organization", "Save"),
        width="600px",
    )  # fmt: skip
