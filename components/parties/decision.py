"""The officer's decision about a party: level, accreditation, reason, and where to attest it."""

from typing import Any

import reflex as rx

from components.core.permission import Scope, allowed, may, who_can
from components.ui.box import text
from components.ui.button import button
from components.ui.dialog import form_dialog
from components.ui.form import area_field, check_field, field_row, select_field, text_field
from components.ui.note import note, problem_note
from components.ui.progress import conflict
from state.attestations.case import Case
from state.attestations.issue import Issue
from state.parties.decision import Decision
from state.users.preferences import MyPreferences

PARTY = Case.party
FORM_ID = "decision"
LEVELS = [("1", "Level 1"), ("2", "Level 2"), ("3", "Level 3")]


def decision() -> rx.Component:
    """Draw the form; its button is in the drawer's foot."""
    errors = Decision.errors
    takes_reason = PARTY.status == "rejected"

    def reason(**props: Any) -> rx.Component:
        return area_field("Reason", "reason", errors=errors, id="d-reason", max_length=500, **props)

    return rx.el.form(
        rx.el.h3("Decision"),
        rx.cond(
            Case.is_partial | (Case.documents.length() > 0),
            rx.fragment(),
            note("No document supports this decision. You can still verify the party.", tone="warn"),
        ),
        field_row(
            select_field(
                "KYC level",
                "kyc_level",
                LEVELS,
                errors=errors,
                id="d-level",
                default_value=rx.cond(PARTY.level > 0, PARTY.level.to_string(), "1"),
            ),
            rx.el.div(
                check_field("Accredited investor", "accredited", default_checked=PARTY.accredited),
                class_name="beside-field",
            ),
        ),
        field_row(
            select_field(
                "Attest on",
                "chain_eid",
                Case.chain_options,
                errors=errors,
                id="d-chain",
                placeholder="Not now",
                required=False,
                hint="Choose a chain to issue the attestation together with this decision.",
            ),
            text_field(
                "Expires",
                "expires_at",
                errors=errors,
                id="d-ends",
                type="date",
                optional=True,
                min=Case.first_day,
                default_value=Case.last_day,
                hint="At the end of this day in " + MyPreferences.time_zone + ". If empty, it never expires.",
            ),
        ),
        rx.cond(
            takes_reason,
            reason(hint="Required after an earlier rejection."),
            reason(hint="Stored with the decision. Reject asks for its own reason, which is required.", optional=True),
        ),
        problem_note(Decision.form_problem),
        conflict(Decision),
        on_submit=Decision.verify,
        id=FORM_ID,
        key=PARTY.id,
        class_name="form",
    )


def decision_buttons() -> rx.Component:
    """Draw the actions on the party, in the drawer's foot."""
    open_form = PARTY.is_waiting | (Decision.deciding == PARTY.id)
    reject = button("Reject", "x", on_click=Decision.show_reject(True))
    verify = button("Verify", "badge-check", kind="primary", type="submit", busy=Decision.saving, form=FORM_ID)
    change = button("Change decision", "pencil", on_click=Decision.begin(PARTY.id))
    attest = rx.cond(  # after a revocation it is not what comes next
        Case.revoked.length() > 0,
        button("Attest", "badge-check", on_click=Issue.begin(PARTY.id)),
        button("Attest", "badge-check", kind="primary", on_click=Issue.begin(PARTY.id)),
    )
    end = rx.el.span(class_name="end")
    settled = rx.fragment(change, end, rx.cond(PARTY.status == "verified", attest, rx.fragment()))
    undecided = rx.fragment(rx.cond(PARTY.status != "rejected", reject, rx.fragment()), end, verify)
    none = text("Read-only. ", who_can(Scope.ATTESTATIONS_WRITE, "verify or attest parties"), cls="muted small")
    return rx.fragment(
        allowed(Scope.ATTESTATIONS_WRITE, rx.cond(Case.loading, rx.fragment(), rx.cond(open_form, undecided, settled))),
        rx.cond(may(Scope.ATTESTATIONS_WRITE), rx.fragment(), none),
    )


def reject_dialog() -> rx.Component:
    """Draw the dialog that rejects a party."""
    return form_dialog(
        "Reject " + PARTY.name,
        "The identity is recorded as not verified. Existing attestations stay valid until they are revoked.",
        area_field("Reason", "reason", errors=Decision.errors, id="r-reason", max_length=500),
        is_open=Decision.rejecting,
        on_open_change=Decision.show_reject,
        on_submit=Decision.reject,
        form=Decision,
        submit="Reject",
        kind="danger",
    )
