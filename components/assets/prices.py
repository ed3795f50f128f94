"""Prices and volume of an asset across its markets: figures that open their lists, and the chart with its table."""

from typing import Any

import reflex as rx

from components.assets.tabs import ASSET
from components.core.permission import Scope, allowed
from components.ui.button import button, link, link_button
from components.ui.card import card
from components.ui.charts_over_time import price_chart
from components.ui.note import empty, failure, skeleton
from components.ui.tabs import filters
from components.ui.value import amount, money
from state.assets.detail import AssetState
from state.assets.prices import AssetPricesState
from state.core.session import Session

PERIODS = [("90", "90 days"), ("365", "1 year"), ("all", "All time")]


def prices() -> rx.Component:
    """Draw the card, or what to do where the asset has no market."""
    state = AssetPricesState
    again = button("Try again", "rotate-cw", on_click=state.load)
    untraded = empty("chart-candlestick", "No trades in this period", "Each day with trades appears here.")
    by = rx.cond(state.period == "all", "Prices by month", "Prices by day")
    drawn = rx.cond(
        state.is_traded,
        price_chart(state.chart, by),
        rx.cond(state.loading, skeleton(3), untraded),
    )
    body = rx.fragment(_figures(), rx.el.div(drawn, class_name="price-space"), _omitted())
    shown = rx.cond((state.markets == 0) & ~state.loading, _none(), body)
    return card(
        rx.cond(state.currency != "", "Price in " + state.currency, "Price").to(str),
        rx.cond(state.problem != "", failure("The prices did not load", state.problem, again), shown),
        right=rx.cond(
            state.markets > 0,
            rx.el.div(filters("Period", state.period, state.choose, PERIODS), class_name="segmented"),
            rx.fragment(),
        ),
        label="Price and volume",
        on_mount=state.load,
    )


def _none() -> rx.Component:
    new = "/o/" + Session.org.id + "/markets/new?asset=" + AssetState.asset.id
    deploy = allowed(Scope.ASSETS_WRITE, link_button("Deploy market", new, "store"))
    return empty("chart-candlestick", "No market yet", "Deploy a market, so that the asset gets a price.", deploy)


def _figures() -> rx.Component:
    """Draw the change of the last price, and the range, the volume and the trades of the period."""
    state, asset = AssetPricesState, AssetState.asset
    trades = ASSET + asset.id + "?tab=activity&kind=trade"
    none = rx.el.span("none", class_name="muted")
    price = money(state.price, state.currency, state.decimals, 6)
    moved = rx.fragment("from ", money(state.before, decimals=state.decimals, digits=6), " to ", price)
    low, high = (
        money(state.low, decimals=state.decimals, digits=6),
        money(state.high, state.currency, state.decimals, 6),
    )
    figures = [
        (
            "Change in 30 days",
            rx.cond(state.change != "", link(state.change, trades), none),
            rx.cond(state.change != "", moved, "no trade 30 days ago or earlier"),
        ),
        ("Lowest and highest", rx.cond(state.is_traded, link(rx.fragment(low, " – ", high), trades), none), _period()),
        (
            "Volume",
            link(amount(state.volume, asset.symbol, asset.decimals), trades),
            money(state.value, state.currency, state.decimals),
        ),
        ("Trades", link(state.trades, trades), _period()),
    ]
    return rx.el.dl(*[_figure(*one) for one in figures], class_name="strip figures")


def _figure(name: str, value: Any, below: Any) -> rx.Component:
    return rx.el.div(
        rx.el.dt(name, class_name="muted small"),
        rx.el.dd(value, class_name="of"),
        rx.el.dd(below, class_name="muted small below"),
    )


def _period() -> rx.Component:
    words = [(value, f"in {name}" if value != "all" else "since the first trade") for value, name in PERIODS]
    return rx.match(AssetPricesState.period, *words, "")


def _omitted() -> rx.Component:
    state = AssetPricesState
    words = rx.cond(
        state.omitted_markets == 1, "1 market has another currency, and does not count.",
        state.omitted_markets.to_string() + " markets have other currencies, and do not count.",
    )  # fmt: skip
    return rx.cond(state.omitted_markets > 0, rx.el.div(words, class_name="card-foot"), rx.fragment())
