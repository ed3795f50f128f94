"""The dialog that places an order."""

import reflex as rx

from components.compliance.verdicts import verdict_list
from components.ui.box import row
from components.ui.dialog import form_dialog
from components.ui.form import field_row, select_field, text_field
from components.ui.note import note
from components.ui.tabs import filters
from state.core.session import Session
from state.markets.detail import MarketState
from state.orders.form import OrderForm


def order_dialog() -> rx.Component:
    """Draw the dialog."""
    form, market = OrderForm, MarketState.market
    side = rx.el.div(
        rx.el.span("Side", class_name="label"),
        row(
            rx.el.div(
                filters("Side", form.side, form.pick_side, [("buy", "Buy"), ("sell", "Sell")]), class_name="segmented"
            )
        ),
        class_name="field",
    )
    no_wallet = note(
        rx.el.b("There is no server wallet. "),
        "Orders are signed by one of the organization's server wallets. ",
        rx.el.a("Wallets", href="/o/" + Session.org.id + "/wallets", class_name="link"),
        tone="warn",
    )
    total = rx.cond(
        form.total != "",
        rx.el.span("Total ", rx.el.b(form.total), class_name="total"),
        rx.el.span("Price times amount, before fees", class_name="muted small"),
    )
    return form_dialog(
        rx.el.span("Place an order on ", market.pair),
        "The token's and the market's rules are checked before anything is sent.",
        rx.cond((form.wallets.length() == 0) & ~form.saving & (form.form_problem == ""), no_wallet, rx.fragment()),
        side,
        select_field("Wallet", "wallet_id", form.wallets, errors=form.errors, hint="It signs, pays and receives"),
        field_row(
            text_field(
                rx.el.span("Price, ", market.quote, " per ", market.symbol),
                "price",
                errors=form.errors,
                input_mode="decimal",
                on_change=form.write("price").debounce(200),
                on_blur=form.write("price"),
            ),
            text_field(
                rx.el.span("Amount, ", market.symbol),
                "amount",
                errors=form.errors,
                input_mode="decimal",
                on_change=form.write("amount").debounce(200),
                on_blur=form.write("amount"),
            ),
        ),
        rx.cond(form.refusals.length() > 0, _refused(), rx.fragment()),
        form=form,
        submit=rx.cond(form.side == "buy", "Place buy order", "Place sell order"),
        foot=total,
    )


def _refused() -> rx.Component:
    """List the rules that refuse the order."""
    words = note(rx.el.b("The rules refuse this order. "), "Nothing was sent.", tone="bad")
    return rx.el.div(
        words,
        rx.el.div(verdict_list(OrderForm.refusals, "Refusals"), class_name="card"),
        class_name="col",
        role="alert",
    )
