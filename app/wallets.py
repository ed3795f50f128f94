"""The page of wallets and their balances."""

import reflex as rx

from app.shell.layout import Nav, page
from components.core.csv_link import csv_of
from components.core.permission import Scope, allowed, lacking
from components.ui.box import row, split
from components.ui.button import button
from components.ui.card import page_head, panel
from components.ui.note import empty
from components.ui.status import tag
from components.ui.table import Col, list_table, pager, td, tr
from components.ui.value import short_hash, when
from components.wallets.wallet import wallet_card, wallet_dialogs
from state.wallets.list import WalletForm, Wallets, WalletState
from state.wallets.views import WalletView


@page(
    route="/o/[org_id]/wallets",
    title="Wallets",
    nav=Nav("Treasury", "wallet", 50, "w"),
    on_load=[WalletForm.show(False), WalletState.ask_to_remove(False), Wallets.load],
    in_url=[Wallets, WalletState],
)
def wallets() -> rx.Component:
    """Draw the list beside the selected wallet."""
    link = allowed(Scope.WALLETS_WRITE, button("Link wallet", "link", on_click=WalletForm.begin("linked")))
    new = allowed(
        Scope.WALLETS_WRITE, button("New wallet", "plus", kind="primary", on_click=WalletForm.begin("server"))
    )
    listed = panel(
        list_table(
            "Wallets",
            [Col("Wallet", sort="label"), Col("Address"),
             Col("Added", right=True, narrow=False, sort="created_at")],
            Wallets,
            _row,
            empty=empty("wallet", "No wallets yet", "The first server wallet becomes the treasury: it signs for the "
                        "organization and owns its tokens."),
        ),
        pager("Treasury first, then the newest", Wallets, csv=csv_of("/wallets")),
        label="Wallets",
    )  # fmt: skip
    return rx.fragment(
        page_head(
            "Wallets",
            "Wallets of this organization and their balances",
            link,
            new,
            who=lacking(Scope.WALLETS_WRITE, "create or link wallets"),
        ),
        rx.el.div(split(listed, wallet_card()), class_name="wide-side"),
        wallet_dialogs(),
    )


def _row(wallet: rx.Var[WalletView]) -> rx.Component:
    name = rx.el.button(wallet.label, type="button", class_name="name trunc", on_click=WalletState.choose(wallet.id))
    return tr(
        td(row(name, rx.cond(wallet.is_default, tag("Default", "info"), rx.fragment()),
               rx.cond(wallet.is_ours, rx.fragment(), tag(wallet.kind)))),
        td(short_hash(wallet.address), full=True),
        td(when(wallet.created_at), right=True, narrow=False, class_name="muted"),
        key=wallet.id,
        aria_selected=rx.cond(WalletState.row.id == wallet.id, "true", "false"),
    )  # fmt: skip
