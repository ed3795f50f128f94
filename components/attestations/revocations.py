"""Notes about a party's revoked attestations, where it can be attested again."""

import reflex as rx

from components.ui.note import note
from components.ui.value import when
from state.attestations.detail import AttestationView


def revocations(revoked: rx.Var[list[AttestationView]]) -> rx.Component:
    """Draw a note for each chain where the party's latest attestation was revoked: when, by whom, and why."""

    def one(record: rx.Var[AttestationView]) -> rx.Component:
        day = rx.cond(record.revoked_at != "", rx.fragment(" on ", when(record.revoked_at, "day")), rx.fragment())
        by = rx.cond(record.revoked_by != "", rx.fragment(" by ", record.revoked_by), rx.fragment())
        why = rx.cond(record.reason != "", rx.fragment(": ", record.reason), rx.fragment())
        return note(rx.el.b("Attestation revoked. "), record.chain, day, by, why, tone="warn", key=record.id)

    return rx.fragment(rx.foreach(revoked, one))
