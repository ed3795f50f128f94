"""The checklist of missing prerequisites of an attestation, each with a button or form."""

from typing import Any

import reflex as rx

from components.core.holder_picker import account_field
from components.oauth.consent import consent_field
from components.parties.decision import LEVELS
from components.ui.box import row
from components.ui.button import button, link_button
from components.ui.dialog import dialog
from components.ui.form import check_field, error_of, field_row, form, select_field, text_field
from components.ui.icon import icon
from components.ui.note import problem_note
from components.ui.progress import bar, checklist
from state.attestations.checklist import Checklist
from state.core.session import Session


def checklist_dialog() -> rx.Component:
    """Draw the dialog. It follows whether prerequisites are met, here or elsewhere."""
    left = Checklist.items.length() - Checklist.done
    title = rx.cond(left == 1, "One step before ", left.to_string() + " steps before ") + Checklist.who + " is attested"
    done = Checklist.done.to_string() + " of " + Checklist.items.length().to_string()
    head = row(
        rx.el.div(bar(Checklist.percent, "Prerequisites done"), class_name="grow"),
        rx.el.span(done, class_name="muted small num nowrap"),
        cls="wide checklist-head",
    )
    inline = rx.match(
        Checklist.opened,
        ("verify", _verify()),
        ("address", _address()),
        ("register", _register()),
        rx.fragment(),
    )
    problem = rx.cond(
        (Checklist.form_problem != "") & (Checklist.opened == ""),
        rx.el.div(problem_note(Checklist.form_problem), class_name="checklist-form"),
        rx.fragment(),
    )
    return dialog(
        title,
        rx.cond(
            left == 1,
            "The attestation is issued automatically after it.",
            "Complete them in this order. The attestation is issued automatically after the last one.",
        ),
        head,
        checklist(Checklist.items, _action),
        inline,
        problem,
        is_open=Checklist.is_open,
        on_open_change=Checklist.show,
        width="660px",
        flush=True,
        foot=(
            rx.el.span(icon("eye", 14), "Updates automatically", class_name="row muted small", role="status"),
            rx.el.span(class_name="end"),
            rx.dialog.close(button("Not now")),
        ),
    )


def _action(item: rx.Var[Any]) -> rx.Component:
    """Draw the button of an open item: it makes the call, or opens the form that does."""

    def opens(word: str, kind: str) -> rx.Component:
        busy = Checklist.waits if kind == "register" else Checklist.saving
        return button(word, kind="primary", busy=busy, on_click=Checklist.open_form(kind))

    def does(word: str, handler: Any) -> rx.Component:
        return button(word, kind="primary", busy=Checklist.saving, on_click=handler)

    return rx.match(
        Checklist.kinds[item.name],
        ("verify", opens("Verify identity", "verify")),
        ("address", opens("Add wallet", "address")),
        ("register", opens("Register issuer", "register")),
        ("enable", does("Enable chain", Checklist.enable_chain)),
        ("wallet", does("Create wallet", Checklist.create_wallet)),
        link_button("Open parties", "/o/" + Session.org.id + "/parties", "arrow-right"),
    )


def _inline(words: str, *fields: Any, on_submit: Any, submit: str) -> rx.Component:
    return form(
        rx.el.h2(words, class_name="title-3"),
        *fields,
        on_submit=on_submit,
        problem=Checklist.form_problem,
        submit=submit,
        busy=Checklist.saving,
        edits=Checklist,
        class_name="checklist-form",
    )


def _verify() -> rx.Component:
    errors = Checklist.errors
    return _inline(
        "Verify the identity of " + Checklist.who,
        field_row(
            select_field("KYC level", "kyc_level", LEVELS, errors=errors, id="c-level", auto_focus=True),
            text_field("Reason", "reason", errors=errors, id="c-reason", optional=True, max_length=500),
        ),
        check_field("Accredited investor", "accredited"),
        on_submit=Checklist.verify,
        submit="Verify",
    )


def _address() -> rx.Component:
    return _inline(
        "The wallet of " + Checklist.who,
        account_field(
            "Wallet address", "wallet_address", errors=Checklist.errors, id="c-wallet", free=True, focused=True,
            offers="unassigned",
        ),
        on_submit=Checklist.write_address,
        submit="Add wallet",
    )  # fmt: skip


def _register() -> rx.Component:
    return _inline(
        "Register " + Session.org.name + " as an issuer",
        consent_field(error_of(Checklist.errors, "consent")),
        on_submit=Checklist.register,
        submit="Register",
    )
