"""The page of the organization as an attestation issuer."""

import reflex as rx

from app.shell.layout import Nav, page
from components.core.permission import Scope, allowed, lacking, permitted
from components.oauth.consent import consent_field
from components.requests.progress import request_progress
from components.ui.box import col, split, text
from components.ui.button import button, link_button
from components.ui.card import card, kv, page_head
from components.ui.dialog import form_dialog
from components.ui.form import check_field, error_of, select_field, text_field
from components.ui.note import empty, failure, forbidden, note, skeleton
from components.ui.progress import checklist
from components.ui.status import status
from components.ui.table import Col, table, td, tr
from components.ui.value import short_hash
from state.core.prerequisites import Prerequisite
from state.core.session import Session
from state.issuers.form import IssuerForm
from state.issuers.issuer import AttesterView, IssuerState

LEVELS = [("1", "Level 1"), ("2", "Level 2"), ("3", "Level 3")]
TERMS = IssuerState.terms


@page(
    route="/o/[org_id]/issuer",
    title="Issuer",
    nav=Nav("Issuance", "stamp", 35, "i"),
    on_load=[IssuerForm.show(False), IssuerState.load],
)
def issuer() -> rx.Component:
    """Draw the registration with its prerequisites, and the attester on each chain."""
    broken = rx.cond(
        IssuerState.is_forbidden,
        forbidden(IssuerState.problem),
        failure(
            "This did not load", IssuerState.problem, button("Try again", "rotate-cw", on_click=IssuerState.reload)
        ),
    )
    content = rx.cond(IssuerState.is_issuer, _registered(), _not_yet())
    blank = rx.el.div(skeleton(4), class_name="card")
    return rx.fragment(
        page_head(
            "Issuer",
            "Registration of this organization as an attestation issuer, chain by chain",
            allowed(Scope.API_KEYS_WRITE, _head_button()),
            who=lacking(Scope.API_KEYS_WRITE, "register or change the issuer"),
        ),
        rx.cond(
            IssuerState.problem != "",
            rx.el.div(broken, class_name="card"),
            rx.cond(IssuerState.loading, blank, content),
        ),
        _dialog(),
    )


def _head_button() -> rx.Component:
    change = button("Change terms", "pencil", on_click=IssuerForm.show(True))
    return rx.cond(IssuerState.is_issuer, change, rx.fragment())


def _not_yet() -> rx.Component:
    register = button(
        "Register as issuer", "stamp", kind="primary", disabled=~IssuerState.is_ready, on_click=IssuerForm.show(True)
    )
    register = permitted(Scope.API_KEYS_WRITE, register, "Register as issuer", sign="stamp")
    first = card(
        "Prerequisites",
        rx.el.div(checklist(IssuerState.needs, _need), class_name="needs"),
    )
    return split(
        card(
            "Registration",
            empty(
                "stamp",
                "Not registered as an issuer",
                "Registering adds the treasury to the attestation registry of every enabled chain. "
                "This organization can then attest on chain who may hold its tokens.",
                register,
            ),
        ),
        first,
    )


def _need(item: rx.Var[Prerequisite]) -> rx.Component:
    word = rx.match(item.name, ("server_wallet", "Create one"), "Enable one")
    return link_button(word, item.href, small=True)


def _registered() -> rx.Component:
    lacking = note(
        rx.el.b(IssuerState.missing, " of the enabled chains lack the attester. "),
        "Complete the registration to attest there too.",
        tone="warn",
    )
    complete = allowed(
        Scope.API_KEYS_WRITE,
        button("Complete registration", "stamp", kind="primary", small=True, on_click=IssuerForm.show(True)),
    )
    gap = rx.cond(IssuerState.missing > 0, rx.el.div(lacking, complete, class_name="gap-note"), rx.fragment())
    chains = card(
        "Chains",
        table(
            "Attester on each chain",
            [Col("Chain"), Col("Status"), Col("Attester"), Col("Transaction", narrow=False)],
            IssuerState.attesters,
            _row,
            empty=empty("link", "No chain enabled", "Enable a chain, then complete the registration."),
            loading=IssuerState.loading,
            problem=IssuerState.problem,
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
                    TERMS.can_revoke_others,
                    "Attestations of any issuer here and in sub-organizations",
                    "Only its own attestations",
                ),
            ),
        ),
    )
    running = rx.cond(
        IssuerState.request.steps.length() > 0,
        request_progress(IssuerState),
        rx.fragment(),
    )
    return col(gap, split(chains, col(terms, running, cls="wide")), cls="wide")


def _row(attester: rx.Var[AttesterView]) -> rx.Component:
    return tr(
        td(text(attester.chain, cls="strong")),
        td(rx.cond(attester.status == "absent", text("Not registered", cls="muted"), status(attester.status))),
        td(attester.name, " ", short_hash(attester.address, "attester", attester.url), full=True),
        td(short_hash(attester.tx_hash, "transaction", attester.tx_url), narrow=False),
        key=attester.eid.to_string(),
    )


def _dialog() -> rx.Component:
    errors = IssuerForm.errors
    return form_dialog(
        rx.cond(IssuerState.is_issuer, "Terms of " + TERMS.name, "Register as an issuer"),
        rx.cond(
            IssuerState.is_issuer & (IssuerState.missing == 0),
            "Changes are written to the registry of every enabled chain, with one transaction on each.",
            "Sends one transaction on each enabled chain where the issuer is not registered yet.",
        ),
        text_field(
            "Name",
            "name",
            errors=errors,
            id="n-name",
            max_length=120,
            default_value=rx.cond(IssuerState.is_issuer, TERMS.name, Session.org.name),
        ),
        select_field(
            "Attests up to",
            "max_kyc_level",
            LEVELS,
            errors=errors,
            id="n-level",
            default_value=TERMS.max_level.to_string(),
            hint="The highest level this issuer can attest. Lowering it invalidates existing attestations of a higher "
            "level.",
        ),
        check_field(
            "May revoke attestations of any issuer of this organization and its sub-organizations",
            "can_revoke_others",
            default_checked=TERMS.can_revoke_others,
        ),
        consent_field(error_of(errors, "consent")),
        form=IssuerForm,
        submit=rx.cond(
            IssuerState.is_issuer,
            rx.cond(IssuerState.missing == 0, "Save terms", "Save terms and complete registration"),
            "Register as issuer",
        ),
        width="560px",
    )
