"""The dialog that issues an attestation."""

import reflex as rx

from components.attestations.revocations import revocations
from components.ui.button import text_button
from components.ui.card import avatar, item, items
from components.ui.dialog import form_dialog
from components.ui.form import check_field, error_of, field_row, select_field, text_field
from components.ui.note import note
from components.ui.overlay import picker
from components.ui.status import status
from components.ui.value import short_hash
from state.attestations.issue import Issue
from state.users.preferences import MyPreferences


def issue_dialog() -> rx.Component:
    """Draw the dialog: party, chain, level, accreditation, expiry."""
    errors, party = Issue.errors, Issue.party
    is_verified = party.status == "verified"
    level = select_field(
        "KYC level",
        "kyc_level",
        Issue.levels,
        errors=errors,
        id="i-level",
        default_value=Issue.level,
        hint="At most the level the party is verified for.",
    )
    unverified = note(
        rx.el.b("Not verified yet. "),
        "You can continue. Signum lists the missing steps and issues the attestation once they are done.",
        tone="warn",
    )
    fields = rx.fragment(
        rx.cond(is_verified, rx.fragment(), unverified),
        revocations(Issue.revoked),
        select_field(
            "Chain",
            "chain_eid",
            Issue.chain_options,
            errors=errors,
            id="i-chain",
            placeholder="Choose a chain",
            required=True,
        ),
        field_row(
            rx.cond(is_verified, level, rx.fragment()),
            text_field(
                "Expires",
                "expires_at",
                errors=errors,
                id="i-ends",
                type="date",
                optional=True,
                min=Issue.first_day,
                default_value=Issue.last_day,
                hint="At the end of this day in " + MyPreferences.time_zone + ". If empty, it never expires.",
            ),
        ),
        rx.cond(
            is_verified & party.accredited,
            check_field("Accredited investor", "accredited", default_checked=True),
            rx.fragment(),
        ),
    )
    return form_dialog(
        "Issue an attestation",
        "It records on chain what was verified about a party, so that its wallet can receive tokens that require it.",
        rx.cond(party.id != "", rx.el.div(_party(), fields, class_name="form", key=party.id), _find()),
        form=Issue,
        submit="Issue attestation",
        width="560px",
    )


def _party() -> rx.Component:
    party = Issue.party
    said = rx.cond(party.status == "verified", rx.el.span("Verified, level ", party.level), status(party.status))
    wallet = rx.cond(
        party.wallet != "", rx.fragment(", wallet ", short_hash(party.wallet, "wallet address")), rx.fragment()
    )
    said = rx.el.span(said, wallet)
    chosen = item(party.name, said, text_button("Change", on_click=Issue.another), sign=avatar(party.mark))
    return rx.el.div(items(chosen, label="Party"), class_name="boxed")


def _find() -> rx.Component:
    error = error_of(Issue.errors, "party_id")
    return rx.el.div(
        picker(
            Issue.found,
            "Party",
            on_pick=Issue.pick,
            on_search=Issue.find,
            found_for=Issue.found_for,
            framed=True,
            focused=True,
            placeholder="Find a party by name, email or wallet",
            none="No party found",
        ),
        rx.cond(error != "", rx.el.div(error, class_name="error", role="alert"), rx.fragment()),
        class_name="col",
    )
