"""Wallets and what they hold."""

import reflex as rx

from app.layout import Nav, page
from components.access import for_admins
from components.csv_link import csv_of
from components.ui.box import row, split
from components.ui.button import button
from components.ui.card import page_head, panel
from components.ui.note import empty
from components.ui.status import tag
from components.ui.table import Col, pager, table, td, tr
from components.ui.value import short_hash, when
from components.wallet import wallet_card, wallet_dialogs
from state.wallets import Wallet, WalletForm, WalletRow, Wallets


@page(
    route="/o/[org_id]/wallets",
    title="Wallets",
    nav=Nav("Treasury", "wallet", 50, "w"),
    on_load=[WalletForm.close(False), Wallet.ask_to_remove(False), Wallets.load],
)
def wallets() -> rx.Component:
    """Draw the list beside the chosen wallet."""
    link = for_admins(button("Link wallet", "link", on_click=WalletForm.show("linked")))
    new = for_admins(button("New wallet", "plus", kind="primary", on_click=WalletForm.show("server")))
    listed = panel(
        table(
            "Wallets",
            [Col("Wallet"), Col("Kind"), Col("Address"), Col("Added", right=True, narrow=False)],
            Wallets.rows,
            _row,
            empty=empty("wallet", "No wallet yet", "The first server wallet becomes the treasury: it signs for the "
                        "organization and owns its tokens."),
            loading=Wallets.loading,
            problem=Wallets.problem,
            is_forbidden=Wallets.is_forbidden,
            on_retry=Wallets.reload,
        ),
        pager("Newest first", has_newer=Wallets.has_newer, has_older=Wallets.has_older, on_newer=Wallets.newer,
              on_older=Wallets.older, busy=Wallets.busy, csv=csv_of("/wallets")),
        label="Wallets",
    )  # fmt: skip
    return rx.fragment(
        page_head(
            "Wallets", "Who signs and holds for this organization; balances are read from the chains now", link, new
        ),
        rx.el.div(split(listed, wallet_card()), class_name="wide-side"),
        wallet_dialogs(),
    )


def _row(wallet: rx.Var[WalletRow]) -> rx.Component:
    name = rx.el.button(wallet.label, type="button", class_name="name trunc", on_click=Wallet.show(wallet.id))
    return tr(
        td(row(name, rx.cond(wallet.is_default, tag("Default", "info"), rx.fragment()))),
        td(wallet.kind, class_name="muted"),
        td(short_hash(wallet.address), full=True),
        td(when(wallet.created_at), right=True, narrow=False, class_name="muted"),
        key=wallet.id,
        aria_selected=rx.cond(Wallet.row.id == wallet.id, "true", "false"),
    )
