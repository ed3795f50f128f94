"""The simple tabs of an asset: overview and markets."""

import reflex as rx

from components.compliance.rule_editor import rules_said
from components.core.permission import Scope, allowed
from components.ui.box import col, split
from components.ui.button import link
from components.ui.card import card, figure_strip, panel
from components.ui.note import empty
from components.ui.status import status
from components.ui.table import Col, name_link, table, td, tr
from components.ui.value import amount, short_hash, when
from state.assets.detail import AssetState, DeploymentView
from state.core.session import Session
from state.markets.list import AssetMarkets, MarketView

ASSET = "/o/" + Session.org.id + "/assets/"


def overview() -> rx.Component:
    """Draw supply, tokens by chain, and the current rules."""
    asset = AssetState.asset
    figures = figure_strip(
        ("Total supply", amount(asset.supply, asset.symbol, asset.decimals)),
        ("Chains", asset.places.length()),
        ("Framework", asset.framework),
        ("Created", when(asset.created_at)),
    )
    about = rx.cond(asset.description != "", rx.el.p(asset.description, class_name="muted"), rx.fragment())
    edit = link("Edit", ASSET + asset.id + "?tab=compliance", on_click=AssetState.go("compliance").prevent_default)
    return col(
        about,
        figures,
        split(
            card("Tokens", places(), count=asset.places.length()),
            card("Rules", rules_said(asset.rules), right=allowed(Scope.ASSETS_WRITE, edit)),
        ),
        cls="wide",
    )


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
    supply = rx.cond(place.supply != "", amount(place.supply, asset.symbol, asset.decimals), silent)
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
            [Col("Market"), Col("Chain"), Col("Status"), Col("Fees"), Col("Created", narrow=False)],
            AssetMarkets.rows,
            _market,
            empty=empty("store", "No markets yet", "An on-chain order book for this asset, under its rules."),
            loading=AssetMarkets.loading,
            problem=AssetMarkets.problem,
            is_forbidden=AssetMarkets.is_forbidden,
            on_retry=AssetMarkets.load,
        ),
        label="Markets",
        on_mount=AssetMarkets.load,
    )


def _market(market: rx.Var[MarketView]) -> rx.Component:
    href = "/o/" + Session.org.id + "/markets/" + market.id + "?asset=" + market.asset_id
    return tr(
        td(name_link(market.pair, href)),
        td(market.chain, class_name="muted"),
        td(
            status(market.status),
            rx.cond(market.why != "", rx.el.div(market.why, class_name="muted small clamp"), rx.fragment()),
        ),
        td(market.fees, class_name="num muted"),
        td(when(market.created_at), narrow=False, class_name="muted"),
        key=market.id,
    )
