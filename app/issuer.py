"""The organization as an attestation issuer."""

import reflex as rx

from app.layout import Nav, page
from components.access import for_admins, is_admin
from components.consent import consent_field
from components.ui.box import col, split, text
from components.ui.button import button, link_button
from components.ui.card import card, kv, page_head
from components.ui.dialog import form_dialog
from components.ui.form import check_field, error_of, select_field, text_field
from components.ui.note import empty, failure, forbidden, note, skeleton
from components.ui.progress import checklist, request_progress
from components.ui.status import status
from components.ui.table import Col, table, td, tr
from components.ui.value import short_hash
from state.issuer import Attester, Issuer, IssuerForm
from state.prerequisites import Prerequisite
from state.session import Session

LEVELS = [("1", "Level 1"), ("2", "Level 2"), ("3", "Level 3")]
TERMS = Issuer.terms


@page(
    route="/o/[org_id]/issuer",
    title="Issuer",
    nav=Nav("Issuance", "stamp", 35, "i"),
    on_load=[IssuerForm.show(False), Issuer.load],
)
def issuer() -> rx.Component:
    """Draw the registration with what it needs, and the attester on each chain."""
    broken = rx.cond(
        Issuer.is_forbidden,
        forbidden(Issuer.problem),
        failure("This did not load", Issuer.problem, button("Try again", "rotate-cw", on_click=Issuer.reload)),
    )
    content = rx.cond(Issuer.is_issuer, _registered(), _not_yet())
    blank = rx.el.div(skeleton(4), class_name="card")
    return rx.fragment(
        page_head(
            "Issuer",
            "Whose attestations count: this organization's, on every chain where it is registered",
            for_admins(_head_button()),
        ),
        rx.cond(Issuer.problem != "", rx.el.div(broken, class_name="card"), rx.cond(Issuer.loading, blank, content)),
        _dialog(),
    )


def _head_button() -> rx.Component:
    change = button("Change terms", "pencil", on_click=IssuerForm.show(True))
    return rx.cond(Issuer.is_issuer, change, rx.fragment())


def _not_yet() -> rx.Component:
    register = button(
        "Register as issuer", "stamp", kind="primary", disabled=~Issuer.is_ready, on_click=IssuerForm.show(True)
    )
    ask = text("An admin registers the organization.", cls="muted")
    first = card(
        "What it needs first",
        rx.el.div(checklist(Issuer.needs, _need), class_name="needs"),
    )
    return split(
        card(
            "Registration",
            empty(
                "stamp",
                "Not registered as an issuer",
                "Registering adds the treasury to the attestation registry of every enabled chain. From then on "
                "this organization can say on chain who may hold its tokens.",
                rx.cond(is_admin(), register, ask),
            ),
        ),
        first,
    )


def _need(item: rx.Var[Prerequisite]) -> rx.Component:
    word = rx.match(item.name, ("server_wallet", "Create one"), "Enable one")
    return link_button(word, item.href, small=True)


def _registered() -> rx.Component:
    lacking = note(
        rx.el.b(Issuer.missing, " of the enabled chains lack the attester. "),
        "Complete the registration to attest there too.",
        tone="warn",
    )
    complete = for_admins(
        button("Complete registration", "stamp", kind="primary", small=True, on_click=IssuerForm.show(True))
    )
    gap = rx.cond(Issuer.missing > 0, rx.el.div(lacking, complete, class_name="gap-note"), rx.fragment())
    chains = card(
        "Chains",
        table(
            "Attester on each chain",
            [Col("Chain"), Col("Status"), Col("Attester"), Col("Transaction", narrow=False)],
            Issuer.attesters,
            _row,
            empty=empty("link", "No chain enabled", "Enable a chain, then complete the registration."),
            loading=Issuer.loading,
            problem=Issuer.problem,
        ),
    )
    terms = card(
        "Terms",
        kv(
            ("Name", TERMS.name),
            ("Attests up to", text("Level ", TERMS.max_level, cls="num")),
            (
                "May revoke",
                rx.cond(
                    TERMS.can_revoke_others, "also what others attested here and below", "only what it attested itself"
                ),
            ),
        ),
    )
    running = rx.cond(
        Issuer.request.steps.length() > 0, request_progress(Issuer.request, on_retry=Issuer.retry), rx.fragment()
    )
    return col(gap, split(chains, col(terms, running, cls="wide")), cls="wide")


def _row(attester: rx.Var[Attester]) -> rx.Component:
    return tr(
        td(text(attester.chain, cls="strong")),
        td(rx.cond(attester.status == "absent", text("Not registered", cls="muted"), status(attester.status))),
        td(short_hash(attester.address, "attester", attester.url), full=True),
        td(short_hash(attester.tx_hash, "transaction", attester.tx_url), narrow=False),
        key=attester.eid.to_string(),
    )


def _dialog() -> rx.Component:
    errors = IssuerForm.errors
    return form_dialog(
        rx.cond(Issuer.is_issuer, "Registration of " + TERMS.name, "Register as an issuer"),
        "It is written on every enabled chain that lacks it, one transaction each.",
        text_field(
            "Name",
            "name",
            errors=errors,
            id="n-name",
            max_length=120,
            default_value=rx.cond(Issuer.is_issuer, TERMS.name, Session.org.name),
        ),
        select_field(
            "Attests up to",
            "max_kyc_level",
            LEVELS,
            errors=errors,
            id="n-level",
            default_value=TERMS.max_level.to_string(),
            hint="No attestation of this issuer says more.",
        ),
        check_field(
            "May revoke what others attested here and below",
            "can_revoke_others",
            default_checked=TERMS.can_revoke_others,
        ),
        consent_field(error_of(errors, "consent")),
        is_open=IssuerForm.is_open,
        on_open_change=IssuerForm.show,
        on_submit=IssuerForm.submit,
        problem=IssuerForm.form_problem,
        busy=IssuerForm.saving,
        submit=rx.cond(Issuer.is_issuer, "Save and complete", "Register"),
        width="560px",
    )
