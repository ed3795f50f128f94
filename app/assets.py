"""The list of assets, and the page that creates one."""

import reflex as rx

from app.shell.layout import Nav, page
from app.shell.sidebar import Action
from components.assets.form import asset_form
from components.core.csv_link import csv_of
from components.core.draft_offer import draft_offer
from components.core.permission import Scope, allowed, lacking
from components.core.saved_views import saved_views
from components.ui.button import link_button
from components.ui.card import page_head, panel
from components.ui.note import empty, page_skeleton
from components.ui.status import status
from components.ui.table import Col, list_table, name_link, pager, td, toolbar, tr
from components.ui.tabs import filters
from components.ui.value import amount, when
from state.assets.form import NewAsset
from state.assets.list import AssetsState, AssetView
from state.core.session import Session

ROUTE = "/o/[org_id]/assets"
HREF = "/o/" + Session.org.id + "/assets"
STATUSES = [
    ("", "All"), ("active", "Active"), ("deploying", "Deploying"), ("updating", "Updating"), ("failed", "Failed"),
]  # fmt: skip


@page(
    route=ROUTE,
    title="Assets",
    nav=Nav(
        "Issuance", "landmark", 30, "a", actions=[Action("New asset", Scope.ASSETS_WRITE, path="/new", words="token")]
    ),
    on_load=[AssetsState.load],
    in_url=[AssetsState],
)
def assets() -> rx.Component:
    """Draw the list of assets."""
    new = allowed(Scope.ASSETS_WRITE, link_button("New asset", HREF + "/new", "plus", kind="primary"))
    who = lacking(Scope.ASSETS_WRITE, "create assets")
    return rx.fragment(
        page_head("Assets", "Your tokenized assets, with rules enforced on chain", saved_views(), new, who=who),
        panel(
            toolbar(filters("Status", AssetsState.status, AssetsState.filter_status, STATUSES)),
            list_table(
                "Assets",
                [Col("Name", sort="name"), Col("Status"), Col("Framework"), Col("Chains"), Col("Supply", right=True),
                 Col("Created", narrow=False, sort="created_at")],
                AssetsState,
                _row,
                empty=_empty(),
                two=True,
            ),
            pager("Newest first, 50 per page", AssetsState, csv=csv_of("/assets", status=AssetsState.status)),
            label="Assets",
        ),
    )  # fmt: skip


def _empty() -> rx.Component:
    first = empty("landmark", "No assets yet", "Issue the first one. Its rules apply on every chain.")
    none = empty("filter", "No assets have this status", None)
    return rx.cond(AssetsState.status == "", first, none)


def _row(asset: rx.Var[AssetView]) -> rx.Component:
    return tr(
        td(
            rx.el.div(name_link(asset.name, HREF + "/" + asset.id)),
            rx.el.div(asset.symbol, class_name="muted small"),
        ),
        td(status(asset.status)),
        td(asset.framework, narrow=False),
        td(asset.chains, label="On"),
        td(amount(asset.supply, asset.symbol, asset.decimals, 2), right=True),
        td(when(asset.created_at), narrow=False, class_name="muted"),
        key=asset.id,
    )


@page(
    route=f"{ROUTE}/new", title="New asset", under=ROUTE, crumbs=[("Assets", HREF), ("New", "")],
    needs=Scope.ASSETS_WRITE,
    on_load=[NewAsset.load],
    in_url=[NewAsset],
)  # fmt: skip
def new_asset() -> rx.Component:
    """Draw the form of a new asset."""
    return rx.fragment(
        page_head("New asset", "Deployed to the chain you choose, with these rules from the start"),
        rx.cond(NewAsset.ready, rx.fragment(draft_offer(NewAsset), asset_form()), page_skeleton()),
    )
