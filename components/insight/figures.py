"""The figures at the top of the overview, the chart below, and the assets behind both."""

import reflex as rx

from components.core.permission import Scope, allowed
from components.ui.button import button, link_button
from components.ui.card import card
from components.ui.charts_over_time import spark, stack_chart
from components.ui.note import empty, failure, forbidden
from components.ui.table import Col, name_link, table, td, tr
from components.ui.tabs import filters
from components.ui.value import amount, money
from state.core.session import Session
from state.insight.overview import InsightState
from state.insight.views import AssetRow, FigureView

CHARTS = [("value", "Issued value"), ("holders", "Holders")]


def figures() -> rx.Component:
    """Draw the figures that the user may read, or why none was read."""
    again = button("Try again", "rotate-cw", on_click=InsightState.load)
    broken = rx.cond(
        InsightState.is_forbidden,
        forbidden(InsightState.problem),
        failure("The figures did not load", InsightState.problem, again),
    )
    drawn = rx.el.div(rx.foreach(InsightState.figures, _figure), class_name="grid-4 figures")
    return rx.cond(InsightState.problem != "", rx.el.div(broken, class_name="card"), drawn)


def _figure(figure: rx.Var[FigureView]) -> rx.Component:
    unit = rx.cond(figure.unit != "", rx.el.span(figure.unit, class_name="note-text unit-text"), rx.fragment())
    whole = rx.cond(figure.exact != "", figure.exact, figure.value).to(str)
    return rx.el.a(
        rx.el.span(figure.label, class_name="label"),
        rx.el.span(rx.el.span(figure.value, title=whole), unit, class_name="value"),
        rx.el.span(figure.change, class_name="muted small"),
        rx.el.span(spark(figure.weeks, bars=figure.label == "Trades in 30 days"), class_name="chart"),
        rx.el.span(figure.foot, class_name="muted small foot"),
        href=figure.href,
        class_name="card tile",
        key=figure.label,
    )


def chart_card() -> rx.Component:
    """Draw issued value and holders over 52 weeks, stacked by asset."""
    state, chart = InsightState, InsightState.drawn
    is_value = state.chart == "value"
    drawn = stack_chart(
        chart,
        rx.cond(is_value, "Issued value by week", "Holders by week"),
        first="Week until",
        total="All assets",
    )
    new = allowed(
        Scope.ASSETS_WRITE,
        link_button("Issue an asset", "/o/" + Session.org.id + "/assets/new", "landmark", kind="primary"),
    )
    none = empty("chart-area", "Nothing issued yet", "Value and holders of your assets appear here, week by week.", new)
    price = link_button("Markets", "/o/" + Session.org.id + "/markets", "store")
    worthless = empty(
        "chart-area", "No asset has a price yet",
        "An asset counts with the price of its last trade, or with its nominal value before.", price,
    )  # fmt: skip
    body = rx.cond(state.is_issued, rx.cond(is_value & (chart.series.length() == 0), worthless, drawn), none)
    picked = rx.el.div(filters("Chart", state.chart, state.show_chart, CHARTS), class_name="segmented")
    return rx.cond(
        state.has_issuance,
        card("Last 52 weeks", rx.el.div(body, class_name="chart-space"), right=picked, class_name="year-card"),
        rx.fragment(),
    )


def assets_card() -> rx.Component:
    """Draw the assets behind the figures; every number opens its list."""
    none = empty("landmark", "No assets yet", "Each asset appears here with its supply, price, value and holders.")
    rows = table(
        "Assets by value",
        [
            Col("Asset"),
            Col("Supply", right=True),
            Col("Price", right=True),
            Col("Value", right=True),
            Col("Holders", right=True),
            Col("Trades in 30 days", right=True),
        ],
        InsightState.assets,
        _asset,
        empty=none,
        loading=InsightState.loading,
        problem=rx.Var.create(""),
        two=True,
    )
    return rx.cond(
        InsightState.has_issuance, card("By asset", rows, id="by-asset", class_name="by-asset"), rx.fragment()
    )


def _asset(asset: rx.Var[AssetRow]) -> rx.Component:
    place = "/o/" + Session.org.id + "/assets/" + asset.id
    decimals, currency = InsightState.currency_decimals, InsightState.currency

    def opens(tab: str, *shown: rx.Component | rx.Var[int]) -> rx.Component:
        return rx.el.a(*shown, href=place + "?tab=" + tab, class_name="link plain")

    none = rx.el.span("none", class_name="muted")
    price = rx.cond(asset.price != "", opens("markets", money(asset.price, currency, decimals, 6)), none)
    change = rx.cond(asset.change != "", rx.el.div(asset.change, class_name="muted small"), rx.fragment())
    value = rx.cond(asset.value != "", opens("overview", amount(asset.value, currency, decimals, 2)), none)
    return tr(
        td(name_link(asset.name, place), rx.el.div(asset.symbol, class_name="muted small"), full=True),
        td(opens("chains", amount(asset.supply, asset.symbol, asset.decimals, 2)), right=True, label="Supply"),
        td(rx.el.div(price, rx.el.div(asset.basis, class_name="muted small")), right=True, label="Price"),
        td(rx.el.div(value, change), right=True, label="Value"),
        td(
            rx.el.div(opens("holders", asset.holders), rx.el.div(asset.holders_note, class_name="muted small")),
            right=True,
            label="Holders",
        ),
        td(opens("markets", asset.trades), right=True, label="Trades in 30 days"),
        class_name="facts",
        key=asset.id,
    )
