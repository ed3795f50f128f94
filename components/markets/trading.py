"""Trading on a market: figures, depth, orders and trades."""

import reflex as rx

from components.core.csv_link import csv_of
from components.core.permission import Scope, allowed, may
from components.markets.deployment import facts
from components.markets.prices import prices
from components.markets.trades import trades
from components.requests.progress import request_progress
from components.ui.box import col, end, split, text
from components.ui.button import button, text_button
from components.ui.card import card, figure_strip
from components.ui.charts import depth, legend
from components.ui.icon import icon
from components.ui.note import empty, note
from components.ui.progress import bar
from components.ui.status import status
from components.ui.table import Col, list_table, pager, td, toolbar, tr
from components.ui.tabs import filters
from components.ui.value import amount, money, short_hash, when
from state.markets.detail import ROWS, MarketState
from state.orders.book import BookState
from state.orders.form import OrderForm
from state.orders.list import OrdersState, OrderView

STATUSES = [
    ("", "All"),
    ("pending", "Pending"),
    ("open", "Open"),
    ("partial", "Partly filled"),
    ("filled", "Filled"),
    ("cancelled", "Cancelled"),
    ("failed", "Failed"),
]
SIDES = [("", "Both sides"), ("buy", "Buy"), ("sell", "Sell")]
KEPT = "You can cancel the open orders of every wallet in this organization, including those of investors."


def trading() -> rx.Component:
    """Draw the tab."""
    halted = note(
        rx.el.b("The market is halted. "),
        MarketState.market.halt_reason,
        " Open orders can be cancelled. New orders are refused.",
        tone="warn",
    )
    return col(
        rx.cond(MarketState.market.status == "halted", halted, rx.fragment()),
        rx.cond(OrderForm.request.id != "", _following(), rx.fragment()),
        _figures(),
        split(col(prices(), _depth(), cls="wide"), facts()),
        _orders(),
        trades(),
        cls="wide",
    )


def _following() -> rx.Component:
    request = OrderForm.request
    ended = (request.status == "succeeded") | (request.status == "failed")
    progress = request_progress(OrderForm)
    away = rx.el.div(button("Dismiss", small=True, kind="quiet", on_click=OrderForm.dismiss), class_name="dismiss-line")
    return rx.el.div(
        rx.el.p(request.title, class_name="title-3"), progress, rx.cond(ended, away, rx.fragment()), class_name="col"
    )


def _price(value: rx.Var[str]) -> rx.Component:
    market = MarketState.market
    none = rx.el.span("none", class_name="muted")
    return rx.cond(value != "", money(value, market.quote, market.quote_decimals, 6), none)


def _figures() -> rx.Component:
    market = MarketState.market
    blocked = rx.el.span(", ", BookState.blocked, " cannot be filled", class_name="muted small")
    return figure_strip(
        ("Last price", _price(market.last_price)),
        ("Volume of all trades", amount(market.volume, market.symbol, market.decimals)),
        ("Best bid", _price(BookState.best_bid)),
        ("Best ask", _price(BookState.best_ask)),
        ("Spread", _price(BookState.spread)),
        ("Open orders", rx.fragment(BookState.live, rx.cond(BookState.blocked > 0, blocked, rx.fragment()))),
    )


def _depth() -> rx.Component:
    market = MarketState.market
    words = legend(
        (amount(BookState.bids, market.symbol, market.decimals), "bid", "var(--c-buy)"),
        (amount(BookState.asks, market.symbol, market.decimals), "asked", "var(--c-sell)"),
    )
    nothing = empty("chart-no-axes-combined", "The order book is empty", "Place the first order.")
    return card(
        "Depth",
        rx.cond(
            BookState.depth.length() > 0,
            rx.el.div(depth(BookState.depth, BookState.summary, BookState.ticks, "100%"), class_name="depth-box"),
            nothing,
        ),
        right=rx.el.span(words, class_name="muted small"),
    )


def _orders() -> rx.Component:
    state = OrdersState
    filtered = (state.status != "") | (state.side != "")
    return card(
        "Orders",
        toolbar(
            filters("Status", state.status, state.filter_status, STATUSES),
            rx.el.span(class_name="rule-v hide-narrow"),
            filters("Side", state.side, state.filter_side, SIDES),
        ),
        allowed(Scope.TRANSFERS_WRITE, text(KEPT, cls="muted small orders-kept")),
        list_table(
            "Orders",
            [Col("Placed", sort="created_at"), Col("Side"), Col("Price", right=True), Col("Amount", right=True),
             Col("Filled", right=True), Col("Status"), Col("Account"), Col("Actions", hidden=True)],
            state,
            _row,
            empty=rx.cond(
                filtered,
                empty("filter", "No orders match these filters"),
                empty("list", "No orders yet", "Orders appear here when they are placed.")
            ),
            two=True,
        ),
        pager(
            f"Newest first, {ROWS} per page",
            state,
            csv=csv_of(_path(), status=state.status, side=state.side),
            size=ROWS,
        ),
        right=end(button("Reload", "rotate-cw", small=True, on_click=OrdersState.load)),
    )  # fmt: skip


def _path() -> rx.Var[str]:
    market = MarketState.market
    return "/assets/" + market.asset_id + "/markets/" + market.id + "/orders"


def _row(order: rx.Var[OrderView]) -> rx.Component:
    market = MarketState.market
    buy = rx.el.span(icon("arrow-down-left", 14, class_name="buy"), "Buy", class_name="side-word")
    sell = rx.el.span(icon("arrow-up-right", 14, class_name="sell"), "Sell", class_name="side-word")
    filled = rx.el.span(
        amount(order.filled, None, market.decimals), bar(order.done, "Filled"), class_name="filled"
    )  # fmt: skip
    cancel = text_button(
        rx.cond(OrderForm.cancelling == order.id, "Cancelling", "Cancel"),
        aria_label="Cancel the " + order.side + " order of " + order.created_at,
        disabled=OrderForm.cancelling != "",
        on_click=OrderForm.cancel(order.id),
    )
    who = rx.cond(order.maker_name != "", rx.el.span(order.maker_name, class_name="small"), rx.fragment())
    failure = rx.cond(order.failure != "", rx.el.div(order.failure, class_name="muted small"), rx.fragment())
    is_blocked = order.blocked != ""
    blocked = rx.cond(is_blocked, rx.el.div("Cannot be filled", class_name="small warn-text"), rx.fragment())
    why = rx.cond(is_blocked, rx.el.div(order.blocked, class_name="small warn-text why"), rx.fragment())
    return tr(
        td(when(order.created_at), class_name="muted"),
        td(rx.cond(order.side == "buy", buy, sell)),
        td(
            money(order.price, market.quote, market.quote_decimals, 6),
            right=True,
            class_name="strong lead",
            label="Price",
        ),
        td(amount(order.amount, market.symbol, market.decimals), right=True, label="Amount"),
        td(filled, right=True, label="Filled", class_name="lead"),
        td(status(order.status), failure, blocked),
        td(rx.el.div(who, short_hash(order.maker), why, class_name="col none"), class_name="wrap", full=True),
        td(rx.cond(order.is_live & may(Scope.TRANSFERS_WRITE), cancel, rx.fragment()), right=True),
        key=order.id,
        class_name="halves",
    )
