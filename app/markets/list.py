"""The list of markets."""

import reflex as rx

from app.shell.layout import Nav, page
from app.shell.sidebar import Action
from components.core.csv_link import csv_of
from components.core.permission import Scope, allowed, lacking
from components.core.saved_views import saved_views
from components.ui.button import link_button
from components.ui.card import page_head, panel
from components.ui.note import empty
from components.ui.status import status
from components.ui.table import Col, list_table, name_link, pager, td, toolbar, tr
from components.ui.tabs import counted, filters
from components.ui.value import amount, money, when
from state.core.session import Session
from state.markets.list import MarketsState, MarketView

HREF = "/o/" + Session.org.id + "/markets"
STATUSES = [
    ("", "All"), ("active", "Active"), ("pending_bridge", "Bridging"), ("deploying", "Deploying"),
    ("halted", "Halted"), ("failed", "Failed"),
]  # fmt: skip


@page(
    route="/o/[org_id]/markets", title="Markets",
    nav=Nav("Issuance", "store", 31, "m", actions=[Action("Deploy market", Scope.ASSETS_WRITE, path="/new")]),
    on_load=[MarketsState.load],
    in_url=[MarketsState],
)  # fmt: skip
def markets() -> rx.Component:
    """Draw the list of markets."""
    state = MarketsState
    new = allowed(Scope.ASSETS_WRITE, link_button("Deploy market", HREF + "/new", "store", kind="primary"))
    first = empty("store", "No markets yet", "A market is an on-chain order book for an asset, under its rules.")
    none = empty("filter", "No markets have this status")
    return rx.fragment(
        page_head(
            "Markets",
            "On-chain order books. Every order is checked against the rules",
            saved_views(),
            new,
            who=lacking(Scope.ASSETS_WRITE, "deploy markets"),
        ),
        panel(
            toolbar(filters("Status", state.status, state.filter_status, counted(STATUSES, state))),
            list_table(
                "Markets",
                [
                    Col("Market"),
                    Col("Status"),
                    Col("Chain"),
                    Col("Last price", right=True),
                    Col("Volume", right=True),
                    Col("Fees"),
                    Col("Created", narrow=False, sort="created_at"),
                ],
                state,
                _row,
                empty=rx.cond(state.status == "", first, none),
                two=True,
            ),
            pager("Newest first, 50 per page", state, csv=csv_of("/markets", status=state.status)),
            label="Markets",
        ),
    )


def _row(market: rx.Var[MarketView]) -> rx.Component:
    href = HREF + "/" + market.id + "?asset=" + market.asset_id
    why = rx.cond(market.why != "", rx.el.div(market.why, class_name="muted small clamp"), rx.fragment())
    traded = market.price != ""
    price = rx.cond(traded, money(market.price, market.quote, market.quote_decimals, 6), _untraded())
    volume = rx.cond(traded, amount(market.volume, market.symbol, market.decimals), _untraded())
    return tr(
        td(rx.el.div(name_link(market.pair, href)), rx.el.div(market.asset, class_name="muted small trunc")),
        td(status(market.status), why),
        td(market.chain, label="Chain"),
        td(price, right=True, class_name="num", label="Last price"),
        td(volume, right=True, class_name="num", label="Volume"),
        td(market.fees, class_name="num muted", full=True, label="Fees"),
        td(when(market.created_at), narrow=False, class_name="muted"),
        key=market.id,
        class_name="facts",
    )


def _untraded() -> rx.Component:
    return rx.el.span("–", class_name="muted")
