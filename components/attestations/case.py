"""The drawer of a case: a party, or an attestation with its on-chain proof."""

from typing import Any

import reflex as rx

from components.attestations.proof import proof
from components.attestations.revocations import revocations
from components.core.permission import Scope, allowed, may, who_can
from components.parties.decision import decision, decision_buttons
from components.parties.documents import documents
from components.requests.progress import request_progress
from components.ui.box import row, text
from components.ui.button import button, text_button
from components.ui.card import avatar, item, items, kv
from components.ui.dialog import drawer
from components.ui.list_keys import step_buttons
from components.ui.note import failure, forbidden, line_skeleton, note, skeleton
from components.ui.status import badge, status
from components.ui.value import short_hash, when
from state.attestations.bulk import Bulk
from state.attestations.case import Case
from state.attestations.checklist import Checklist
from state.attestations.detail import AttestationView
from state.attestations.issue import Issue
from state.attestations.revocation import Revoke
from state.parties.decision import Decision
from state.parties.edit import PartyEdit

AT_REST = [
    Case.enter,
    Issue.show(False),
    Checklist.show(False),
    Decision.show_reject(False),
    PartyEdit.show(False),
    Revoke.show(False),
    Bulk.rest,
]
"""Events that close everything when a page opens, because states outlive a reload."""
PARTY, ATTESTATIONS, RECORD = Case.party, Case.attestations, Case.attestation


def case_drawer(on_step: Any, on_leave: Any) -> rx.Component:
    """Draw the selected case; `on_step(1)` goes to the next case of the list."""
    broken = rx.cond(
        Case.is_forbidden,
        forbidden(Case.problem),
        failure("This did not load", Case.problem, button("Try again", "rotate-cw", on_click=Case.reload)),
    )

    def guarded(content: rx.Component) -> rx.Component:
        return rx.cond(Case.problem != "", broken, rx.cond(Case.loading, skeleton(5), content))

    tools = step_buttons(on_step)
    party = drawer(
        PARTY.name, rx.el.span(PARTY.kind, ", ", PARTY.country_name), guarded(_party()), is_open=Case.shown == "party",
        on_close=on_leave, head=avatar(PARTY.mark), tools=tools, foot=(decision_buttons(),),
    )  # fmt: skip
    attestation = drawer(
        RECORD.name, "Attestation on " + RECORD.chain, guarded(_attestation()), is_open=Case.shown == "attestation",
        on_close=on_leave, head=avatar(RECORD.mark), tools=tools, foot=(_attestation_buttons(),),
    )  # fmt: skip
    return rx.fragment(party, attestation)


def yes_no(is_so: rx.Var[bool]) -> rx.Component:
    """Show yes or no."""
    return text(rx.cond(is_so, "Yes", "No"))


def _level(level: rx.Var[int]) -> rx.Component:
    return rx.cond(level > 0, text("Level ", level, cls="num"), text("none", cls="muted"))


def _party() -> rx.Component:
    identity = kv(
        ("Name", PARTY.name),
        ("Kind", PARTY.kind),
        ("Country", text(PARTY.country_name, " ", text(PARTY.country, cls="muted"))),
        ("Email", rx.cond(PARTY.email != "", text(PARTY.email, cls="break"), text("none", cls="muted"))),
        ("Wallet", short_hash(PARTY.wallet, "wallet address")),
        ("Registered", when(PARTY.created_at)),
    )
    return rx.fragment(
        revocations(Case.revoked),
        row(
            rx.el.h3("Identity"),
            text(badge(PARTY.status), cls="end"),
            allowed(Scope.ATTESTATIONS_WRITE, button("Edit party", "pencil", small=True, on_click=PartyEdit.begin)),
            cls="section-line",
        ),
        identity,
        documents(),
        rx.cond(PARTY.reviewed_at != "", _decided(), rx.fragment()),
        _attestations(),
        rx.cond(
            may(Scope.ATTESTATIONS_WRITE) & (PARTY.is_waiting | (Decision.deciding == PARTY.id)),
            decision(),
            rx.fragment(),
        ),
    )


def _decided() -> rx.Component:
    return rx.fragment(
        rx.el.h3("Last decision"),
        kv(
            ("KYC level", _level(PARTY.level)),
            ("Accredited", yes_no(PARTY.accredited)),
            ("Decided", when(PARTY.reviewed_at)),
        ),
        rx.cond(PARTY.reviewed_by != "", kv(("By", PARTY.reviewed_by)), rx.fragment()),
        rx.cond(PARTY.reason != "", kv(("Reason", PARTY.reason)), rx.fragment()),
    )


def _attestations() -> rx.Component:
    def one(attestation: rx.Var[AttestationView]) -> rx.Component:
        said = rx.el.span(
            "Level ", attestation.level, rx.cond(attestation.accredited, ", accredited, ", ", "),
            attestation.wallet_words,
            rx.cond(attestation.expires_at != "", rx.fragment(", until ", when(attestation.expires_at, "day")), ""),
        )  # fmt: skip
        name = text_button(attestation.chain, on_click=Case.to_attestation(attestation.id))
        return item(name, said, status(attestation.shown), sign="badge-check", key=attestation.id)

    return rx.fragment(
        rx.el.h3("Attestations"),
        rx.cond(
            ATTESTATIONS.length() > 0,
            items(rx.foreach(ATTESTATIONS, one), label="Attestations"),
            rx.cond(Case.is_partial, line_skeleton(), text("No attestations.", cls="muted")),
        ),
    )


def _attestation() -> rx.Component:
    ended = rx.cond(
        RECORD.status == "expired",
        rx.el.span("expired ", when(RECORD.expires_at)),
        rx.fragment(
            when(RECORD.expires_at, "day", none="never"),
            rx.cond(RECORD.shown == "expiring", rx.el.span(", ", when(RECORD.expires_at)), rx.fragment()),
        ),
    )
    facts = [
        ("Party", text_button(RECORD.name, on_click=Case.to_party(RECORD.party_id))),
        ("KYC level", _level(RECORD.level)),
        ("Accredited", yes_no(RECORD.accredited)),
        ("Country", text(RECORD.country_name, " ", text(RECORD.country, cls="muted"))),
        ("Wallet", short_hash(RECORD.wallet, "wallet address", RECORD.wallet_url)),
        (rx.cond(RECORD.uid != "", "Issued", "Requested"), when(RECORD.created_at, "day")),
        ("Expires", ended),
        ("Transaction", short_hash(RECORD.tx_hash, "transaction", RECORD.tx_url)),
        ("UID", short_hash(RECORD.uid, "UID")),
    ]
    return rx.fragment(
        rx.cond(Case.request.steps.length() > 0, _progress(), rx.fragment()),
        row(rx.el.h3("Attestation"), text(badge(RECORD.shown), cls="end"), cls="section-line"),
        _why(RECORD.failure, "bad", "The attestation failed. "),
        _revoked(),
        kv(*facts),
        proof(),
    )


def _why(words: rx.Var[str], tone: Any, lead: str) -> rx.Component:
    return rx.cond(words != "", note(rx.el.b(lead), words, tone=tone), rx.fragment())


def _revoked() -> rx.Component:
    """Say when, by whom and why the attestation ended; one that a newer one replaced was not revoked by anyone."""
    when_ended = rx.cond(RECORD.revoked_at != "", rx.fragment(" ", when(RECORD.revoked_at, "day")), rx.fragment())
    by = rx.cond(RECORD.revoked_by != "", rx.fragment(" by ", RECORD.revoked_by), rx.fragment())
    said = note(rx.el.b("Revoked", when_ended, by, ": "), RECORD.reason)
    return rx.cond(RECORD.reason != "", said, rx.fragment())


def _progress() -> rx.Component:
    return rx.el.div(request_progress(Case), class_name="drawer-progress")


def _attestation_buttons() -> rx.Component:
    words = rx.cond(
        (RECORD.status == "active") & (RECORD.shown != "expiring"), "Attest on another chain", "Attest again"
    )
    again = rx.cond(  # before it expires, a new one is what comes next
        RECORD.shown == "expiring",
        button(words, "badge-check", kind="primary", on_click=Issue.begin(RECORD.party_id)),
        button(words, "badge-check", on_click=Issue.begin(RECORD.party_id)),
    )
    revoke = button("Revoke", "ban", kind="danger", on_click=Revoke.begin)
    return rx.fragment(
        allowed(
            Scope.ATTESTATIONS_WRITE,
            again,
            rx.el.span(class_name="end"),
            rx.cond(RECORD.status == "active", revoke, rx.fragment()),
        ),
        rx.cond(
            may(Scope.ATTESTATIONS_WRITE),
            rx.fragment(),
            text("Read-only. ", who_can(Scope.ATTESTATIONS_WRITE, "renew or revoke attestations"), cls="muted small"),
        ),
    )
