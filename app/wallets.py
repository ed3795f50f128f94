"""The page of wallets and their balances."""

import reflex as rx

from app.shell.layout import Nav, page
from app.shell.sidebar import Action
from components.core.csv_link import csv_of
from components.core.permission import Scope, allowed, lacking
from components.ui.box import row, split
from components.ui.button import button, link
from components.ui.card import page_head, panel
from components.ui.form import search_box
from components.ui.note import empty
from components.ui.status import tag
from components.ui.table import Col, list_table, pager, td, toolbar, tr
from components.ui.value import amount, no_value, short_hash, when
from components.wallets.wallet import wallet_card, wallet_dialogs
from state.core.session import Session
from state.wallets.list import WalletForm, Wallets, WalletState
from state.wallets.views import HoldingView, WalletView


@page(
    route="/o/[org_id]/wallets",
    title="Wallets",
    nav=Nav(
        "Treasury",
        "wallet",
        50,
        "w",
        actions=[
            Action("New wallet", Scope.WALLETS_WRITE, WalletForm.begin("server")),
            Action("Link wallet", Scope.WALLETS_WRITE, WalletForm.begin("linked")),
        ],
    ),
    on_load=[WalletForm.show(False), WalletState.ask_to_remove(False), Wallets.load],
    in_url=[Wallets, WalletState],
)
def wallets() -> rx.Component:
    """Draw the list beside the selected wallet."""
    link = allowed(Scope.WALLETS_WRITE, button("Link wallet", "link", on_click=WalletForm.begin("linked")))
    new = allowed(
        Scope.WALLETS_WRITE, button("New wallet", "plus", kind="primary", on_click=WalletForm.begin("server"))
    )
    first = empty(
        "wallet",
        "No wallets yet",
        "The first server wallet becomes the treasury: it signs for the organization and owns its tokens.",
    )
    listed = panel(
        toolbar(search_box("Find a wallet", Wallets.words, on_change=Wallets.search.debounce(250))),
        list_table(
            "Wallets",
            [Col("Wallet", sort="label"), Col("Address"), Col("Tokens", right=True),
             Col("Added", right=True, sort="created_at")],
            Wallets,
            _row,
            empty=rx.cond(Wallets.words == "", first, empty("search", "No wallets match", "Try another label.")),
            two=True,
        ),
        pager("Treasury first, then the newest", Wallets, csv=csv_of("/wallets", q=Wallets.words)),
        label="Wallets",
    )  # fmt: skip
    return rx.fragment(
        page_head(
            "Wallets",
            "Wallets of this organization and what they hold",
            link,
            new,
            who=lacking(Scope.WALLETS_WRITE, "create or link wallets"),
        ),
        rx.el.div(split(listed, wallet_card()), class_name="wide-side"),
        wallet_dialogs(),
    )


def _row(wallet: rx.Var[WalletView]) -> rx.Component:
    name = rx.el.button(wallet.label, type="button", class_name="name trunc", on_click=WalletState.choose(wallet.id))
    party = rx.cond(
        wallet.party != "",
        rx.fragment(" of ", link(wallet.party, "/o/" + Session.org.id + "/parties?id=" + wallet.party_id)),
        rx.fragment(),
    )
    return tr(
        td(
            row(name, rx.cond(wallet.is_default, tag("Default", "info"), rx.fragment())),
            rx.el.div(wallet.kind, party, class_name="muted small"),
            full=True,
        ),
        td(short_hash(wallet.address), full=True),
        td(
            rx.cond(wallet.holdings.length() > 0, rx.el.div(rx.foreach(wallet.holdings, _held)), no_value("none")),
            right=True,
            label="Tokens",
            class_name="if-any",
        ),
        td(when(wallet.created_at), right=True, class_name="muted", label="Added"),
        key=wallet.id,
        class_name="wallet facts",
        aria_selected=rx.cond(WalletState.row.id == wallet.id, "true", "false"),
    )


def _held(holding: rx.Var[HoldingView]) -> rx.Component:
    return rx.el.div(amount(holding.amount, holding.symbol, holding.decimals, digits=2), key=holding.symbol)
