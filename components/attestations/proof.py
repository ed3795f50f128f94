"""The on-chain state of an attestation."""

import reflex as rx

from components.ui.box import text
from components.ui.button import button
from components.ui.card import kv
from components.ui.note import note
from components.ui.progress import diff
from components.ui.value import short_hash
from state.attestations.case import Case

PROOF, RECORD = Case.proof, Case.attestation


def proof() -> rx.Component:
    """Draw the verdict, the differences, and what was read, with a button to read it again."""
    block = PROOF.block.to_string()
    there = rx.match(
        RECORD.status,
        ("revoked", "The attestation is revoked on chain too."),
        ("expired", "The attestation has expired on chain too."),
        ("active", "The attestation is valid on chain and matches this record."),
        "The attestation is not valid on chain.",
    )
    words = rx.match(
        PROOF.verdict,
        (
            "agrees",
            note(rx.el.b("The chain agrees. "), there, f" Read at block {block}.", tone="ok", sign="shield-check"),
        ),
        (
            "differs",
            note(
                rx.el.b("The chain differs. "),
                f"Read at block {block}; the chain is authoritative.",
                tone="bad",
                sign="shield-alert",
            ),
        ),
        (
            "silent",
            note(
                rx.el.b("The chain is not responding. "),
                RECORD.chain + " could not be read now.",
                tone="warn",
                sign="cloud-off",
            ),
        ),
        ("absent", note(rx.el.b("Not on the chain. "), _why_absent(), sign="circle-dashed")),
        rx.fragment(),
    )
    return rx.el.div(
        rx.el.div(
            rx.el.h3("On-chain proof"),
            rx.el.span(class_name="end"),
            button("Check again", "rotate-cw", small=True, busy=Case.checking, on_click=Case.check),
            class_name="row section-line",
        ),
        rx.el.div(words, role="status"),
        rx.cond(
            PROOF.differences.length() > 0, rx.el.div(diff(PROOF.differences), class_name="differs"), rx.fragment()
        ),
        rx.cond(PROOF.registry != "", _read(), rx.fragment()),
    )


def _why_absent() -> rx.Var[str]:
    return rx.match(
        RECORD.shown,
        ("awaiting_approval", "A second person has to approve its request first."),
        ("pending", "Its transaction is pending."),
        "It was never recorded.",
    ).to(str)


def _read() -> rx.Component:
    return kv(
        ("Registry", short_hash(PROOF.registry, "registry", PROOF.registry_url)),
        ("Attester", rx.el.span(PROOF.attester_name, " ", short_hash(PROOF.attester, "attester", PROOF.attester_url))),
        ("Valid now", text(rx.cond(PROOF.is_valid, "Yes", rx.cond(PROOF.is_revoked, "No, revoked", "No")))),
    )
