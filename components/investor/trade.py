"""The market in small, and the order form."""

import reflex as rx

from components.investor.contact import contact, frozen_note
from components.ui.box import row
from components.ui.button import button, link_button
from components.ui.card import card
from components.ui.form import field_row, select, select_field, text_field
from components.ui.note import empty, note, problem_note
from components.ui.tabs import filters
from components.ui.value import money, when
from state.investor.market import LevelView
from state.investor.place import InvestorPlace
from state.investor.trade import PARTS, InvestorTrade

SIDES = [("buy", "Buy"), ("sell", "Sell")]


def market_card() -> rx.Component:
    """Draw the price and the best orders of the market."""
    market = InvestorTrade.market
    several = select(InvestorTrade.markets, value=market.id, on_change=InvestorTrade.pick_market, aria_label="Market")
    price = rx.cond(
        market.last_price != "",
        rx.fragment(
            rx.el.p(money(market.last_price, market.quote, market.quote_decimals, 6), class_name="held"),
            rx.el.p("Last trade ", when(market.last_trade_at), class_name="muted"),
        ),
        rx.el.p("No trade yet", class_name="muted"),
    )
    halted = rx.cond(market.closed != "", note(rx.el.b("No orders now. "), market.closed, tone="warn"), rx.fragment())
    choice = rx.cond(InvestorTrade.markets.length() > 1, rx.el.div(several, class_name="card-body"), rx.fragment())
    return card(
        market.name,
        choice,
        rx.el.div(
            rx.el.p("Price of one ", market.symbol, class_name="muted"),
            price,
            halted,
            rx.el.div(
                _levels("Sell orders", InvestorTrade.asks, "sells"),
                _levels("Buy orders", InvestorTrade.bids, "buys"),
                class_name="levels",
            ),
            class_name="card-body",
        ),
    )


def _levels(title: str, levels: rx.Var[list[LevelView]], side: str) -> rx.Component:
    market = InvestorTrade.market

    def one(level: rx.Var[LevelView]) -> rx.Component:
        return rx.el.tr(
            rx.el.td(rx.el.span(level.price)),
            rx.el.td(
                rx.el.span(class_name="share", style={"width": level.share}, aria_hidden=True),
                rx.el.span(level.amount),
            ),
            key=level.price,
        )

    table = rx.el.table(
        rx.el.thead(
            rx.el.tr(rx.el.th("Price, ", market.quote, scope="col"), rx.el.th("Amount, ", market.symbol, scope="col"))
        ),
        rx.el.tbody(rx.foreach(levels, one)),
        class_name=side,
        aria_label=title,
    )
    none = rx.el.p("None", class_name="muted")
    return rx.el.div(rx.el.h3(title), rx.cond(levels.length() > 0, table, none))


def order_card() -> rx.Component:
    """Draw the order form, or what is missing to trade."""
    state = InvestorTrade
    link = link_button("Link wallet", "/i/" + InvestorPlace.here.id + "/account", "link", kind="primary")
    unlinked = rx.cond(
        state.is_kept,
        _kept(link),
        empty("wallet", "Link your wallet to trade", "You sign orders with your own wallet.", link),
    )
    return card("Place an order", rx.cond(state.wallets.length() > 0, _form(), unlinked))


def _kept(action: rx.Component) -> rx.Component:
    """Say what the wallet has that the organization keeps, who places orders with it, and what a linked one changes."""
    state = InvestorTrade
    holds = rx.cond(state.kept != "", rx.el.p("Your wallet has ", rx.el.b(state.kept), " available."), rx.fragment())
    return rx.el.div(
        rx.el.p(rx.el.b(state.organization + " keeps your wallet, and places orders for you.")),
        holds,
        frozen_note(state.kept_frozen, state),
        rx.el.p(
            "To buy or sell with it, contact ",
            contact(state),
            ": give the amount and your price.",
            class_name="muted",
        ),
        rx.el.p(
            "To trade yourself, link a wallet of your own. The assets in the wallet that ",
            state.organization,
            " keeps for you stay there. ",
            state.organization,
            " can transfer them after your linked wallet is verified.",
            class_name="muted",
        ),
        rx.el.div(action),
        class_name="card-body col",
    )


def _form() -> rx.Component:
    state, market = InvestorTrade, InvestorTrade.market
    wallet = rx.cond(
        state.wallets.length() > 1,
        select_field("Wallet", "address", state.wallets, value=state.wallet, on_change=state.pick_wallet),
        rx.fragment(),
    )
    parts = [
        button(f"{key}%", small=True, on_click=state.take(key), aria_label=f"{key}% of what you can use")
        for key in PARTS
    ]
    return rx.el.form(
        rx.el.div(filters("Side", state.side, state.pick_side, SIDES), class_name="segmented wide"),
        wallet,
        field_row(
            text_field(
                rx.el.span("Price, ", market.quote), "price", errors=state.errors, input_mode="decimal",
                default_value=state.price, key="price-" + state.fills.to_string(),
                on_change=state.write("price").debounce(300), on_blur=state.leave("price"),
            ),
            text_field(
                rx.el.span("Amount, ", market.symbol), "amount", errors=state.errors, input_mode="decimal",
                default_value=state.amount, key="amount-" + state.fills.to_string(),
                on_change=state.write("amount").debounce(300), on_blur=state.leave("amount"),
            ),
        ),
        row(rx.cond(state.holds != "", rx.el.span("You have ", state.holds, class_name="muted small grow"),
                    rx.el.span(class_name="grow")), *parts, cls="wrap"),
        frozen_note(state.frozen, state),
        _answer(),
        problem_note(state.form_problem),
        button("Review order", kind="primary", type="submit", busy=state.saving, class_name="wide"),
        on_submit=state.submit,
        class_name="form card-body",
    )  # fmt: skip


def _answer() -> rx.Component:
    """Say whether the order would be accepted, or why not."""
    state = InvestorTrade
    reasons = rx.el.ul(rx.foreach(state.refusals, lambda said: rx.el.li(said, key=said)))
    refused = note(rx.el.b("You cannot place this order. "), reasons, tone="bad")
    allowed = note(rx.el.b("You may place this order. "), state.total, tone="ok")
    return rx.el.div(
        rx.cond((state.refusals.length() > 0) & (state.form_problem == ""), refused, rx.fragment()),
        rx.cond(
            (state.check_problem != "") & (state.form_problem == ""),
            note(state.check_problem, tone="bad"),
            rx.fragment(),
        ),
        rx.cond(state.allowed, allowed, rx.fragment()),
        role="region",
        aria_label="Result",
        aria_live="polite",
        aria_busy=state.checking,
    )
