"""Linked wallets: the account's list and the dialog that unlinks one."""

import reflex as rx

from components.ui.button import button
from components.ui.card import card, item, items
from components.ui.dialog import confirm
from components.ui.note import empty, failure, skeleton
from components.ui.value import short_hash, when
from state.users.linked_wallets import LinkedWalletRemoval, LinkedWallets, LinkedWalletView


def linked_wallets_card() -> rx.Component:
    """Draw the wallets that can sign in to the account."""
    none = empty("wallet", "No linked wallets", "Wallets that can sign in to your account appear here.")
    rows = items(rx.foreach(LinkedWallets.rows, _row), label="Linked wallets")
    return card(
        "Linked wallets",
        rx.cond(
            LinkedWallets.problem != "",
            failure("Your wallets did not load", LinkedWallets.problem),
            rx.cond(LinkedWallets.loading, skeleton(1), rx.cond(LinkedWallets.rows.length() > 0, rows, none)),
        ),
    )


def _row(wallet: rx.Var[LinkedWalletView]) -> rx.Component:
    unlink = button(
        "Unlink", small=True, on_click=LinkedWalletRemoval.ask(wallet.id), aria_label="Unlink " + wallet.address
    )
    linked = rx.el.span("Signs you in without your password. Linked ", when(wallet.created_at))
    return item(short_hash(wallet.address), linked, unlink, sign="wallet", key=wallet.id)


def unlink_dialog() -> rx.Component:
    """Draw the confirmation before a wallet is unlinked."""
    return confirm(
        "Unlink wallet",
        "The wallet can no longer sign in to your account. Programs signed in to your account are signed out. "
        "To link the wallet again, sign a message with it.",
        rx.el.p(LinkedWalletRemoval.about.address, class_name="mono break"),
        form=LinkedWalletRemoval,
        word="Unlink",
    )
