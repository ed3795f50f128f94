"""Linked wallets: the account's list, and the dialogs that link and unlink one."""

import reflex as rx

from components.ui.button import button
from components.ui.card import card, item, items
from components.ui.dialog import confirm, dialog
from components.ui.note import failure, problem_note, skeleton
from components.ui.value import short_hash, when
from components.users.factors import SignWithWallet, password_dialog
from state.users.linked_wallets import LinkedWalletRemoval, LinkedWallets, LinkedWalletView
from state.users.wallet_link import WalletLink


def linked_wallets_card() -> rx.Component:
    """Draw the wallets that can sign in to the account."""
    none = rx.el.p(
        rx.el.b("No linked wallets. "),
        "Wallets with which you sign in, or sign orders as an investor, appear here.",
        class_name="card-body muted",
    )
    rows = items(rx.foreach(LinkedWallets.rows, _row), label="Linked wallets")
    return card(
        "Linked wallets",
        rx.cond(
            LinkedWallets.problem != "",
            failure("Your wallets did not load", LinkedWallets.problem),
            rx.cond(LinkedWallets.loading, skeleton(1), rx.cond(LinkedWallets.rows.length() > 0, rows, none)),
        ),
        right=button("Link wallet", "link", small=True, on_click=WalletLink.show(True)),
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


def link_dialogs() -> rx.Component:
    """Draw the dialogs that link the browser's wallet."""
    return rx.fragment(_sign(), _password())


def _sign() -> rx.Component:
    about = rx.cond(
        WalletLink.step == "wallet",
        "Your account has no password. Sign with a wallet that is linked already. Signing is free.",
        "Sign a message to show that the wallet is yours. Signing is free, and gives Signum no access to it.",
    )
    sign = SignWithWallet.create(
        message=WalletLink.message,
        label=rx.cond(WalletLink.step == "wallet", "Sign with a linked wallet", "Sign with wallet"),
        on_account=WalletLink.choose_wallet,
        on_signature=WalletLink.give_signature,
    )
    return dialog(
        "Link a wallet",
        about,
        sign,
        problem_note(WalletLink.form_problem),
        is_open=(WalletLink.step == "sign") | (WalletLink.step == "wallet"),
        on_open_change=WalletLink.show,
        width="460px",
    )


def _password() -> rx.Component:
    why = "Linking a wallet adds a way to sign in, so it requires your password."
    return password_dialog(WalletLink, why, "Link wallet", name="link-password")
