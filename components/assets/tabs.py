"""The simple tabs of an asset: its tokens by chain, and its markets."""

import reflex as rx

from components.ui.card import panel
from components.ui.note import empty
from components.ui.status import status
from components.ui.table import Col, name_link, table, td, tr
from components.ui.value import amount, money, short_hash, when
from state.assets.detail import AssetState, DeploymentView
from state.core.session import Session
from state.markets.list import AssetMarkets, MarketView

ASSET = "/o/" + Session.org.id + "/assets/"


def places() -> rx.Component:
    """Draw the asset's token on each chain."""
    return table(
        "Tokens by chain",
        [Col("Chain"), Col("Status"), Col("Token"), Col("Supply", right=True), Col("Transaction")],
        AssetState.asset.places,
        _place,
        empty=empty("link", "Not deployed on any chain yet"),
        loading=AssetState.loading,
        problem=rx.Var.create(""),
    )


def _place(place: rx.Var[DeploymentView]) -> rx.Component:
    asset = AssetState.asset
    why = rx.cond(place.status == "active", "chain not responding", "none yet")
    silent = rx.el.span(why, class_name="muted")
    supply = rx.cond(place.supply != "", amount(place.supply, asset.symbol, asset.decimals, 2), silent)
    return tr(
        td(place.chain, class_name="strong"),
        td(status(rx.cond(place.paused, "paused", place.status))),
        td(short_hash(place.address, "token address", place.url), label="Token"),
        td(supply, right=True),
        td(short_hash(place.tx_hash, "transaction", place.tx_url), label="Transaction"),
        key=place.eid.to_string(),
    )


def markets() -> rx.Component:
    """Draw the asset's markets."""
    return panel(
        table(
            "Markets of this asset",
            [Col("Market"), Col("Chain"), Col("Status"), Col("Last price", right=True), Col("Fees"),
             Col("Created", narrow=False)],
            AssetMarkets.rows,
            _market,
            empty=no_markets(),
            loading=AssetMarkets.loading,
            problem=AssetMarkets.problem,
            is_forbidden=AssetMarkets.is_forbidden,
            on_retry=AssetMarkets.load,
        ),
        label="Markets",
        on_mount=AssetMarkets.load,
    )  # fmt: skip


def no_markets() -> rx.Component:
    """Say that the asset has no markets."""
    return empty("store", "No markets yet", "An on-chain order book for this asset, under its rules.")


def market_cells(market: rx.Var[MarketView]) -> tuple[rx.Component, ...]:
    """Draw a market in a table: pair, chain, status and last price."""
    href = "/o/" + Session.org.id + "/markets/" + market.id + "?asset=" + market.asset_id
    why = rx.cond(market.why != "", rx.el.div(market.why, class_name="muted small clamp"), rx.fragment())
    price = rx.cond(
        market.price != "",
        money(market.price, market.quote, market.quote_decimals, 6),
        rx.el.span("no trade yet", class_name="muted"),
    )
    return (
        td(name_link(market.pair, href)),
        td(market.chain, class_name="muted"),
        td(status(market.status), why),
        td(price, right=True, label="Last price"),
    )


def _market(market: rx.Var[MarketView]) -> rx.Component:
    return tr(
        *market_cells(market),
        td(market.fees, class_name="num muted", label="Fees"),
        td(when(market.created_at), narrow=False, class_name="muted"),
        key=market.id,
    )
