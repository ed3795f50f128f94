"""Cards of the investor's home."""

from typing import Any, Literal

import reflex as rx

from components.investor.contact import contact, frozen_note
from components.ui.button import button, link, link_button
from components.ui.card import card
from components.ui.icon import icon
from components.ui.note import empty, note
from components.ui.status import status
from components.ui.value import amount, money, short_hash, when
from state.core.session import Session
from state.investor.claims import ClaimView, WaitingClaims
from state.investor.home import CashView, EligibilityView, HoldingView, InvestorHome, OrderView, PartView
from state.investor.place import InvestorPlace
from state.investor.signing import Signing


def holdings_card() -> rx.Component:
    """Draw what the investor holds, and its value."""
    here = "/i/" + InvestorPlace.here.id
    none = rx.cond(
        InvestorHome.has_address,
        empty(
            "coins",
            "No holdings yet",
            "What you buy or receive appears here.",
            link_button("View the market", here + "/trade", "arrow-left-right"),
        ),
        empty(
            "wallet",
            "No wallet yet",
            "Link a wallet of your own, or ask " + InvestorHome.organization + " to keep one for you.",
            link_button("Link wallet", here + "/account", "link"),
        ),
    )
    rows = rx.el.ul(
        rx.foreach(InvestorHome.holdings, _holding), rx.foreach(InvestorHome.cash, _cash), class_name="holdings"
    )
    has_any = (InvestorHome.holdings.length() > 0) | (InvestorHome.cash.length() > 0)
    return card("Holdings", rx.cond(has_any, rows, none))


def _cash(one: rx.Var[CashView]) -> rx.Component:
    """Show money with which the investor can buy."""
    held = rx.cond(one.amount != "", amount(one.amount, one.symbol, one.decimals, digits=2), "Unknown now")
    return rx.el.li(
        rx.el.p("Cash", class_name="strong"),
        rx.el.p(held, class_name="held"),
        rx.el.p(one.where, class_name="muted"),
        key=one.id,
    )


def progress_note() -> rx.Component:
    """Say what the investor does next, until the organization has verified them."""
    state = InvestorHome
    upload = link_button("Upload documents", "/i/" + InvestorPlace.here.id + "/documents", "upload", small=True)
    return rx.cond(
        state.is_recorded,
        rx.match(
            state.review,
            (
                "created",
                _next("info", state.organization + " has to verify you.", "It needs your documents for it.", upload),
            ),
            (
                "verifying",
                _next(
                    "info",
                    state.organization + " is reviewing your documents.",
                    "You can add more in the meantime.",
                    upload,
                ),
            ),
            (
                "rejected",
                _next(
                    "warn",
                    state.organization + " could not verify you.",
                    "Contact them, or upload other documents.",
                    upload,
                ),
            ),
            rx.fragment(),
        ),
        _next(
            "info",
            state.organization + " has not added you as an investor yet.",
            "Ask them to add you with the email " + Session.email + ". Until then, you see only what your linked "
            "wallets hold.",
        ),
    )


def _next(tone: Literal["info", "warn"], what: rx.Var[str], how: rx.Var[str] | str, *action: rx.Component) -> Any:
    return note(rx.el.b(what), " ", how, *[rx.el.div(one, class_name="then") for one in action], tone=tone)


def _holding(one: rx.Var[HoldingView]) -> rx.Component:
    value = rx.cond(
        one.value != "",
        rx.el.p(
            "about ",
            money(one.value, one.quote_symbol, one.quote_decimals),
            ", at the last trade ",
            when(one.priced_at),
        ),
        rx.el.p("No trade yet, so the value is unknown."),
    )

    here = "/i/" + InvestorPlace.here.id

    def wallet(held: rx.Var[PartView]) -> rx.Component:
        keeper = rx.cond(held.keeper != "", "kept by " + held.keeper, "linked by you")
        address = rx.el.dt("Wallet ", short_hash(held.address), rx.el.div(keeper, ", on ", held.chain))
        return rx.el.div(address, rx.el.dd(amount(held.amount, one.symbol, one.decimals)), key=held.id)

    def part(label: str, units: rx.Var[str]) -> rx.Component:
        shown = rx.cond(units != "", amount(units, one.symbol, one.decimals), "unknown")
        return rx.el.div(rx.el.dt(label), rx.el.dd(shown))

    cost = rx.cond(one.paid != "", rx.el.div("for ", one.paid, ", fees included", class_name="muted"), rx.fragment())
    bought = rx.el.dd(amount(one.traded, one.symbol, one.decimals), cost)
    trades = rx.el.div(rx.el.dt("From trades"), bought, class_name="apart")
    whole = amount(one.total, one.symbol, one.decimals, digits=36)
    exact = rx.el.div(rx.el.dt("Exact amount"), rx.el.dd(whole))
    frozen = rx.el.div(rx.el.dt("Frozen"), rx.el.dd("The whole account"))
    return rx.el.li(
        rx.el.p(one.name, class_name="strong"),
        rx.el.p("You hold", class_name="muted"),
        rx.el.p(amount(one.total, one.symbol, one.decimals, digits=2), class_name="held"),
        frozen_note(one.frozen_words, InvestorHome),
        rx.el.div(
            value,
            rx.cond(one.since != "", rx.el.p("Since ", one.since), rx.fragment()),
            class_name="muted",
        ),
        rx.el.details(
            rx.el.summary("Details"),
            rx.el.dl(
                rx.cond(one.is_rounded, exact, rx.fragment()),
                part("Available", one.available),
                rx.cond(one.has_orders, part("In open orders", one.in_orders), rx.fragment()),
                rx.cond(one.has_frozen, rx.cond(one.is_frozen, frozen, part("Frozen", one.frozen)), rx.fragment()),
                rx.foreach(one.parts, wallet),
                rx.cond(one.traded != "", trades, rx.fragment()),
                rx.cond(one.other != "", part("Issued or sent to you", one.other), rx.fragment()),
            ),
            rx.el.p(link("Statements", here + "/documents"), " list every unit that you received.", class_name="muted"),
        ),
        key=one.asset_id,
    )


def eligibility_card() -> rx.Component:
    """Draw one sentence per asset: whether the investor may hold it, and until when."""
    none = empty("shield", "No assets yet", "Which assets you may hold appears here.")
    rows = rx.el.ul(rx.foreach(InvestorHome.eligibility, _eligibility), class_name="list")
    levels = rx.el.p(
        "Levels 1 to 3 say how thoroughly ",
        InvestorHome.organization,
        " has verified you; accreditation says that you may hold assets for accredited investors only.",
    )
    questions = rx.el.p(
        "Questions? Contact ",
        contact(InvestorHome),
        ".",
    )
    foot = rx.el.div(levels, questions, class_name="col spaced")
    shown = card("Eligibility", rx.cond(InvestorHome.eligibility.length() > 0, rows, none), foot=foot)
    return rx.cond(InvestorHome.has_address, shown, rx.fragment())


def _eligibility(one: rx.Var[EligibilityView]) -> rx.Component:
    sign = rx.match(
        one.tone,
        ("ok", rx.el.span(icon("shield-check", 16), class_name="mark ok")),
        ("warn", rx.el.span(icon("shield-alert", 16), class_name="mark warn")),
        ("bad", rx.el.span(icon("shield-x", 16), class_name="mark bad")),
        rx.el.span(icon("shield", 16), class_name="mark"),
    )
    where = rx.cond(
        one.where != "",
        rx.el.details(rx.el.summary("Not everywhere"), rx.el.p(one.where), class_name="more small"),
        rx.fragment(),
    )
    step = rx.cond(one.next_step != "", rx.el.div(one.next_step, class_name="below"), rx.fragment())
    documents = link("Upload documents", "/i/" + InvestorPlace.here.id + "/documents", class_name="small")
    return rx.el.li(
        sign,
        rx.el.div(
            rx.el.div(one.name, " (", one.symbol, ")", class_name="title"),
            rx.el.div(one.sentence),
            step,
            rx.cond(one.uploads, documents, rx.fragment()),
            where,
            class_name="grow",
        ),
        class_name="item",
        key=one.asset_id,
    )


def claims_card() -> rx.Component:
    """Draw the amounts of distributions that wait; nothing where none does."""
    rows = rx.el.ul(rx.foreach(WaitingClaims.rows, _claim), class_name="list")
    how = note(
        InvestorHome.organization,
        " does not keep this wallet. ",
        link("Link it", "/i/" + InvestorPlace.here.id + "/account"),
        " to claim the amount with it.",
    )
    needs_link = WaitingClaims.has_foreign & ~InvestorHome.has_linked
    unlinked = rx.cond(needs_link, rx.el.div(how, class_name="card-body"), rx.fragment())
    return rx.cond(WaitingClaims.rows.length() > 0, card("Waiting for you", rows, unlinked), rx.fragment())


def _claim(one: rx.Var[ClaimView]) -> rx.Component:
    def claim(busy: rx.Var[bool], event: Any) -> rx.Component:
        label = "Claim " + one.name
        return button("Claim", small=True, kind="primary", busy=busy, on_click=event, aria_label=label)

    kept = claim(one.progress == "sending", WaitingClaims.claim(one.distribution_id, one.address))
    own = claim(Signing.busy == one.distribution_id, Signing.claim(one.distribution_id, one.address))
    progress = rx.match(
        one.progress,
        ("sending", InvestorHome.organization + " is sending the claim. This takes a few seconds."),
        ("failed", InvestorHome.organization + " could not send the claim. Try again, or contact them."),
        ("paid", "Paid to your wallet, which " + InvestorHome.organization + " keeps."),
        InvestorHome.organization + " sends it to the wallet that it keeps for you.",
    )
    said = rx.el.div(progress, class_name=rx.cond(one.progress == "failed", "below warn", "below"), role="status")
    action = rx.cond(one.is_kept, kept, rx.cond(InvestorHome.has_linked, own, rx.fragment()))
    return rx.el.li(
        rx.el.span(icon("gift", 16), class_name="mark info"),
        rx.el.div(
            rx.el.div(amount(one.amount, one.symbol, one.decimals, digits=2), class_name="title"),
            rx.el.div(one.name, class_name="below"),
            rx.cond(one.is_kept, said, rx.fragment()),
            class_name="grow",
        ),
        rx.cond(one.progress == "paid", status("paid"), action),
        class_name="item",
        key=one.id,
    )


def orders_card() -> rx.Component:
    """Draw the open orders."""
    none = empty("arrow-left-right", "No open orders", "Your orders appear here until they are filled or cancelled.")
    rows = rx.el.ul(rx.foreach(InvestorHome.orders, _order), class_name="list")
    return card("Open orders", rx.cond(InvestorHome.orders.length() > 0, rows, none))


def _order(one: rx.Var[OrderView]) -> rx.Component:
    blocked = rx.cond(
        one.blocked != "", rx.el.div("Cannot be filled now. ", one.blocked, class_name="below warn"), rx.fragment()
    )
    cancel = button(
        "Cancel",
        small=True,
        busy=Signing.busy == one.id,
        on_click=Signing.cancel(one.id),
        aria_label="Cancel: " + one.title,
    )
    return rx.el.li(
        rx.el.span(icon("arrow-left-right", 16), class_name="mark"),
        rx.el.div(
            rx.el.div(one.title, class_name="title"),
            rx.el.div("Placed ", when(one.created_at), class_name="below"),
            blocked,
            class_name="grow",
        ),
        rx.cond(one.can_cancel, cancel, rx.fragment()),
        class_name="item",
        key=one.id,
    )
