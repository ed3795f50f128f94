"""The dialog that places an order."""

import reflex as rx

from components.compliance.verdicts import verdict_list
from components.core.permission import permitted
from components.ui.box import row
from components.ui.button import button, text_button
from components.ui.dialog import form_dialog
from components.ui.form import SELECTS_ALL, Prefill, field_row, select_field, text_field
from components.ui.note import note, problem_note
from components.ui.tabs import filters
from state.core.session import Session
from state.markets.detail import MarketState
from state.orders.fix import OrderFix
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
    own = rx.el.div(
        rx.cond(form.side == "buy", "The best ask", "The best bid"),
        " is your organization's own order. Choose an investor's wallet, so that you do not trade with yourself.",
    )
    return form_dialog(
        rx.el.span("Place an order on ", market.pair),
        "The token's and the market's rules are checked as you type.",
        rx.cond((form.wallets.length() == 0) & ~form.saving & (form.form_problem == ""), no_wallet, rx.fragment()),
        side,
        select_field(
            "Wallet", "wallet_id", form.wallets, errors=form.errors,
            hint=rx.fragment(
                rx.cond(
                    form.facts.contains(form.wallet), form.facts[form.wallet], "This wallet signs, pays and receives."
                ),
                rx.cond(form.best_is_own & (form.wallet == ""), own, rx.fragment()),
            ),
            placeholder="Choose a wallet", value=form.wallet, on_change=form.write("wallet_id"),
        ),
        field_row(
            text_field(
                rx.el.span("Price, ", market.quote, " per ", market.symbol),
                "price",
                errors=form.errors,
                input_mode="decimal",
                hint=rx.fragment(
                    rx.cond(form.best != "", text_button(form.best, on_click=form.take_best), rx.fragment()),
                    Prefill.create(input="f-price", text=form.price, times=form.fills),
                ),
                default_value=form.price,
                on_focus=SELECTS_ALL,
                on_change=form.write("price").debounce(250),
                on_blur=form.leave("price"),
            ),
            text_field(
                rx.el.span("Amount, ", market.symbol),
                "amount",
                errors=form.errors,
                input_mode="decimal",
                on_change=form.write("amount").debounce(250),
                on_blur=form.leave("amount"),
            ),
        ),
        _answer(),
        form=form,
        submit=rx.cond(form.side == "buy", "Place buy order", "Place sell order"),
        foot=_total(),
    )  # fmt: skip


def _total() -> rx.Component:
    form, market = OrderForm, MarketState.market
    fees = rx.cond(form.with_fees != "", rx.el.div(form.with_fees, class_name="muted small"), rx.fragment())
    return rx.cond(
        form.total != "",
        rx.el.div("Total ", rx.el.b(form.total), fees, class_name="total"),
        rx.el.div(
            rx.cond(market.fee_bps > 0, f"Fees: {market.taker} as taker, {market.maker} as maker", "No fees"),
            class_name="total muted small",
        ),
    )


def _answer() -> rx.Component:
    """Say whether the order would be accepted, or list the rules that refuse it."""
    form = OrderForm
    refused = rx.el.div(
        note(rx.el.b("The rules refuse this order. "), "Nothing was sent.", tone="bad"),
        rx.el.div(verdict_list(form.refusals, "Refusals"), class_name="card"),
        class_name="col",
        role="alert",
    )
    allowed = note(rx.el.b("This order is allowed. "), "Every rule passes, and the wallet has the funds.", tone="ok")
    return rx.el.div(
        rx.cond(form.refusals.length() > 0, refused, rx.fragment()),
        problem_note(form.check_problem),
        rx.cond(form.offer.kind != "", _next_step(), rx.fragment()),
        rx.cond(form.allowed, allowed, rx.fragment()),
        rx.cond(form.own_orders.length() > 0, _own_orders(), rx.fragment()),
        class_name="col",
        role="region",
        aria_label="Result",
        aria_live="polite",
        aria_busy=form.checking,
    )


def _own_orders() -> rx.Component:
    """Warn of the organization's own open orders that the order would meet."""
    return note(
        rx.el.b("This order meets your own. "),
        rx.foreach(OrderForm.own_orders, lambda words: rx.el.div(words)),
        tone="warn",
    )


def _next_step() -> rx.Component:
    """Offer to resolve the refusal here; the order is sent afterwards, as it was entered."""
    offer, fix = OrderForm.offer, OrderFix
    word = offer.word + ", then place the order"
    reason = text_field(
        "Reason", "fix_reason", id="fix-reason", required=False, max_length=500, hint="Stored with the action.",
        on_change=fix.write.debounce(150), on_blur=fix.write,
    )  # fmt: skip
    return rx.el.div(
        rx.el.div(offer.about, class_name="small"),
        rx.cond((offer.kind == "unfreeze") | (offer.kind == "unpause"), reason, rx.fragment()),
        row(permitted(offer.scope, button(word, "wrench", busy=fix.is_running, on_click=fix.run(offer.about)), word)),
        problem_note(fix.problem),
        class_name="col",
        role="group",
        aria_label="Next step",
    )
