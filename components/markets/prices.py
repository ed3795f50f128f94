"""Prices and volume of a market over time."""

import reflex as rx

from components.ui.button import button
from components.ui.card import card
from components.ui.charts_over_time import price_chart
from components.ui.note import empty, failure
from components.ui.tabs import filters
from state.markets.detail import MarketState
from state.markets.prices import PricesState

PERIODS = [("30", "30 days"), ("90", "90 days"), ("365", "1 year")]


def prices() -> rx.Component:
    """Draw the chart with its periods."""
    state = PricesState
    none = empty("chart-candlestick", "No trades in this period", "Each day with trades appears here.")
    again = button("Try again", "rotate-cw", on_click=state.load)
    chart = price_chart(state.chart, "Prices by day")
    drawn = rx.cond(state.is_traded, chart, rx.cond(state.loading, rx.fragment(), none))
    return card(
        rx.fragment("Price in ", MarketState.market.quote),
        rx.el.div(
            rx.cond(state.problem != "", failure("The prices did not load", state.problem, again), drawn),
            class_name="price-space",
        ),
        right=rx.el.div(filters("Period", state.period, state.choose, PERIODS), class_name="segmented"),
        label="Price",
    )
