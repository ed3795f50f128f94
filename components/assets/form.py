"""The form of a new asset."""

from typing import Any

import reflex as rx

from components.compliance.rule_editor import framework_cards, rule_settings
from components.ui.box import col
from components.ui.button import button, link_button
from components.ui.card import card
from components.ui.form import area_field, field_row, select_field, text_field
from components.ui.note import note, problem_note
from state.assets.form import NewAsset
from state.core.session import Session


def asset_form() -> rx.Component:
    """Draw the whole form: name and supply, framework, rules."""
    errors = NewAsset.errors
    what = card(
        "Asset",
        col(
            field_row(
                text_field(
                    "Name", "name", errors=errors, hint="The name that investors see", max_length=120, **_kept("name"),
                ),
                text_field(
                    "Symbol", "symbol", errors=errors, hint="Up to 11 capital letters and digits", max_length=11,
                    class_name="upper", **_kept("symbol"),
                ),
            ),
            field_row(
                select_field(
                    "Chain", "chain_eid", NewAsset.chains, errors=errors, placeholder="Choose a chain",
                    hint="You can bridge it to other chains later", **_kept("chain_eid", "on_change"),
                ),
                text_field(
                    "Initial supply", "initial_supply", errors=errors, **_kept("initial_supply"), input_mode="decimal",
                    required=False, hint="In tokens, such as 1250.5, minted to your treasury wallet",
                ),
                select_field(
                    "Decimals", "decimals", [("18", "18"), ("6", "6")], errors=errors, **_kept("decimals", "on_change"),
                    hint="How far a token can be divided. Cannot be changed later",
                ),
            ),
            field_row(
                text_field(
                    "Nominal value", "nominal_value", errors=errors, **_kept("nominal_value"), input_mode="decimal",
                    required=False, optional=True,
                    hint="Of one token, in the currency of its markets. Values the asset before its first trade",
                ),
                area_field("Description", "description", errors=errors, **_kept("description"), optional=True, rows=2),
            ),
            cls="wide",
        ),
        pad=True,
    )  # fmt: skip
    no_chain = note(
        rx.el.b("No chain is enabled. "),
        "Enable one first: an asset is deployed to a chain. ",
        rx.el.a("Chains", href="/o/" + Session.org.id + "/chains", class_name="link"),
        tone="warn",
    )
    return rx.el.form(
        rx.cond(NewAsset.chains.length() == 0, no_chain, rx.fragment()),
        what,
        framework_cards(NewAsset),
        rule_settings(NewAsset, "tokens"),
        problem_note(NewAsset.form_problem),
        rx.el.div(
            link_button("Cancel", "/o/" + Session.org.id + "/assets"),
            rx.el.span(class_name="end"),
            button("Create asset", "rocket", kind="primary", type="submit", busy=NewAsset.saving),
            class_name="wizard-foot",
        ),
        on_submit=NewAsset.submit,
        no_validate=True,
        class_name="wizard",
    )


def _kept(name: str, on: str = "on_blur") -> dict[str, Any]:
    """Return the props of a field that is saved in the draft, usually when it loses the focus."""
    key = f"{name}-" + NewAsset.restored.to_string()
    return {"default_value": NewAsset.given[name], "key": key, on: NewAsset.note(name)}
