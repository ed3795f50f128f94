"""One packet's story: sent, carried, delivered or refused, with its transactions."""

import reflex as rx

from components.bridge_return import return_button, return_dialog
from components.permission import may_issue
from components.ui.box import col
from components.ui.button import button, link
from components.ui.card import kv
from components.ui.dialog import drawer
from components.ui.note import note
from components.ui.progress import request_progress
from components.ui.status import badge
from components.ui.value import amount, short_hash, when
from state.bridges import BridgeRow, BridgeState
from state.session import Session


def bridge_story() -> rx.Component:
    """Draw the drawer."""
    bridge, request = BridgeState.bridge, BridgeState.request
    refused = note(rx.el.b("It was refused. "), bridge.failure, tone="bad")
    what = rx.cond(
        bridge.amount == "0",
        rx.el.span("nothing, the rules only", class_name="muted"),
        amount(bridge.amount, bridge.symbol, bridge.decimals),
    )
    facts = kv(
        ("Status", badge(bridge.status)),
        ("From", bridge.source),
        ("To", bridge.destination),
        ("Carries", what),
        (
            "Receiver",
            rx.cond(bridge.receiver != "", short_hash(bridge.receiver), rx.el.span("none", class_name="muted")),
        ),
        ("Packet", short_hash(bridge.guid, "packet id")),
        ("Sent by", short_hash(bridge.source_tx, "transaction", bridge.source_url)),
        ("Delivered by", short_hash(bridge.destination_tx, "transaction", bridge.destination_url)),
        ("Begun", when(bridge.created_at)),
        ("Last look", when(bridge.checked_at)),
    )
    progress = rx.cond(
        may_issue(), request_progress(request, on_retry=BridgeState.retry), request_progress(request)
    )  # fmt: skip
    shown = drawer(
        "Bridge of " + bridge.symbol,
        rx.el.span(bridge.source, " to ", bridge.destination),
        col(
            rx.cond((bridge.failure != "") & (request.problem == ""), refused, rx.fragment()),
            facts,
            _returned(bridge),
            rx.cond(request.steps.length() > 0, progress, rx.fragment()),
            cls="wide",
        ),
        is_open=bridge.id != "",
        on_close=BridgeState.hide,
        foot=(
            return_button(),
            link("View asset", "/o/" + Session.org.id + "/assets/" + bridge.asset_id),
            rx.el.span(class_name="end"),
            button("Close", on_click=BridgeState.hide),
        ),
    )
    return rx.fragment(shown, return_dialog())


def _returned(bridge: rx.Var[BridgeRow]) -> rx.Component:
    """What became of the supply of a packet that was dropped."""
    facts = kv(
        ("Supply returned", when(bridge.returned_at)),
        ("Returned by", short_hash(bridge.return_tx, "transaction", bridge.return_url)),
    )
    return rx.cond(bridge.returned_at != "", facts, rx.fragment())
