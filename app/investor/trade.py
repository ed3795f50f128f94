"""The investor's trading page."""

import reflex as rx

from app.investor.shell import HOME, investor_page
from components.investor.signing import signing_sheet
from components.investor.trade import market_card, order_card
from components.ui.button import button
from components.ui.card import card
from components.ui.note import empty, failure, page_skeleton
from state.investor.signing import Signing
from state.investor.trade import InvestorTrade


@investor_page(route=f"{HOME}/trade", title="Trade", on_load=[Signing.load, InvestorTrade.load])
def trade() -> rx.Component:
    """Draw a market and the order form."""
    none = card("Markets", empty("arrow-left-right", "No market yet", "Markets in which you can trade appear here."))
    again = button("Try again", "rotate-cw", on_click=InvestorTrade.load)
    body = rx.cond(InvestorTrade.market.id != "", rx.fragment(market_card(), order_card()), none)
    return rx.fragment(
        rx.el.h1("Trade"),
        rx.cond(
            InvestorTrade.problem != "",
            failure("The market did not load", InvestorTrade.problem, again),
            rx.cond(InvestorTrade.loading, page_skeleton(), body),
        ),
        signing_sheet(),
    )
