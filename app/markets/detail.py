"""The page of a market: its deployment while it runs, then its trading."""

import reflex as rx

from app.shell.layout import page
from components.core.permission import Scope, allowed, lacking, may
from components.markets.deployment import deployment
from components.markets.trading import trading
from components.orders.form import order_dialog
from components.ui.button import button, link_button
from components.ui.card import page_head
from components.ui.icon import icon
from components.ui.note import absent, page_skeleton
from components.ui.status import badge
from components.ui.tabs import tabs
from state.core.session import Session
from state.markets.detail import MarketState
from state.markets.prices import PricesState
from state.orders.fix import OrderFix
from state.orders.form import OrderForm
from state.orders.list import OrdersState


@page(
    route="/o/[org_id]/markets/[market_id]",
    title="Market",
    under="/o/[org_id]/markets",
    crumbs=[
        ("Markets", "/o/" + Session.org.id + "/markets"),
        (rx.cond(MarketState.market.pair != "", MarketState.market.pair, "Market"), ""),
    ],
    on_load=[OrderForm.load, OrderFix.rest, OrdersState.arrive, MarketState.load],
    in_url=[MarketState, PricesState, OrdersState],
)
def market() -> rx.Component:
    """Draw the market, or why it cannot be shown."""
    back = link_button("Markets", "/o/" + Session.org.id + "/markets", "arrow-left")
    broken = absent("market", MarketState, MarketState.reload, back)
    return rx.cond(
        MarketState.problem != "", broken, rx.cond(MarketState.market.id != "", _whole(), page_skeleton())
    )  # fmt: skip


def _who() -> rx.Component:
    """Say who can trade here, and what those who change the rules can do with orders."""
    by_rules = rx.el.div(
        icon("info", 13),
        rx.el.span("When you change the asset's rules, you can cancel the orders of investors who become ineligible."),
        class_name="who-can",
    )
    return rx.fragment(
        lacking(Scope.TRANSFERS_WRITE, "place or cancel orders"),
        rx.cond(may(Scope.ASSETS_WRITE) & ~may(Scope.TRANSFERS_WRITE), by_rules, rx.fragment()),
    )


def _whole() -> rx.Component:
    market = MarketState.market
    is_open = market.status == "active"
    place = rx.cond(
        is_open,
        allowed(
            Scope.TRANSFERS_WRITE,
            button("Place order", "plus", kind="primary", on_click=[OrderFix.rest, OrderForm.show(True)]),
        ),
        rx.fragment(),
    )
    trades = is_open | (market.status == "halted")
    return rx.fragment(
        page_head(
            market.pair,
            rx.el.span(market.asset, " on ", market.chain),
            link_button("View asset", "/o/" + Session.org.id + "/assets/" + market.asset_id, "landmark"),
            place,
            badge=badge(market.status),
            who=rx.cond(trades, _who(), rx.fragment()),
        ),
        rx.cond(
            trades,
            tabs(
                "Market",
                MarketState.tab,
                MarketState.go,
                ("trade", "Trading", rx.el.div(trading(), on_mount=OrdersState.load)),
                ("deployment", "Deployment", deployment()),
            ),
            deployment(),
        ),
        order_dialog(),
    )
