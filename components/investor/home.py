"""Cards of the investor's home."""

import reflex as rx

from components.ui.button import button, download, link
from components.ui.card import card
from components.ui.icon import icon
from components.ui.note import empty, note
from components.ui.value import amount, when
from state.investor.home import ClaimView, EligibilityView, HoldingView, InvestorHome, OrderView, StatementView
from state.investor.place import InvestorPlace
from state.investor.signing import Signing


def holdings_card() -> rx.Component:
    """Draw what the investor holds, and its value."""
    none = rx.cond(
        InvestorHome.has_address,
        empty("wallet", "No holdings yet", "Tokens that your wallet holds appear here."),
        empty(
            "wallet",
            "No wallet yet",
            InvestorHome.organization + " has not recorded a wallet for you, and you have linked none.",
        ),
    )
    rows = rx.el.ul(rx.foreach(InvestorHome.holdings, _holding), class_name="holdings")
    return card("Holdings", rx.cond(InvestorHome.holdings.length() > 0, rows, none))


def _holding(one: rx.Var[HoldingView]) -> rx.Component:
    value = rx.cond(
        one.value != "",
        rx.el.p(
            "about ",
            amount(one.value, one.quote_symbol, one.quote_decimals, digits=2),
            ", at the last trade ",
            when(one.priced_at),
        ),
        rx.el.p("No trade yet, so the value is unknown."),
    )

    def part(label: str, units: rx.Var[str]) -> rx.Component:
        shown = rx.cond(units != "", amount(units, one.symbol, one.decimals), "unknown")
        return rx.el.div(rx.el.dt(label), rx.el.dd(shown))

    return rx.el.li(
        rx.el.p("You hold", class_name="muted"),
        rx.el.p(amount(one.total, one.symbol, one.decimals, digits=2), class_name="held"),
        rx.el.div(
            value,
            rx.cond(one.since != "", rx.el.p("Since ", one.since), rx.fragment()),
            class_name="muted",
        ),
        rx.el.details(
            rx.el.summary("Details"),
            rx.el.dl(
                rx.el.div(rx.el.dt("Asset"), rx.el.dd(one.name)),
                part("Available", one.available),
                rx.cond(one.has_orders, part("In open orders", one.in_orders), rx.fragment()),
                rx.cond(one.has_frozen, part("Frozen", one.frozen), rx.fragment()),
                rx.el.div(rx.el.dt("Held on"), rx.el.dd(one.places)),
            ),
        ),
        key=one.asset_id,
    )


def eligibility_card() -> rx.Component:
    """Draw one sentence per asset: whether the investor may hold it, and until when."""
    none = empty("shield", "No assets yet", "Which assets you may hold appears here.")
    rows = rx.el.ul(rx.foreach(InvestorHome.eligibility, _eligibility), class_name="list")
    shown = card("Eligibility", rx.cond(InvestorHome.eligibility.length() > 0, rows, none))
    return rx.cond(InvestorHome.has_address, shown, rx.fragment())


def _eligibility(one: rx.Var[EligibilityView]) -> rx.Component:
    sign = rx.match(
        one.tone,
        ("ok", rx.el.span(icon("shield-check", 16), class_name="mark ok")),
        ("warn", rx.el.span(icon("shield-alert", 16), class_name="mark warn")),
        rx.el.span(icon("shield-x", 16), class_name="mark bad"),
    )
    step = rx.cond(one.next_step != "", rx.el.div(one.next_step, class_name="below"), rx.fragment())
    return rx.el.li(
        sign,
        rx.el.div(
            rx.el.div(one.name, " (", one.symbol, ")", class_name="title"),
            rx.el.div(one.sentence),
            step,
            class_name="grow",
        ),
        class_name="item",
        key=one.asset_id,
    )


def claims_card() -> rx.Component:
    """Draw the amounts of distributions that wait; nothing where none does."""
    rows = rx.el.ul(rx.foreach(InvestorHome.claims, _claim), class_name="list")
    how = note(
        "The wallet for which they are reserved receives them. If it is yours, ",
        link("link it", "/i/" + InvestorPlace.here.id + "/account"),
        " and claim them; if ",
        InvestorHome.organization,
        " keeps it for you, ask them to claim.",
    )
    unlinked = rx.cond(InvestorHome.has_linked, rx.fragment(), rx.el.div(how, class_name="card-body"))
    shown = card("Waiting for you", rows, unlinked)
    return rx.cond(InvestorHome.claims.length() > 0, shown, rx.fragment())


def _claim(one: rx.Var[ClaimView]) -> rx.Component:
    claim = button(
        "Claim",
        small=True,
        kind="primary",
        busy=Signing.busy == one.distribution_id,
        on_click=Signing.claim(one.distribution_id, one.address),
        aria_label="Claim " + one.name,
    )
    return rx.el.li(
        rx.el.span(icon("gift", 16), class_name="mark info"),
        rx.el.div(
            rx.el.div(amount(one.amount, one.symbol, one.decimals), class_name="title"),
            rx.el.div(one.name, " on ", one.place, class_name="below"),
            class_name="grow",
        ),
        rx.cond(InvestorHome.has_linked, claim, rx.fragment()),
        class_name="item",
        key=one.id,
    )


def orders_card() -> rx.Component:
    """Draw the open orders."""
    none = empty("arrow-left-right", "No open orders", "Your orders appear here until they are filled or cancelled.")
    rows = rx.el.ul(rx.foreach(InvestorHome.orders, _order), class_name="list")
    return card("Open orders", rx.cond(InvestorHome.orders.length() > 0, rows, none))


def statements_card() -> rx.Component:
    """Draw the months with a statement."""
    none = empty("file-text", "No statements yet", "A statement for each month appears here after your first purchase.")
    rows = rx.el.ul(rx.foreach(InvestorHome.statements, _statement), class_name="list")
    return card("Statements", rx.cond(InvestorHome.statements.length() > 0, rows, none))


def _statement(one: rx.Var[StatementView]) -> rx.Component:
    return rx.el.li(
        rx.el.span(icon("file-text", 16), class_name="mark"),
        rx.el.div(
            rx.el.div(one.title, class_name="title"),
            rx.cond(one.is_complete, rx.fragment(), rx.el.div("Up to now", class_name="below")),
            class_name="grow",
        ),
        _statement_file("PDF", one.pdf, one),
        _statement_file("CSV", one.csv, one),
        class_name="item",
        key=one.csv,
    )


def _statement_file(kind: str, href: rx.Var[str], one: rx.Var[StatementView]) -> rx.Component:
    named = "Download the statement of " + one.title + f" as {kind}"
    return download(kind, href, class_name="btn small", aria_label=named)


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
            rx.el.div(one.place, ", placed ", when(one.created_at), class_name="below"),
            blocked,
            class_name="grow",
        ),
        rx.cond(one.can_cancel, cancel, rx.fragment()),
        class_name="item",
        key=one.id,
    )
