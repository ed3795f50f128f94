"""The dialogs that issue and revoke an attestation."""

import reflex as rx

from components.ui.box import text
from components.ui.button import text_button
from components.ui.card import avatar, item, items
from components.ui.dialog import form_dialog
from components.ui.form import area_field, check_field, error_of, field_row, select_field, text_field
from components.ui.note import note
from components.ui.overlay import picker
from components.ui.status import status
from components.ui.value import amount
from state.case import Case
from state.issuing import Issue
from state.revoking import Holding, Revoke


def issue_dialog() -> rx.Component:
    """Draw the dialog: party, chain, level, accreditation, end."""
    errors, party = Issue.errors, Issue.party
    is_verified = party.status == "verified"
    level = select_field(
        "KYC level",
        "kyc_level",
        Issue.levels,
        errors=errors,
        id="i-level",
        default_value=Issue.level,
        hint="At most what the party is verified for.",
    )
    unverified = note(
        rx.el.b("Not verified yet. "),
        "You can go on: what is missing is listed, and the attestation is issued once it is there.",
        tone="warn",
    )
    fields = rx.fragment(
        rx.cond(is_verified, rx.fragment(), unverified),
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
                "Ends",
                "expires_at",
                errors=errors,
                id="i-ends",
                type="date",
                optional=True,
                min=Issue.first_day,
                default_value=Issue.last_day,
                hint="Empty means never.",
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
        "It says on chain what was verified of a party, and lets its wallet receive tokens that ask for it.",
        rx.cond(party.id != "", rx.el.div(_party(), fields, class_name="form", key=party.id), _find()),
        is_open=Issue.is_open,
        on_open_change=Issue.show,
        on_submit=Issue.submit,
        problem=Issue.form_problem,
        busy=Issue.saving,
        submit="Issue attestation",
        width="560px",
    )


def _party() -> rx.Component:
    party = Issue.party
    said = rx.cond(party.status == "verified", rx.el.span("Verified, level ", party.level), status(party.status))
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
            framed=True,
            focused=True,
            placeholder="Find a party by name, email or wallet",
            none="No party found",
        ),
        rx.cond(error != "", rx.el.div(error, class_name="error", role="alert"), rx.fragment()),
        class_name="col",
    )


def revoke_dialog() -> rx.Component:
    """Draw the dialog: what it breaks, and the reason."""
    record = Case.attestation
    nothing = note("The wallet holds none of this organization's tokens on ", record.chain, ".")
    breaks = note(
        rx.el.b("What this breaks. "),
        "The wallet keeps what it holds, and can receive no more of it where the token asks for an attestation:",
        rx.el.ul(rx.foreach(Revoke.holdings, _holding), class_name="breaks"),
        tone="warn",
    )
    impact = rx.cond(
        Revoke.planning,
        rx.el.div(class_name="skeleton line", role="status", aria_busy="true", aria_label="Looking at what it breaks"),
        rx.cond(Revoke.is_possible, rx.cond(Revoke.holdings.length() > 0, breaks, nothing), rx.fragment()),
    )
    return form_dialog(
        "Revoke the attestation of " + record.name,
        "On " + record.chain + ". It cannot be taken back; a new one can be issued.",
        impact,
        area_field(
            "Reason",
            "reason",
            errors=Revoke.errors,
            id="v-reason",
            hint="It goes on chain, readable for everybody.",
            max_length=500,
        ),
        is_open=Revoke.is_open,
        on_open_change=Revoke.show,
        on_submit=Revoke.submit,
        problem=Revoke.form_problem,
        busy=Revoke.saving | Revoke.planning,
        submit="Revoke",
        kind="danger",
    )


def _holding(holding: rx.Var[Holding]) -> rx.Component:
    return rx.el.li(text(amount(holding.amount, holding.symbol, holding.decimals), cls="strong"), key=holding.id)
