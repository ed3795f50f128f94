"""One wallet: its balances by chain, and what can be done with it."""

import reflex as rx

from components.access import is_admin
from components.ui.box import row, text
from components.ui.button import button
from components.ui.card import card, kv
from components.ui.dialog import confirm, form_dialog
from components.ui.form import text_field
from components.ui.note import failure, note, problem_note, skeleton
from components.ui.status import tag
from components.ui.value import amount, short_hash
from state.wallets import Line, Place, Wallet, WalletForm

ROW = Wallet.row


def wallet_card() -> rx.Component:
    """Draw the chosen wallet with what it holds now."""
    again = button("Read again", "rotate-cw", small=True, busy=Wallet.reading, on_click=Wallet.show(ROW.id))
    broken = failure(
        "This did not load", Wallet.problem, button("Try again", "rotate-cw", on_click=Wallet.show(ROW.id))
    )
    facts = kv(
        ("Address", short_hash(ROW.address)),
        ("Kind", row(ROW.kind, rx.cond(ROW.is_default, tag("Default", "info"), rx.fragment()), cls="wrap")),
    )
    body = rx.fragment(facts, _silent(), rx.foreach(Wallet.places, _place))
    content = rx.cond(Wallet.problem != "", broken, rx.cond(Wallet.loading, skeleton(4), body))
    return rx.cond(ROW.id != "", card(ROW.label, content, _actions(), right=again, label="Wallet"), rx.fragment())


def _silent() -> rx.Component:
    words = note(
        rx.el.b("Not read. "),
        Wallet.silent.join(", "),
        " did not answer; what is held there is not known.",
        tone="warn",
    )
    return rx.cond(Wallet.silent.length() > 0, rx.el.div(words, class_name="inset"), rx.fragment())


def _place(place: rx.Var[Place]) -> rx.Component:
    def line(one: rx.Var[Line]) -> rx.Component:
        kind = rx.cond(one.is_native, "Gas", "Token")
        return rx.el.div(rx.el.dt(kind), rx.el.dd(amount(one.amount, one.symbol, one.decimals)), key=one.id)

    return rx.el.div(
        rx.el.h3(place.chain), rx.el.dl(rx.foreach(place.lines, line)), class_name="balances", key=place.eid.to_string()
    )


def _actions() -> rx.Component:
    treasury = button("Make default", "landmark", small=True, busy=Wallet.saving, on_click=Wallet.make_default)
    remove = button("Remove", "trash-2", small=True, on_click=Wallet.ask_to_remove(True))
    line = rx.el.div(
        rx.cond(ROW.is_ours, treasury, rx.fragment()), rx.el.span(class_name="end"), remove, class_name="card-foot"
    )
    problem = rx.cond(
        Wallet.removing, rx.fragment(), rx.el.div(problem_note(Wallet.action_problem), class_name="inset")
    )
    return rx.cond(is_admin() & ~ROW.is_default, rx.fragment(problem, line), rx.fragment())


def wallet_dialogs() -> rx.Component:
    """Draw the dialogs that make, link and remove a wallet."""
    is_linked, errors = WalletForm.kind == "linked", WalletForm.errors
    address = text_field("Address", "address", errors=errors, id="w-address", class_name="mono", placeholder="0x",
                         spell_check=False, hint="Its key stays where it is; Signum only reads it.")  # fmt: skip
    make = form_dialog(
        rx.cond(is_linked, "Link a wallet", "New server wallet"),
        rx.cond(is_linked, "An address whose key somebody else holds.",
                "Signum holds its key and signs with it. The first one becomes the treasury."),
        text_field("Label", "label", errors=errors, id="w-label", max_length=120,
                   placeholder=rx.cond(is_linked, "Custodian", "Treasury")),
        rx.cond(is_linked, address, rx.fragment()),
        is_open=WalletForm.is_open,
        on_open_change=WalletForm.close,
        on_submit=WalletForm.submit,
        problem=WalletForm.form_problem,
        busy=WalletForm.saving,
        submit=rx.cond(is_linked, "Link wallet", "Create wallet"),
    )  # fmt: skip
    remove = confirm(
        "Remove " + ROW.label,
        "It is no longer listed here. Nothing changes on any chain.",
        text(
            rx.cond(ROW.is_ours, "Its key stays with the provider of server wallets.", "Its key was never here."),
            cls="muted",
        ),
        is_open=Wallet.removing,
        on_open_change=Wallet.ask_to_remove,
        on_confirm=Wallet.remove,
        problem=Wallet.action_problem,
        busy=Wallet.saving,
        word="Remove",
    )
    return rx.fragment(make, remove)
