"""A market's deployment, live: the request's steps and the market's facts."""

import reflex as rx

from components.compliance.rule_editor import rules_said
from components.requests.progress import request_progress
from components.ui.box import col, split
from components.ui.button import link, text_button
from components.ui.card import card, kv
from components.ui.note import note
from components.ui.value import short_hash, when
from state.core.session import Session
from state.markets.detail import MarketState


def deployment() -> rx.Component:
    """Draw the timeline, with request and market beside it."""
    request, market = MarketState.request, MarketState.market
    live = (request.status == "running") | (request.status == "accepted")
    stays = note("You can leave this page. The deployment continues, and the tracker above shows when it is done.")
    done = note(
        rx.el.b("The market is active. "),
        "Orders are accepted. ",
        text_button("Go to trading", on_click=MarketState.go("trade")),
        tone="ok",
    )
    side = col(
        card(
            "Request",
            kv(
                ("ID", short_hash(request.id, "ID")),
                ("Requested by", rx.cond(request.created_by != "", request.created_by, "unknown")),
                ("Started", when(request.created_at)),
                ("Last change", when(request.updated_at)),
            ),
        ),
        facts(),
        rx.cond(live, stays, rx.fragment()),
        cls="wide",
    )
    shown = request_progress(MarketState)
    why = rx.cond((market.failure != "") & (request.problem == ""), note(market.failure, tone="bad"), rx.fragment())
    ended = rx.cond((market.status == "active") & (request.status == "succeeded"), done, rx.fragment())
    return split(col(ended, why, shown, cls="wide"), side)


def facts() -> rx.Component:
    """Draw the market's chain, contracts, fees and rules."""
    market = MarketState.market
    return card(
        "Market",
        kv(
            ("Chain", market.chain),
            ("Market", _contract(market.address, "market address", market.address_url)),
            ("Token", _contract(market.token, "token address", market.token_url)),
            ("Factory", _contract(market.factory, "factory address", market.factory_url)),
            ("Taker fee", rx.el.span(market.taker, class_name="num")),
            ("Maker fee", rx.el.span(market.maker, class_name="num")),
        ),
        rx.el.h3("Rules", class_name="title-3 sub-head"),
        rules_said(market.rules),
        rx.cond(
            market.stricter != "",
            rx.el.div(
                note(
                    rx.el.b("Stricter here than the asset: "), market.stricter, ". ",
                    "The rules of a market are final. A new market takes the asset's present rules.",
                    tone="warn",
                ),
                class_name="card-body",
            ),
            rx.fragment(),
        ),
        rx.el.p(
            "Orders must also pass the rules of the token: see ", market.symbol, "'s ",
            link("Compliance", "/o/" + Session.org.id + "/assets/" + market.asset_id + "?tab=compliance"), ".",
            class_name="muted small card-body",
        ),
    )  # fmt: skip


def _contract(address: rx.Var[str], label: str, url: rx.Var[str]) -> rx.Component:
    return rx.cond(address != "", short_hash(address, label, url), rx.el.span("not deployed yet", class_name="muted"))
