"""The page of bridges: the list, and one packet's history in a drawer."""

import reflex as rx

from app.shell.layout import Nav, page
from app.shell.sidebar import Action
from components.assets.choice import asset_filter
from components.bridges.form import bridge_dialog
from components.bridges.story import bridge_story
from components.core.csv_link import csv_of
from components.core.permission import Scope, allowed, lacking, may
from components.core.saved_views import saved_views
from components.ui.box import end, row
from components.ui.button import button, link
from components.ui.card import page_head, panel
from components.ui.icon import icon
from components.ui.note import empty
from components.ui.status import status
from components.ui.table import Col, list_table, pager, td, toolbar, tr
from components.ui.tabs import counted, filters
from components.ui.value import amount, no_value, short_hash, when
from state.bridges.form import NewBridge
from state.bridges.list import BridgesState, BridgeState, BridgeView

STATUSES = [
    ("", "All"), ("pending", "Pending"), ("submitting", "Sending"), ("confirmed", "Confirmed"), ("failed", "Failed"),
]  # fmt: skip


@page(
    route="/o/[org_id]/bridges", title="Bridges",
    nav=Nav(
        "Issuance", "arrow-left-right", 32, "b",
        actions=[Action("New bridge", Scope.ASSETS_WRITE, NewBridge.show(True))],
    ),
    on_load=[BridgeState.hide, BridgesState.load, BridgeState.load, NewBridge.enter],
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
    new = allowed(Scope.ASSETS_WRITE, button("New bridge", "plus", kind="primary", on_click=NewBridge.show(True)))
    who = lacking(Scope.ASSETS_WRITE, "start bridges or return their tokens")
    main = rx.el.div(
        page_head("Bridges", "Tokens and rules sent from chain to chain", saved_views(), new, who=who),
        panel(
            toolbar(
                filters("Status", state.status, state.filter_status, counted(STATUSES, state)),
                end(asset_filter(state)),
            ),
            list_table(
                "Bridges",
                [Col("Asset"), Col("Status"), Col("Route"), Col("Receiver"), Col("Amount", right=True),
                 Col("Packet", narrow=False),
                 Col("Started", sort="created_at"), Col("Actions", hidden=True)],
                state,
                _row,
                empty=none,
                two=True,
            ),
            pager("Newest first, 50 per page", state, csv=csv_of("/bridges", status=state.status, assetId=state.asset)),
            label="Bridges",
        ),
        class_name=rx.cond(BridgeState.bridge.id != "", "with-drawer", ""),
    )  # fmt: skip
    return rx.el.div(main, bridge_story(), bridge_dialog(), class_name="bridge-list")


def _row(bridge: rx.Var[BridgeView]) -> rx.Component:
    words = rx.cond(bridge.status == "awaiting_approval", "waiting", bridge.status).to(str)
    open_ = rx.el.button(
        bridge.symbol,
        type="button",
        class_name="name",
        aria_label="Show the " + words + " bridge of " + bridge.symbol + " to " + bridge.destination,
        on_click=BridgeState.show(bridge.id),
    )  # fmt: skip
    what = rx.cond(
        bridge.amount == "0",
        rx.el.span("rules only", class_name="muted"),
        amount(bridge.amount, bridge.symbol, bridge.decimals),
    )
    why = rx.cond(
        (bridge.status == "failed") & (bridge.failure != ""),
        rx.el.div(
            rx.el.div(bridge.failure, title=bridge.failure_full, class_name="muted"),
            rx.cond((bridge.fix_href != "") & may(Scope.ASSETS_WRITE), link(bridge.fix_label, bridge.fix_href), ""),
            class_name="small why",
        ),
        rx.fragment(),
    )
    again = button(
        "Retry bridge",
        "rotate-cw",
        small=True,
        aria_label="Retry bridge of " + bridge.symbol + " to " + bridge.destination,
        on_click=BridgesState.retry(bridge.id),
    )
    route = row(bridge.source, icon("arrow-right", 13), bridge.destination, cls="nowrap")
    returned = rx.cond(bridge.returned_at != "", rx.el.div("Returned", class_name="muted small"), rx.fragment())
    return tr(
        td(open_),
        td(status(bridge.status), returned),
        td(route, why, full=True, class_name="route"),
        td(_receiver(bridge), label="To", full=True, class_name="aside-hidden"),
        td(what, right=True, full=True, label="Amount"),
        td(
            rx.cond(bridge.guid != "", short_hash(bridge.guid, "packet id"), no_value()),
            narrow=False,
            class_name="aside-hidden",
        ),
        td(when(bridge.created_at), class_name="muted aside-hidden", label="Started"),
        td(
            rx.cond(bridge.can_retry & may(Scope.ASSETS_WRITE), again, rx.fragment()),
            right=True,
            full=True,
            class_name="aside-hidden",
        ),
        key=bridge.id,
        aria_selected=rx.cond(BridgeState.bridge.id == bridge.id, "true", "false"),
    )


def _receiver(bridge: rx.Var[BridgeView]) -> rx.Component:
    """Name who gets the tokens: the treasury unless the bridge names a receiver."""
    usual = rx.cond(bridge.amount == "0", no_value(), "Treasury")
    named = rx.cond(bridge.receiver_name != "", bridge.receiver_name, short_hash(bridge.receiver))
    return rx.cond(bridge.receiver != "", named, usual)
