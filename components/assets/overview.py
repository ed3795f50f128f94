"""The overview of an asset: its figures, tokens, markets and rules."""

from typing import Any

import reflex as rx

from components.assets.prices import prices
from components.assets.tabs import ASSET, market_cells, no_markets, places
from components.compliance.rule_editor import rules_said
from components.core.permission import Scope, allowed
from components.ui.box import col, split
from components.ui.button import link
from components.ui.card import card
from components.ui.note import unread
from components.ui.table import Col, table, tr
from components.ui.value import amount, money, when
from state.assets.detail import AssetState
from state.assets.figures import AssetFigures
from state.core.session import Session
from state.markets.list import AssetMarkets, MarketView


def overview() -> rx.Component:
    """Draw the figures, the tokens by chain, the markets, and the current rules."""
    asset = AssetState.asset
    about = rx.cond(asset.description != "", rx.el.p(asset.description, class_name="muted"), rx.fragment())
    edit = link("Edit", ASSET + asset.id + "?tab=compliance", on_click=AssetState.go("compliance").prevent_default)
    return col(
        about,
        _figures(),
        prices(),
        split(
            col(card("Tokens", places(), count=asset.places.length()), _markets(), cls="wide"),
            card("Rules", rules_said(asset.rules), right=allowed(Scope.ASSETS_WRITE, edit)),
        ),
        cls="wide",
        on_mount=AssetFigures.load,
    )


def _figures() -> rx.Component:
    asset, found = AssetState.asset, AssetFigures
    lost = rx.el.div(unread(found.problem, found.load), class_name="card-foot")
    chains = rx.cond(asset.places.length() == 1, "chain", "chains")
    return rx.el.div(
        rx.el.dl(
            _figure(
                "Total supply",
                _opens("chains", amount(asset.supply, asset.symbol, asset.decimals, 2)),
                "issued on all chains",
            ),
            _price(),
            _value(),
            _figure("Investors", _read(_opens("cap-table", found.holders)), "with tokens on any chain"),
            _figure("Markets", _read(_opens("markets", found.markets)), _read(found.statuses, "")),
            _figure("Volume of all trades", _volume(), "in all markets"),
            _figure("Chains", _opens("chains", asset.places.length(), " ", chains), _chain_names()),
            _figure("Created", when(asset.created_at, "day"), when(asset.created_at, "zoned")),
            class_name="strip figures",
        ),
        rx.cond(found.problem != "", lost, rx.fragment()),
        class_name="card",
        role="group",
        aria_label="Figures",
    )


def _figure(name: str, value: Any, below: Any) -> rx.Component:
    return rx.el.div(
        rx.el.dt(name, class_name="muted small"),
        rx.el.dd(value, class_name="of"),
        rx.el.dd(below, class_name="muted small below"),
    )


def _read(value: Any, unknown: Any = "unknown") -> rx.Component:
    """Draw what was read; a placeholder before it, and a word if it could not be read."""
    lost = rx.cond(AssetFigures.problem != "", rx.el.span(unknown, class_name="muted"), rx.fragment(value))
    return rx.cond(AssetFigures.loading, rx.el.span("…", class_name="muted", aria_label="Loading"), lost)


def _opens(tab: str, *value: Any) -> rx.Component:
    """Draw a figure that opens the tab with its list."""
    href = ASSET + AssetState.asset.id + f"?tab={tab}"
    return link(rx.fragment(*value), href, on_click=AssetState.go(tab).prevent_default)


def _price() -> rx.Component:
    found = AssetFigures
    shown = link(money(found.price, found.quote, found.quote_decimals, 6), _market_page(found.market_id))
    traded = rx.fragment(when(found.traded_at), " on ", found.traded_on)
    is_traded = found.price != ""
    return _figure(
        "Last price",
        _read(rx.cond(is_traded, shown, rx.el.span("none", class_name="muted"))),
        _read(rx.cond(is_traded, traded, rx.cond(found.nominal != "", _nominal(), "no trade yet")), ""),
    )


def _nominal() -> rx.Component:
    found = AssetFigures
    return rx.fragment("no trade yet; nominal value ", money(found.nominal, found.quote, found.quote_decimals))


def _value() -> rx.Component:
    found = AssetFigures
    shown = _opens("holders", amount(found.value, found.quote, found.quote_decimals, 2))
    is_known = found.value != ""
    return _figure(
        "Value of the supply",
        _read(rx.cond(is_known, shown, rx.el.span("none", class_name="muted"))),
        _read(
            rx.cond(is_known, rx.cond(found.nominal != "", "at nominal value", "at the last price"), "needs a price"),
            "",
        ),
    )


def _volume() -> rx.Component:
    asset = AssetState.asset
    trades = ASSET + asset.id + "?tab=activity&kind=trade"
    return _read(link(amount(AssetFigures.volume, asset.symbol, asset.decimals), trades))


def _chain_names() -> rx.Component:
    places = AssetState.asset.places
    return rx.foreach(places, lambda place, at: rx.fragment(rx.cond(at > 0, ", ", ""), place.chain))


def _market_page(market_id: rx.Var[str]) -> rx.Var[str]:
    return "/o/" + Session.org.id + "/markets/" + market_id + "?asset=" + AssetState.asset.id


def _markets() -> rx.Component:
    return card(
        "Markets",
        table(
            "Markets by chain",
            [Col("Market"), Col("Chain"), Col("Status"), Col("Last price", right=True)],
            AssetMarkets.rows,
            _market,
            empty=no_markets(),
            loading=AssetMarkets.loading,
            problem=AssetMarkets.problem,
            is_forbidden=AssetMarkets.is_forbidden,
            on_retry=AssetFigures.load,
        ),
        count=AssetMarkets.rows.length(),
    )


def _market(market: rx.Var[MarketView]) -> rx.Component:
    return tr(*market_cells(market), key=market.id)
