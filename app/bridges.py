"""Bridges: the list, and one packet's story in a drawer."""

import reflex as rx

from app.layout import Nav, page
from components.asset_filter import asset_filter
from components.bridge_story import bridge_story
from components.csv_link import csv_of
from components.ui.box import end, row
from components.ui.card import page_head, panel
from components.ui.icon import icon
from components.ui.note import empty
from components.ui.status import status
from components.ui.table import Col, pager, table, td, toolbar, tr
from components.ui.tabs import filters
from components.ui.value import amount, short_hash, when
from state.bridges import BridgeRow, BridgesState, BridgeState

STATUSES = [
    ("", "All"), ("pending", "Pending"), ("submitting", "Submitting"), ("confirmed", "Confirmed"), ("failed", "Failed"),
]  # fmt: skip


@page(
    route="/o/[org_id]/bridges", title="Bridges", nav=Nav("Issuance", "arrow-left-right", 32, "b"),
    on_load=[BridgeState.hide, BridgesState.load],
)  # fmt: skip
def bridges() -> rx.Component:
    """Draw the list, and the drawer beside it."""
    state = BridgesState
    none = rx.cond(
        (state.status == "") & (state.asset == ""),
        empty("arrow-left-right", "No bridges yet", "An asset crosses to another chain by a bridge, with its rules."),
        empty("filter", "No bridge fits"),
    )
    main = rx.el.div(
        page_head("Bridges", "Packets from chain to chain, each with its rules"),
        panel(
            toolbar(
                filters("Status", state.status, state.filter_status, STATUSES),
                end(asset_filter(state)),
            ),
            table(
                "Bridges",
                [Col("Asset"), Col("Status"), Col("Route"), Col("Amount", right=True), Col("Packet", narrow=False),
                 Col("Begun", narrow=False)],
                state.rows,
                _row,
                empty=none,
                loading=state.loading,
                problem=state.problem,
                is_forbidden=state.is_forbidden,
                on_retry=state.reload,
            ),
            pager(
                "Newest first, 50 a page", has_newer=state.has_newer, has_older=state.has_older, on_newer=state.newer,
                on_older=state.older, busy=state.busy, csv=csv_of("/bridges", status=state.status, assetId=state.asset),
            ),
            label="Bridges",
        ),
        class_name=rx.cond(BridgeState.bridge.id != "", "with-drawer", ""),
    )  # fmt: skip
    return rx.fragment(main, bridge_story())


def _row(bridge: rx.Var[BridgeRow]) -> rx.Component:
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
