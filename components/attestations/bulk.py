"""The bar of actions on marked parties and attestations, and their dialog with the outcomes."""

from typing import Any

import reflex as rx

from components.core.permission import Scope, allowed
from components.parties.decision import LEVELS
from components.ui.box import text
from components.ui.button import button
from components.ui.dialog import dialog, form_dialog
from components.ui.form import area_field, check_field, error_of, field_row, select_field, text_field
from components.ui.marks import marks_bar, outcomes
from components.ui.note import note, problem_note
from state.attestations.bulk import CHAIN, Bulk
from state.attestations.detail import AttestationView
from state.users.preferences import MyPreferences

WORDS = {"attest": "Attest", "renew": "Renew", "verify": "Verify", "reject": "Reject"}
SIGNS = {"attest": "badge-check", "renew": "rotate-cw", "verify": "badge-check", "reject": "x"}


def bulk_bar(marks: Any, *kinds: str) -> rx.Component:
    """Draw the bar of actions of these kinds, for users who may write attestations."""
    return allowed(Scope.ATTESTATIONS_WRITE, marks_bar(marks, *[action(kind) for kind in kinds]))


def action(kind: str) -> rx.Component:
    """Draw the button of an action on the marked rows."""
    return button(WORDS[kind], SIGNS[kind], small=True, on_click=Bulk.begin(kind))


def bulk_dialog() -> rx.Component:
    """Draw the dialog of the action: its form first, then the outcomes."""
    return rx.cond(Bulk.outcomes.length() > 0, _outcomes(), rx.cond(Bulk.count > 0, _form(), _nothing()))


def _nothing() -> rx.Component:
    """Say why the action works on none of the marked rows, and offer the decision that comes first."""
    first = button("Review " + Bulk.undecided["name"], kind="primary", on_click=Bulk.review)
    can_review = (Bulk.kind == "attest") & (Bulk.undecided["id"] != "")
    return dialog(
        rx.match(Bulk.kind, *[(kind, f"Nothing to {word.lower()}") for kind, word in WORDS.items()], "").to(str),
        rx.cond(Bulk.obstacles != "", Bulk.obstacles, Bulk.omitted),
        is_open=Bulk.is_open,
        on_open_change=Bulk.show,
        foot=(
            rx.el.span(class_name="end"),
            rx.dialog.close(button("Close")),
            rx.cond(can_review, first, rx.fragment()),
        ),
        width="460px",
    )


def _form() -> rx.Component:
    parties = rx.cond(Bulk.count == 1, "1 party", Bulk.count.to_string() + " parties")
    records = rx.cond(Bulk.count == 1, "1 attestation", Bulk.count.to_string() + " attestations")
    title = rx.match(
        Bulk.kind,
        ("attest", "Attest " + parties),
        ("renew", "Renew " + records),
        ("verify", "Verify " + parties),
        "Reject " + parties,
    ).to(str)
    about = rx.match(
        Bulk.kind,
        (
            "attest",
            "Each party gets an attestation on each chain, as a request of its own. It replaces an earlier one there.",
        ),
        ("renew", "Each attestation is issued again with the new expiry. It replaces the earlier one on its chain."),
        ("verify", "Each identity is recorded as verified at this level. It takes effect immediately."),
        "Each identity is recorded as not verified. Existing attestations stay valid until they are revoked.",
    ).to(str)
    fields = rx.match(
        Bulk.kind,
        ("attest", rx.fragment(_chains(), _expires())),
        ("renew", _expires()),
        ("verify", _decision()),
        area_field("Reason", "reason", errors=Bulk.errors, id="b-reason", max_length=500, auto_focus=True),
    )
    return form_dialog(
        title,
        about,
        rx.el.p(text(Bulk.who, cls="strong")),
        fields,
        _rest(),
        _revoked(),
        form=Bulk,
        submit=rx.match(Bulk.kind, *WORDS.items(), "Send"),
        kind="primary",
    )


def _rest() -> rx.Component:
    return rx.cond(Bulk.omitted != "", note(Bulk.omitted), rx.fragment())


def _revoked() -> rx.Component:
    """List the attestations that this action does not issue again, because someone revoked them."""

    def one(record: rx.Var[AttestationView]) -> rx.Component:
        return rx.el.li(record.name, " on ", record.chain, rx.cond(record.reason != "", ": " + record.reason, ""))

    said = note(
        rx.el.b("Omitted. "),
        "These attestations were revoked. Review each case to attest the party again:",
        rx.el.ul(rx.foreach(Bulk.revoked, one), class_name="breaks"),
        tone="warn",
    )
    return rx.cond(Bulk.revoked.length() > 0, said, rx.fragment())


def _chains() -> rx.Component:
    def one(chain: rx.Var[dict[str, str]]) -> rx.Component:
        attested = rx.cond(chain["attested"] != "", "Already attested: " + chain["attested"], "")
        return check_field(chain["label"], CHAIN + chain["value"], hint=attested, key=chain["value"])

    error = error_of(Bulk.errors, "chains")
    assert error is not None
    return rx.el.fieldset(
        rx.el.legend("Chains", class_name="label"),
        rx.foreach(Bulk.chain_options, one),
        rx.cond(error != "", rx.el.div(error, class_name="error", role="alert"), rx.fragment()),
        class_name="checks",
    )


def _expires() -> rx.Component:
    return text_field(
        "Expires", "expires_at", errors=Bulk.errors, id="b-ends", type="date", optional=True, min=Bulk.first_day,
        default_value=Bulk.last_day,
        hint="At the end of this day in " + MyPreferences.time_zone + ". If empty, it never expires.",
    )  # fmt: skip


def _decision() -> rx.Component:
    return rx.fragment(
        field_row(
            select_field("KYC level", "kyc_level", LEVELS, errors=Bulk.errors, id="b-level", auto_focus=True),
            rx.el.div(check_field("Accredited investors", "accredited"), class_name="beside-field"),
        ),
        area_field(
            "Reason", "reason", errors=Bulk.errors, id="b-why", hint="Stored with each decision.", optional=True,
            max_length=500,
        ),
    )  # fmt: skip


def _outcomes() -> rx.Component:
    retry = button(rx.el.span("Retry ", Bulk.refusals, " refused"), "rotate-cw", busy=Bulk.running, on_click=Bulk.retry)
    title = rx.match(
        Bulk.kind, ("attest", "Attestations"), ("renew", "Renewals"), ("verify", "Verifications"), "Rejections"
    ).to(str)
    return dialog(
        title,
        "Accepted attestations continue as requests, also after this dialog is closed.",
        outcomes(Bulk),
        problem_note(Bulk.form_problem),
        is_open=Bulk.is_open,
        on_open_change=Bulk.show,
        foot=(
            rx.el.span(class_name="end"),
            rx.cond((Bulk.refusals > 0) & ~Bulk.running, retry, rx.fragment()),
            rx.dialog.close(button("Close", kind="primary")),
        ),
        width="640px",
    )
