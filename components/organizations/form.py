"""The dialog that creates or edits an organization."""

import reflex as rx

from components.parties.form import COUNTRIES_ID, countries
from components.ui.button import button
from components.ui.dialog import form_dialog
from components.ui.form import area_field, choice, choices, field_row, select_field, text_field
from state.core.session import Session
from state.organizations.form import OrganizationForm
from state.organizations.organization import OrganizationState

Form = OrganizationForm


def new_button() -> rx.Component:
    """Draw the button that opens the form of a new sub-organization, for users who can create one there. It is for
    phones, where the page's own button is hidden while an organization is open."""
    new = button("New", "plus", small=True, on_click=Form.create, class_name="only-narrow")
    return rx.cond(OrganizationState.can_write, new, rx.fragment())


def testnet() -> rx.Var[str]:
    """Name the test network as the header's badge does: on an embedded installation it is a devnet."""
    return rx.cond(Session.network == "devnet", "Devnet (embedded chains)", "Testnet").to(str)


def networks() -> list[tuple[str, rx.Var[str] | str]]:
    """Return the options of an organization's network."""
    return [("testnet", testnet()), ("mainnet", "Mainnet")]


def organization_form() -> rx.Component:
    """Draw the dialog."""
    is_new = Form.mode == "create"
    given = Form.given
    place = choices(
        "Position",
        choice(
            "place", "below", "Below " + given.name, "Admins of " + given.name + " are also its admins.",
            checked=Form.place == "below", on_change=Form.put("below"),
        ),
        choice(
            "place", "alone", "On its own", "Starts a separate hierarchy. You are its admin.",
            checked=Form.place == "alone", on_change=Form.put("alone"),
        ),
    )  # fmt: skip

    def now(value: rx.Var[str]) -> rx.Var[str]:
        return rx.cond(is_new, "", value).to(str)

    errors = Form.errors
    return form_dialog(
        rx.cond(is_new, "New organization", "Edit " + given.name),
        rx.cond(is_new, "It has its own members, wallets and assets.", "Changing the name does not change any ID."),
        rx.cond(is_new & OrganizationState.can_write, place, rx.fragment()),
        text_field("Name", "name", errors=errors, default_value=now(given.name), max_length=120),
        field_row(
            text_field(
                "Type", "org_type", errors=errors, optional=True, default_value=now(given.org_type), max_length=60,
                placeholder="Special purpose vehicle",
            ),
            text_field(
                "Jurisdiction", "jurisdiction", errors=errors, optional=True, default_value=now(Form.jurisdiction),
                max_length=60, list=COUNTRIES_ID, placeholder="Type to search",
                hint="A country, or a state such as Delaware, USA.",
            ),
        ),
        field_row(
            text_field("Contact email", "email", errors=errors, optional=True, default_value=now(given.email),
                       type="email", hint="Members see it: whom to ask about this organization."),
            text_field("Website", "website", errors=errors, optional=True, default_value=now(given.website),
                       placeholder="https://", input_mode="url"),
        ),
        area_field("Description", "description", errors=errors, optional=True, default_value=now(given.description),
                   max_length=2000),
        select_field(
            "Network", "network", networks(), errors=errors, default_value=given.network,
            hint="API keys without their own network use this network.",
        ),
        countries(),
        form=Form,
        submit=rx.cond(is_new, "Create organization", "Save organization"),
        width="600px",
    )  # fmt: skip
