"""The page of an asset."""

import reflex as rx

from app.shell.layout import page
from components.assets.activity import activity
from components.assets.chains import chains
from components.assets.distributions import distributions
from components.assets.holders import holders
from components.assets.overview import overview
from components.assets.tabs import markets
from components.cap_table.tab import cap_table
from components.compliance.editor import compliance_editor
from components.compliance.transfer_check import transfer_check
from components.controls.controls import controls
from components.core.permission import Scope, allowed
from components.requests.progress import request_progress
from components.ui.arrival import arrival
from components.ui.box import row
from components.ui.button import button, link_button
from components.ui.card import logo, page_head
from components.ui.in_view import InView
from components.ui.note import absent, empty, note, page_skeleton
from components.ui.status import badge
from components.ui.tabs import tabs
from components.ui.value import amount
from state.assets.activity import ActivityState
from state.assets.detail import UNKNOWN, AssetState
from state.assets.prices import AssetPricesState
from state.cap_table.table import CapTableState
from state.core.session import Session

ASSETS = "/o/" + Session.org.id + "/assets"


@page(
    route="/o/[org_id]/assets/[asset_id]",
    title="Asset",
    under="/o/[org_id]/assets",
    crumbs=[("Assets", ASSETS), (rx.cond(AssetState.asset.symbol != "", AssetState.asset.symbol, "Asset"), "")],
    on_load=[AssetState.load],
    in_url=[AssetState, AssetPricesState, ActivityState, CapTableState],
)
def asset() -> rx.Component:
    """Draw the asset, or why it cannot be shown."""
    broken = absent("asset", AssetState, AssetState.reload, link_button("Assets", ASSETS, "arrow-left"))
    known = rx.cond(AssetState.asset.id != "", _whole(), page_skeleton())
    return arrival(AssetState, page_skeleton(), rx.fragment(rx.cond(AssetState.problem != "", broken, known)))


def _whole() -> rx.Component:
    asset = AssetState.asset
    line = row(
        rx.el.span(asset.symbol, class_name="strong"),
        rx.el.span(asset.framework),
        amount(asset.supply, "issued", asset.decimals, 2),
        rx.el.span(asset.places.length(), " ", rx.cond(asset.places.length() == 1, "chain", "chains")),
        cls="wrap asset-line",
    )
    deploy = allowed(
        Scope.ASSETS_WRITE,
        link_button("Deploy market", "/o/" + Session.org.id + "/markets/new?asset=" + asset.id, "store"),
    )
    is_here = AssetState.tab == AssetState.started_on
    evidence = link_button("Evidence", ASSETS + "/" + asset.id + "/evidence", "file-archive")
    return rx.fragment(
        page_head(
            asset.name,
            line,
            evidence,
            deploy,
            badge=badge(rx.cond(asset.is_paused & (asset.status == "active"), "paused", asset.status)),
            before=logo(asset.mark, "lg"),
        ),
        rx.cond((AssetState.request.steps.length() > 0) & (~_ended() | is_here), _progress(), _failure()),
        tabs(
            "Asset",
            AssetState.tab,
            AssetState.go,
            ("overview", "Overview", overview()),
            ("compliance", "Compliance", compliance_editor()),
            ("chains", "Chains", chains()),
            ("markets", "Markets", markets()),
            ("holders", "Holders", holders()),
            ("cap-table", "Cap table", cap_table()),
            ("distributions", "Distributions", distributions()),
            ("controls", "Controls", controls()),
            ("check", "Transfer check", transfer_check()),
            ("activity", "Activity", activity()),
        ),
        rx.cond(AssetState.tab == UNKNOWN, _unknown_tab(), rx.fragment()),
    )


def _unknown_tab() -> rx.Component:
    """Say that the address names a tab that does not exist."""
    first = button("Overview", "arrow-left", on_click=AssetState.go("overview"))
    return empty("file-question", "This tab does not exist", "The link may be mistyped. Choose a tab above.", first)


def _ended() -> rx.Var[bool]:
    status = AssetState.request.status
    return (status == "succeeded") | (status == "failed") | (status == "denied") | (status == "withdrawn")


def _progress() -> rx.Component:
    request = AssetState.request
    away = rx.el.div(
        button("Dismiss", small=True, kind="quiet", on_click=AssetState.dismiss), class_name="dismiss-line"
    )
    shown = request_progress(AssetState)
    return rx.el.div(
        InView.create(of=request.id),
        rx.el.p(request.title, class_name="title-3"),
        shown,
        rx.cond(_ended(), away, rx.fragment()),
        class_name="following",
    )


def _failure() -> rx.Component:
    words = note(rx.el.b("The last operation failed. "), AssetState.asset.failure, tone="bad")
    return rx.cond(AssetState.asset.failure != "", rx.el.div(words, class_name="following"), rx.fragment())
