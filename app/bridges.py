"""The page of bridges: the list, and one packet's history in a drawer."""

import reflex as rx

from app.shell.layout import Nav, page
from components.assets.choice import asset_filter
from components.bridges.story import bridge_story
from components.core.csv_link import csv_of
from components.core.saved_views import saved_views
from components.ui.box import end, row
from components.ui.card import page_head, panel
from components.ui.icon import icon
from components.ui.note import empty
from components.ui.status import status
from components.ui.table import Col, list_table, pager, td, toolbar, tr
from components.ui.tabs import filters
from components.ui.value import amount, short_hash, when
from state.bridges.list import BridgesState, BridgeState, BridgeView

STATUSES = [
    ("", "All"), ("pending", "Pending"), ("submitting", "Submitting"), ("confirmed", "Confirmed"), ("failed", "Failed"),
]  # fmt: skip


@page(
    route="/o/[org_id]/bridges", title="Bridges", nav=Nav("Issuance", "arrow-left-right", 32, "b"),
    on_load=[BridgeState.hide, BridgesState.load, BridgeState.load],
    in_url=[BridgesState, BridgeState],
)  # fmt: skip
def bridges() -> rx.Component:
    """Draw the list, and the selected bridge in a drawer."""
    state = BridgesState
    none = rx.cond(
        (state.status == "") & (state.asset == ""),
        empty("arrow-left-right", "No bridges yet", "A bridge takes an asset to another chain, with its rules."),
        empty("filter", "No bridges match these filters"),
    )
    main = rx.el.div(
        page_head("Bridges", "Tokens and rules sent from chain to chain", saved_views()),
        panel(
            toolbar(
                filters("Status", state.status, state.filter_status, STATUSES),
                end(asset_filter(state)),
            ),
            list_table(
                "Bridges",
                [Col("Asset"), Col("Status"), Col("Route"), Col("Amount", right=True), Col("Packet", narrow=False),
                 Col("Started", narrow=False, sort="created_at")],
                state,
                _row,
                empty=none,
            ),
            pager("Newest first, 50 per page", state, csv=csv_of("/bridges", status=state.status, assetId=state.asset)),
            label="Bridges",
        ),
        class_name=rx.cond(BridgeState.bridge.id != "", "with-drawer", ""),
    )  # fmt: skip
    return rx.fragment(main, bridge_story())


def _row(bridge: rx.Var[BridgeView]) -> rx.Component:
    open_ = rx.el.button(
        bridge.symbol,
        type="button",
        class_name="name",
        aria_label="Show the " + bridge.status + " bridge of " + bridge.symbol + " to " + bridge.destination,
        on_click=BridgeState.show(bridge.id),
    )  # fmt: skip
    what = rx.cond(
        bridge.amount == "0",
        rx.el.span("rules only", class_name="muted"),
        amount(bridge.amount, bridge.symbol, bridge.decimals),
    )
    return tr(
        td(open_),
        td(status(bridge.status)),
        td(row(bridge.source, icon("arrow-right", 13), bridge.destination), full=True),
        td(what, right=True, full=True, label="Carries"),
        td(short_hash(bridge.guid, "packet id"), narrow=False),
        td(when(bridge.created_at), narrow=False, class_name="muted"),
        key=bridge.id,
        aria_selected=rx.cond(BridgeState.bridge.id == bridge.id, "true", "false"),
    )
