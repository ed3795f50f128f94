"""Linked wallets: the account's list and the dialog that unlinks one."""

import reflex as rx

from components.ui.button import button
from components.ui.card import card, item, items
from components.ui.dialog import confirm
from components.ui.note import empty, failure, skeleton
from components.ui.value import short_hash, when
from state.linked_wallets import LinkedWallet, LinkedWallets, WalletUnlinking


def linked_wallets_card() -> rx.Component:
    """Draw the wallets that sign the person in."""
    none = empty("wallet", "No linked wallets", "A wallet that you link can sign in to your account.")
    rows = items(rx.foreach(LinkedWallets.rows, _row), label="Linked wallets")
    return card(
        "Linked wallets",
        rx.cond(
            LinkedWallets.problem != "",
            failure("Your wallets did not load", LinkedWallets.problem),
            rx.cond(LinkedWallets.loading, skeleton(1), rx.cond(LinkedWallets.rows.length() > 0, rows, none)),
        ),
    )


def _row(wallet: rx.Var[LinkedWallet]) -> rx.Component:
    unlink = button(
        "Unlink", small=True, on_click=WalletUnlinking.ask(wallet.id), aria_label="Unlink " + wallet.address
    )
    linked = rx.el.span("Signs you in without your password. Linked ", when(wallet.created_at))
    return item(short_hash(wallet.address), linked, unlink, sign="wallet", key=wallet.id)


def unlink_dialog() -> rx.Component:
    """Draw the question before a wallet is unlinked."""
    return confirm(
        "Unlink wallet",
        "The wallet no longer signs you in. Programs that are signed in to your account are signed out. "
        "To link the wallet again, sign a message with it.",
        rx.el.p(WalletUnlinking.about.address, class_name="mono break"),
        is_open=WalletUnlinking.is_open,
        on_open_change=WalletUnlinking.show,
        on_confirm=WalletUnlinking.confirm,
        problem=WalletUnlinking.form_problem,
        busy=WalletUnlinking.saving,
        word="Unlink",
    )
