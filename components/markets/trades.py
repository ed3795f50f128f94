"""The trades of a market."""

import reflex as rx

from components.core.csv_link import csv_of
from components.ui.button import button
from components.ui.card import card
from components.ui.note import empty
from components.ui.table import Col, list_table, pager, td, tr
from components.ui.value import amount, money, short_hash, when
from state.markets.detail import ROWS, MarketState
from state.orders.trades import TradesState, TradeView


def trades() -> rx.Component:
    """Draw the table."""
    state, market = TradesState, MarketState.market
    path = "/assets/" + market.asset_id + "/markets/" + market.id + "/trades"
    return card(
        "Trades",
        list_table(
            "Trades",
            [Col("Time", sort="executed_at"), Col("Price", right=True), Col("Amount", right=True),
             Col("Value", right=True), Col("Buyer"), Col("Seller"), Col("Transaction")],
            state,
            _row,
            empty=empty("arrow-left-right", "No trades yet", "Trades appear here when orders match."),
            two=True,
        ),
        pager(f"Newest first, {ROWS} per page", state, csv=csv_of(path), size=ROWS),
        right=button("Reload", "rotate-cw", small=True, on_click=TradesState.load),
    )  # fmt: skip


def _row(trade: rx.Var[TradeView]) -> rx.Component:
    market = MarketState.market
    return tr(
        td(when(trade.executed_at), class_name="muted"),
        td(
            money(trade.price, market.quote, market.quote_decimals, 6),
            right=True,
            class_name="strong lead",
            label="Price",
        ),
        td(amount(trade.amount, market.symbol, market.decimals), right=True, label="Amount"),
        td(money(trade.value, market.quote, market.quote_decimals), right=True, label="Value"),
        td(_person(trade.buyer, trade.buyer_name), label="Buyer"),
        td(_person(trade.seller, trade.seller_name), label="Seller"),
        td(short_hash(trade.tx_hash, "transaction", trade.tx_url), label="Transaction"),
        key=trade.id,
        class_name="halves",
    )


def _person(address: rx.Var[str], name: rx.Var[str]) -> rx.Component:
    who = rx.cond(name != "", rx.el.span(name, class_name="small"), rx.fragment())
    return rx.el.div(who, short_hash(address), class_name="col none")
