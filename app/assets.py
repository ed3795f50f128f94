"""The list of assets, and the page that makes one."""

import reflex as rx

from app.layout import Nav, page
from components.asset_form import asset_form
from components.csv_link import csv_of
from components.permission import for_issuers
from components.ui.button import link_button
from components.ui.card import page_head, panel
from components.ui.note import empty, page_skeleton
from components.ui.status import status
from components.ui.table import Col, name_link, pager, table, td, toolbar, tr
from components.ui.tabs import filters
from components.ui.value import amount, when
from state.assets import AssetRow, AssetsState, NewAsset
from state.session import Session

ROUTE = "/o/[org_id]/assets"
HREF = "/o/" + Session.org.id + "/assets"
STATUSES = [
    ("", "All"), ("active", "Active"), ("deploying", "Deploying"), ("updating", "Updating"), ("failed", "Failed"),
]  # fmt: skip


@page(route=ROUTE, title="Assets", nav=Nav("Issuance", "landmark", 30, "a"), on_load=[AssetsState.load])
def assets() -> rx.Component:
    """Draw the list."""
    new = for_issuers(link_button("New asset", HREF + "/new", "plus", kind="primary"))
    return rx.fragment(
        page_head("Assets", "Tokens whose rules are enforced on chain", new),
        panel(
            toolbar(filters("Status", AssetsState.status, AssetsState.filter, STATUSES)),
            table(
                "Assets",
                [Col("Name"), Col("Status"), Col("Framework"), Col("Chains"), Col("Supply", right=True),
                 Col("Created", narrow=False)],
                AssetsState.rows,
                _row,
                empty=_empty(),
                loading=AssetsState.loading,
                problem=AssetsState.problem,
                is_forbidden=AssetsState.is_forbidden,
                on_retry=AssetsState.reload,
                two=True,
            ),
            pager(
                "Newest first, 50 a page", has_newer=AssetsState.has_newer, has_older=AssetsState.has_older,
                on_newer=AssetsState.newer, on_older=AssetsState.older, busy=AssetsState.busy,
                csv=csv_of("/assets", status=AssetsState.status),
            ),
            label="Assets",
        ),
    )  # fmt: skip


def _empty() -> rx.Component:
    first = empty("landmark", "No assets yet", "Issue the first one. It takes its rules along to every chain.")
    none = empty("filter", "No asset has this status", None)
    return rx.cond(AssetsState.status == "", first, none)


def _row(asset: rx.Var[AssetRow]) -> rx.Component:
    return tr(
        td(
            rx.el.div(name_link(asset.name, HREF + "/" + asset.id)),
            rx.el.div(asset.symbol, class_name="muted small"),
        ),
        td(status(asset.status)),
        td(asset.framework, narrow=False),
        td(asset.chains, label="On"),
        td(amount(asset.supply, asset.symbol, asset.decimals), right=True),
        td(when(asset.created_at), narrow=False, class_name="muted"),
        key=asset.id,
    )


@page(
    route=f"{ROUTE}/new", title="New asset", under=ROUTE, crumbs=[("Assets", HREF), ("New", "")],
    on_load=[NewAsset.load],
)  # fmt: skip
def new_asset() -> rx.Component:
    """Draw the form."""
    return rx.fragment(
        page_head("New asset", "It is deployed on the chain you choose, with these rules from its first block on."),
        rx.cond(NewAsset.ready, asset_form(), page_skeleton()),
    )
