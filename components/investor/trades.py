"""The card of the investor's last trades."""

import reflex as rx

from components.ui.card import card
from components.ui.icon import icon
from components.ui.value import when
from state.investor.place import InvestorPlace
from state.investor.trades import LastTrades, TradeView


def trades_card() -> rx.Component:
    """Draw the last trades; nothing before the first one. Statements have all."""
    rows = rx.el.ul(rx.foreach(LastTrades.rows, _trade), class_name="list")
    foot = rx.el.span(
        "Your statements list every change of what you hold, also units that you received without a trade."
    )
    everything = rx.el.a("Statements", href="/i/" + InvestorPlace.here.id + "/documents", class_name="link small")
    return rx.cond(LastTrades.rows.length() > 0, card("Last trades", rows, right=everything, foot=foot), rx.fragment())


def _trade(one: rx.Var[TradeView]) -> rx.Component:
    return rx.el.li(
        rx.el.span(icon("check", 16), class_name="mark ok"),
        rx.el.div(
            rx.el.div(one.title, class_name="title"),
            rx.el.div(one.sum, ", ", when(one.at), class_name="below"),
            class_name="grow",
        ),
        class_name="item",
        key=one.id,
    )
