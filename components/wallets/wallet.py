"""One wallet: its balances by chain, and its actions."""

import reflex as rx

from components.core.permission import Scope, may
from components.ui.box import row, text
from components.ui.button import button, icon_button, link
from components.ui.card import card, kv
from components.ui.dialog import confirm, form_dialog
from components.ui.form import text_field
from components.ui.note import failure, note, problem_note, skeleton
from components.ui.status import tag
from components.ui.value import amount, short_hash
from state.core.session import Session
from state.wallets.list import WalletForm, Wallets, WalletState
from state.wallets.views import BalanceView, ChainBalancesView

ROW = WalletState.row


def wallet_card() -> rx.Component:
    """Draw the selected wallet with its current balances."""
    close = icon_button("x", "Close", small=True, class_name="wallet-close", on_click=WalletState.leave)
    again = button("Refresh", "rotate-cw", small=True, busy=WalletState.reading, on_click=WalletState.show(ROW.id))
    broken = failure(
        "This did not load", WalletState.problem, button("Try again", "rotate-cw", on_click=WalletState.show(ROW.id))
    )
    facts = kv(
        ("Address", short_hash(ROW.address)),
        ("Kind", row(ROW.kind, rx.cond(ROW.is_default, tag("Default", "info"), rx.fragment()), cls="wrap")),
    )
    party = kv(("Party", link(ROW.party, "/o/" + Session.org.id + "/parties?id=" + ROW.party_id)))
    facts = rx.fragment(facts, rx.cond(ROW.party != "", party, rx.fragment()))
    body = rx.fragment(facts, _unreachable(), rx.foreach(WalletState.chain_balances, _chain), _actions())
    content = rx.cond(WalletState.problem != "", broken, rx.cond(WalletState.loading, skeleton(4), body))
    shown = card(ROW.label, content, right=rx.fragment(again, close), label="Wallet", id="wallet")
    side = rx.el.div(shown, class_name=rx.cond(WalletState.asked != "", "wallet-side chosen", "wallet-side"))
    return rx.cond(ROW.id != "", side, rx.fragment())


def _unreachable() -> rx.Component:
    words = note(
        rx.el.b("Balances unavailable. "),
        WalletState.unreachable.join(", "),
        " did not respond, so balances there are unknown.",
        tone="warn",
    )
    return rx.cond(WalletState.unreachable.length() > 0, rx.el.div(words, class_name="inset"), rx.fragment())


def _chain(chain: rx.Var[ChainBalancesView]) -> rx.Component:
    def line(balance: rx.Var[BalanceView]) -> rx.Component:
        kind = rx.cond(balance.is_native, "Gas", balance.symbol)
        orders = rx.el.div(
            amount(balance.escrowed, None, balance.decimals, 2), " more in open orders", class_name="muted small"
        )
        digits = rx.cond(balance.is_native, 4, 2)
        shown = rx.el.dd(
            amount(balance.amount, rx.cond(balance.is_native, balance.symbol, ""), balance.decimals, digits),
            rx.cond(balance.escrowed != "0", orders, rx.fragment()),
        )
        return rx.el.div(rx.el.dt(kind), shown, key=balance.id)

    lines = rx.el.dl(rx.foreach(chain.balances, line))
    return rx.el.div(rx.el.h3(chain.chain), lines, class_name="balances", key=chain.eid.to_string())


def _actions() -> rx.Component:
    treasury = button(
        "Make default", "landmark", small=True, busy=WalletState.saving, on_click=WalletState.make_default
    )
    remove = button("Remove wallet", "trash-2", kind="danger", small=True, on_click=WalletState.ask_to_remove(True))
    meaning = text(
        "The default wallet is the treasury: it signs for the organization and owns its tokens.", cls="muted small"
    )
    line = rx.el.div(
        rx.cond(ROW.is_ours, rx.fragment(meaning, treasury), rx.fragment()), remove, class_name="wallet-actions"
    )
    problem = rx.cond(
        WalletState.removing, rx.fragment(), rx.el.div(problem_note(WalletState.action_problem), class_name="inset")
    )
    return rx.cond(
        may(Scope.WALLETS_WRITE), rx.fragment(problem, rx.cond(ROW.is_default, rx.fragment(), line)), rx.fragment()
    )


def wallet_dialogs() -> rx.Component:
    """Draw the dialogs that create, link and remove a wallet."""
    is_linked, errors = WalletForm.kind == "linked", WalletForm.errors
    address = text_field("Address", "address", errors=errors, id="w-address", class_name="mono", placeholder="0x",
                         spell_check=False, hint="Signum reads its balances and never holds its key.")  # fmt: skip
    is_first = Wallets.rows.length() == 0
    held = "Signum holds its key and signs with it. It works on every enabled chain and needs gas there to sign."
    made = rx.cond(is_first, held + " The first wallet becomes the treasury.", held)
    linked = "An address whose key is held outside Signum. It holds and receives tokens. It cannot sign here."
    make = form_dialog(
        rx.cond(is_linked, "Link a wallet", "New server wallet"),
        rx.cond(is_linked, linked, made),
        text_field(
            "Label", "label", errors=errors, id="w-label", max_length=120,
            placeholder=rx.cond(is_linked, "Custodian", rx.cond(is_first, "Treasury", "Custody account")),
        ),
        rx.cond(is_linked, address, rx.fragment()),
        form=WalletForm,
        submit=rx.cond(is_linked, "Link wallet", "Create wallet"),
    )  # fmt: skip
    remove = confirm(
        "Remove " + ROW.label,
        "Removes it from this list. Nothing changes on any chain.",
        text(
            rx.cond(ROW.is_ours, "Its key stays with the server wallet provider.", "Signum never held its key."),
            cls="muted",
        ),
        is_open=WalletState.removing,
        on_open_change=WalletState.ask_to_remove,
        on_confirm=WalletState.remove,
        problem=WalletState.action_problem,
        busy=WalletState.saving,
        word="Remove wallet",
    )
    return rx.fragment(make, remove)
