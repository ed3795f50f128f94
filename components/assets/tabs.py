"""The simple tabs of an asset: overview, markets, holders."""

from typing import Any

import reflex as rx

from components.compliance.rule_editor import rules_said
from components.core.csv_link import csv_of
from components.core.permission import Scope, allowed
from components.ui.box import col, split
from components.ui.button import link
from components.ui.card import card, figure_strip, panel
from components.ui.note import empty
from components.ui.status import status
from components.ui.table import Col, list_table, name_link, pager, table, td, tr
from components.ui.value import amount, short_hash, when
from state.assets.detail import AssetState, DeploymentView
from state.assets.holders import HoldersState, HolderView
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
        [Col("Chain"), Col("Status"), Col("Token"), Col("Supply", right=True), Col("Deployed by")],
        AssetState.asset.places,
        _place,
        empty=empty("link", "Not deployed on any chain yet"),
        loading=AssetState.loading,
        problem=rx.Var.create(""),
    )


def _place(place: rx.Var[DeploymentView]) -> rx.Component:
    asset = AssetState.asset
    silent = rx.el.span("chain not responding", class_name="muted")
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


def holders() -> rx.Component:
    """Draw the cap table."""
    return panel(
        list_table(
            "Holders",
            [
                Col("Holder"),
                Col("Address"),
                Col("Chain"),
                Col("Available", right=True),
                Col("In orders", right=True),
                Col("Frozen", right=True),
                Col("Total", right=True),
                Col("Share", right=True),
            ],
            HoldersState,
            _holder,
            empty=empty("users", "No holders yet", "The treasury gets the initial supply on deployment."),
        ),
        _total(),
        pager(
            "From the transfers on each chain",
            HoldersState,
            csv=csv_of("/assets/" + rx.State.asset_id + "/holders"),
        ),
        label="Holders",
        on_mount=HoldersState.load,
    )


def _total() -> rx.Component:
    """Say of what the shares are parts, and how much of it is in open orders."""
    asset, total, escrowed = AssetState.asset, HoldersState.total, HoldersState.escrowed
    market = link("open orders", ASSET + asset.id + "?tab=markets", on_click=AssetState.go("markets").prevent_default)
    orders = rx.el.span(amount(escrowed, asset.symbol, asset.decimals), " of it in ", market)
    line = rx.el.div(
        rx.el.span("100.00% of ", amount(total, asset.symbol, asset.decimals)),
        rx.cond(escrowed != "0", orders, rx.fragment()),
        class_name="card-foot row wrap holders-total",
    )
    return rx.cond((HoldersState.rows.length() > 0) & (total != "") & (total != "0"), line, rx.fragment())


def _holder(holder: rx.Var[HolderView]) -> rx.Component:
    name: Any = rx.cond(holder.name != "", holder.name, rx.el.span("Not known here", class_name="muted"))
    kind = rx.el.span(holder.kind, class_name="muted small")
    return tr(
        td(rx.el.div(rx.el.span(name, class_name="strong"), kind, class_name="col none")),
        td(short_hash(holder.address)),
        td(holder.chain, class_name="muted", label="Chain"),
        td(_part(holder.available), right=True, label="Available"),
        td(_part(holder.escrowed), right=True, label="In orders", class_name="if-any"),
        td(_part(holder.frozen), right=True, label="Frozen", class_name="if-any"),
        td(
            amount(holder.balance, AssetState.asset.symbol, AssetState.asset.decimals),
            right=True,
            label="Total",
        ),
        td(holder.share, right=True, label="Share"),
        key=holder.id,
        class_name="facts",
    )


def _part(value: rx.Var[str]) -> rx.Component:
    """Draw a part of a holder's balance; empty if the chain did not answer."""
    return rx.match(
        value,
        ("", rx.el.span("unknown", class_name="muted")),
        ("0", rx.el.span("none", class_name="muted no-value")),
        amount(value, None, AssetState.asset.decimals),
    )
