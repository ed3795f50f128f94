"""The dialog that revokes an attestation, with what this affects."""

from typing import Any

import reflex as rx

from components.ui.dialog import form_dialog
from components.ui.form import area_field
from components.ui.note import note
from components.ui.value import amount
from state.attestations.case import Case
from state.attestations.revocation import HoldingView, Revoke


def revoke_dialog() -> rx.Component:
    """Draw the dialog: the consequences, and the reason."""
    record = Case.attestation
    impact = rx.cond(
        Revoke.planning,
        rx.el.div(class_name="skeleton line", role="status", aria_busy="true", aria_label="Calculating the impact"),
        rx.cond(Revoke.is_possible, _impact(), rx.fragment()),
    )
    return form_dialog(
        "Revoke the attestation of " + record.name,
        "On " + record.chain + ". This cannot be undone; you can issue a new attestation.",
        impact,
        area_field(
            "Reason",
            "reason",
            errors=Revoke.errors,
            id="v-reason",
            hint="Required. It is written on chain, where anyone can read it.",
            max_length=500,
        ),
        form=Revoke,
        busy=Revoke.saving | Revoke.planning,
        submit="Revoke attestation",
        kind="danger",
    )


def _impact() -> rx.Component:
    """Show the wallet's tokens, then its orders and payments, then the requests that wait."""
    nothing = note("The wallet holds none of this organization's tokens on ", Case.attestation.chain, ".")
    kept = " counts, so nothing changes for the tokens."
    return rx.fragment(
        rx.cond(Revoke.holds_any, rx.fragment(), nothing),
        _tokens("The wallet keeps ", Revoke.stuck, " but cannot send, sell or receive the tokens."),
        _tokens("The wallet can send ", Revoke.sendable, " but no longer receive the tokens."),
        _tokens("The wallet holds ", Revoke.kept, ". Another attestation of this wallet" + kept, tone=""),
        rx.cond(Revoke.stops != "", note(Revoke.stops, tone="warn"), rx.fragment()),
        rx.cond(
            Revoke.waiting.length() > 0,
            note(
                rx.el.b("Requests that wait for approval name this wallet. "),
                "They are checked again when they are approved, and may then be refused.",
                _list(Revoke.waiting),
            ),
            rx.fragment(),
        ),
    )


def _list(words: rx.Var[list[str]]) -> rx.Component:
    return rx.el.ul(rx.foreach(words, lambda one: rx.el.li(one, key=one)), class_name="breaks")


def _tokens(before: str, holdings: rx.Var[list[HoldingView]], after: str, tone: Any = "warn") -> rx.Component:
    def one(holding: rx.Var[HoldingView], at: rx.Var[int]) -> rx.Component:
        shown = amount(holding.amount, holding.symbol, holding.decimals, digits=2)
        return rx.fragment(rx.cond(at > 0, ", ", ""), rx.el.b(shown), key=holding.id)

    said = note(rx.el.b("Impact. "), before, rx.foreach(holdings, one), after, tone=tone)
    return rx.cond(holdings.length() > 0, said, rx.fragment())
