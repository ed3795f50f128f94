"""The dialog that imports parties from a CSV list, with a preview line by line."""

from typing import Any

import reflex as rx

from components.ui.box import text
from components.ui.button import button
from components.ui.csv_form import csv_form
from components.ui.dialog import dialog
from components.ui.form import choice, choices
from components.ui.note import note
from components.ui.status import status
from components.ui.table import Col, table, td, tr
from components.ui.value import short_hash
from state.parties.imports import PartyImport

ACTIONS = "import-actions"
"""The place in the dialog's foot for the form's button."""
MOST = 1_048_576
"""The API's size limit of a list, in bytes."""
TEMPLATE = (
    "name,country,kind,email,wallet_address\nMarta Lindqvist,SWE,person,marta@example.com,\nBaltic Fund,DEU,company,,"
)


def import_dialog() -> rx.Component:
    """Draw the dialog: the list at first, then its preview below it."""
    state = PartyImport
    return dialog(
        "Import parties",
        "Check the list first. All lines are imported, or none. You or a colleague verifies the identities "
        "afterwards.",
        rx.el.div(
            rx.el.div("Parties that are registered already", class_name="label", aria_hidden="true"),
            choices(
                "Parties that are registered already",
                _choice(
                    "refuse", "Refuse the list", "If a line matches a registered wallet or email, nothing is imported."
                ),
                _choice("skip", "Skip them", "Registered parties stay as they are."),
                _choice("update", "Update them", "The values of the line replace name, email and wallet."),
            ),
            csv_form(
                "List of parties", state.action, further="", most=MOST,
                is_unusable=(state.refused > 0) | (state.created + state.updated == 0),
                 example=TEMPLATE, on_checked=state.checked, on_made=state.made, what="Parties",
                hint="The first line names the columns: name, country (a code such as SWE), kind (person or company), "
                "email, wallet_address (0x…, the wallet for the tokens). Only name and country are required.",
                file_hint=", at most 2,000 parties", word="Import parties", actions=ACTIONS,
            ),
            rx.cond(state.is_checked, _preview(), rx.fragment()),
            rx.cond(state.is_unreadable, _unreadable(), rx.fragment()),
            class_name="col wide",
        ),
        is_open=state.is_open,
        on_open_change=state.show,
        width="760px",
        foot=(
            rx.el.span(class_name="end"),
            rx.dialog.close(button("Cancel")),
            rx.el.span(id=ACTIONS, class_name="row form-actions"),
        ),
    )  # fmt: skip


def _preview() -> rx.Component:
    state = PartyImport
    good = note(
        rx.cond(
            (state.created > 0) | (state.updated == 0),
            rx.el.b(state.created, rx.cond(state.created == 1, " party", " parties"), " can be imported. "),
            rx.fragment(),
        ),
        rx.cond(
            state.updated > 0,
            rx.el.b(state.updated, rx.cond(state.updated == 1, " party", " parties"), " will be updated. "),
            rx.fragment(),
        ),
        rx.cond(state.skipped > 0, rx.fragment(state.skipped, " skipped."), rx.fragment()),
        tone="ok",
    )
    bad = note(
        rx.el.b(state.refused, rx.cond(state.refused == 1, " line", " lines"), " must be corrected. "),
        "Nothing is imported until then.",
        tone="bad",
    )
    return rx.el.div(
        rx.cond(state.refused > 0, bad, good),
        table(
            "Preview",
            [Col("Line", right=True), Col("Party"), Col("Country"), Col("Wallet", narrow=False), Col("Result")],
            state.lines,
            _line,
            empty=rx.fragment(),
            loading=rx.Var.create(False),
            problem=rx.Var.create("").to(str),
            slim=True,
        ),
        _rest(),
        class_name="col import-preview",
        role="status",
    )


def _rest() -> rx.Component:
    """Say how many lines the preview does not have."""
    shown, total = PartyImport.lines.length(), PartyImport.total
    words = rx.el.p(
        "The first ", shown, " of ", total, " lines, refused ones first. The counts are those of all lines.",
        class_name="muted small",
    )  # fmt: skip
    order = rx.el.p("Refused lines are first.", class_name="muted small")
    is_mixed = (PartyImport.refused > 0) & (PartyImport.refused < total)
    return rx.cond(shown < total, words, rx.cond(is_mixed, order, rx.fragment()))


def _unreadable() -> rx.Component:
    return note(
        rx.el.b("The preview cannot be shown. "),
        "Split the list, and check each part. Nothing was imported.",
        tone="bad",
        role="alert",
    )


def _choice(value: str, title: str, about: str) -> rx.Component:
    state = PartyImport
    return choice(
        "on_duplicate", value, title, about, checked=state.treatment == value, on_change=lambda _: state.treat(value)
    )


def _change(change: rx.Var[dict[str, str]]) -> rx.Component:
    words = (change["name"], ": ", rx.el.s(change["old"]), " → ", text(change["new"], cls="strong"))
    return rx.el.div(*words, class_name="small break", key=change["name"])


def _line(line: rx.Var[Any]) -> rx.Component:
    return tr(
        td(line.id, right=True, label="Line"),
        td(rx.el.div(text(line.name, cls="strong"), rx.el.div(line.email, class_name="muted small"))),
        td(line.country, label="Country"),
        td(short_hash(line.wallet, "wallet address"), narrow=False),
        td(
            status(rx.match(line.outcome, ("created", "ready"), ("updated", "update"), line.outcome).to(str)),
            rx.cond(line.detail != "", rx.el.div(line.detail, class_name="muted small"), rx.fragment()),
            rx.foreach(line.changes.to(list[dict[str, str]]), _change),
            class_name="wrap",
            full=True,
        ),
        key=line.id,
    )
