"""The page of transfers: the list, the form of a new one, and one transfer's history in a drawer."""

from typing import Any

import reflex as rx

from app.shell.layout import Nav, page
from app.shell.sidebar import Action
from components.core.csv_link import csv_of
from components.core.permission import Scope, allowed, lacking
from components.core.saved_views import saved_views
from components.requests.progress import request_progress
from components.transfers.form import transfer_dialog
from components.ui.box import col, row
from components.ui.button import button, link
from components.ui.card import kv, page_head, panel
from components.ui.dialog import drawer
from components.ui.icon import icon
from components.ui.note import empty, note
from components.ui.status import badge, status
from components.ui.table import Col, list_table, pager, td, toolbar, tr
from components.ui.tabs import filters
from components.ui.value import amount, short_hash, when
from state.core.session import Session
from state.transfers.detail import TransferState
from state.transfers.form import NewTransfer
from state.transfers.list import TransfersState, TransferView

STATUSES = [
    ("", "All"), ("pending", "Pending"), ("submitting", "Sending"), ("confirmed", "Confirmed"), ("failed", "Failed"),
]  # fmt: skip


@page(
    route="/o/[org_id]/transfers", title="Transfers",
    nav=Nav(
        "Treasury", "send", 51, "f",
        actions=[Action("New transfer", Scope.TRANSFERS_WRITE, NewTransfer.show(True), words="send tokens")],
    ),
    on_load=[NewTransfer.enter, TransferState.hide, TransfersState.load, TransferState.load],
    in_url=[TransfersState, TransferState],
)  # fmt: skip
def transfers() -> rx.Component:
    """Draw the list, and the selected transfer in a drawer."""
    state = TransfersState
    none = rx.cond(
        state.status == "",
        empty("send", "No transfers yet", "Send tokens from a server wallet. Every rule is checked first."),
        empty("filter", "No transfers match these filters"),
    )
    who = lacking(Scope.TRANSFERS_WRITE, "send tokens")
    main = rx.el.div(
        page_head(
            "Transfers", "Tokens sent from your wallets, under the rules of each asset", saved_views(), _new(), who=who
        ),
        panel(
            toolbar(filters("Status", state.status, state.filter_status, STATUSES)),
            list_table(
                "Transfers",
                [Col("Asset"), Col("Status"), Col("Amount", right=True), Col("From and to"), Col("Chain", narrow=False),
                 Col("Sent", sort="created_at")],
                state,
                _row,
                empty=none,
                two=True,
            ),
            pager("Newest first, 50 per page", state, csv=csv_of("/transfers", status=state.status)),
            label="Transfers",
        ),
        class_name=rx.cond(TransferState.transfer.id != "", "transfers with-drawer", "transfers"),
    )  # fmt: skip
    return rx.fragment(main, _story(), transfer_dialog())


def _new() -> rx.Component:
    return allowed(
        Scope.TRANSFERS_WRITE, button("New transfer", "plus", kind="primary", on_click=NewTransfer.show(True))
    )


def _row(transfer: rx.Var[TransferView]) -> rx.Component:
    open_ = rx.el.button(
        transfer.symbol,
        type="button",
        class_name="name",
        aria_label="Show the " + transfer.status.replace("_", " ") + " transfer of " + transfer.symbol,
        on_click=TransferState.show(transfer.id),
    )  # fmt: skip
    return tr(
        td(open_),
        td(status(transfer.status)),
        td(
            amount(transfer.amount, transfer.symbol, transfer.decimals, 2),
            right=True,
            class_name="strong lead",
            label="Amount",
        ),
        td(
            row(
                _who(transfer.sender_name, transfer.sender),
                row(icon("arrow-right", 13), _who(transfer.receiver_name, transfer.receiver), cls="tight nowrap"),
                cls="wrap tight",
            ),
            full=True,
        ),
        td(transfer.chain, narrow=False, class_name="muted aside-hidden"),
        td(when(transfer.created_at), class_name="muted", label="Sent"),
        key=transfer.id,
        aria_selected=rx.cond(TransferState.transfer.id == transfer.id, "true", "false"),
    )


def _who(name: Any, address: Any) -> rx.Component:
    return rx.cond(name != "", rx.el.span(name), short_hash(address))


def _story() -> rx.Component:
    transfer, request = TransferState.transfer, TransferState.request
    failed = note(rx.el.b("The transfer failed. "), transfer.failure, tone="bad")
    by = rx.fragment(rx.el.dt("Requested by"), rx.el.dd(request.created_by))
    view = link("View request", "/o/" + Session.org.id + "/requests?id=" + transfer.request_id)
    facts = kv(
        ("Amount", amount(transfer.amount, transfer.symbol, transfer.decimals)),
        ("Chain", transfer.chain),
        ("From", col(_named(transfer.sender_name), short_hash(transfer.sender), cls="none")),
        ("To", col(_named(transfer.receiver_name), short_hash(transfer.receiver), cls="none")),
        ("Transaction", short_hash(transfer.tx_hash, "transaction", transfer.tx_url)),
        rx.cond(request.created_by != "", by, rx.fragment()),
        ("Requested", when(transfer.created_at)),
        rx.cond(transfer.request_id != "", rx.fragment(rx.el.dt("Request"), rx.el.dd(view)), rx.fragment()),
    )
    head = row(rx.el.h3("Details"), rx.el.span(badge(transfer.status), class_name="end"), cls="section-line")
    progress = request_progress(TransferState)
    return drawer(
        rx.cond(
            (transfer.sender_name != "") & (transfer.receiver_name != ""),
            transfer.sender_name + " to " + transfer.receiver_name,
            "Transfer of " + transfer.symbol,
        ),
        amount(transfer.amount, transfer.symbol, transfer.decimals),
        col(
            rx.cond((transfer.failure != "") & (request.problem == ""), failed, rx.fragment()),
            rx.el.div(head, facts),
            rx.cond(request.steps.length() > 0, progress, rx.fragment()),
            cls="wide",
        ),
        is_open=transfer.id != "",
        on_close=TransferState.hide,
        foot=(
            link("View asset", "/o/" + Session.org.id + "/assets/" + transfer.asset_id),
            rx.el.span(class_name="end"),
            button("Close", on_click=TransferState.hide),
        ),
    )


def _named(name: Any) -> rx.Component:
    return rx.cond(name != "", rx.el.span(name), rx.fragment())
