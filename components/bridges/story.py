"""One packet's history: sent, in transit, delivered or refused, with its transactions."""

import reflex as rx

from components.bridges.returns import return_button, return_dialog
from components.requests.progress import request_progress
from components.ui.box import col, row
from components.ui.button import button, link
from components.ui.card import kv
from components.ui.dialog import drawer
from components.ui.note import note
from components.ui.status import badge
from components.ui.value import amount, short_hash, when
from state.bridges.list import BridgeState, BridgeView
from state.core.session import Session


def bridge_story() -> rx.Component:
    """Draw the drawer."""
    bridge, request = BridgeState.bridge, BridgeState.request
    refused = note(rx.el.b("The bridge failed. "), rx.el.span(bridge.failure, title=bridge.failure_full), tone="bad")
    what = rx.cond(
        bridge.amount == "0",
        rx.el.span("rules only", class_name="muted"),
        amount(bridge.amount, bridge.symbol, bridge.decimals),
    )
    facts = kv(
        ("Status", badge(bridge.status)),
        ("From", bridge.source),
        ("To", bridge.destination),
        ("Amount", what),
        (
            "Receiver",
            rx.cond(
                bridge.receiver != "",
                row(
                    rx.cond(bridge.receiver_name != "", rx.el.span(bridge.receiver_name), rx.fragment()),
                    short_hash(bridge.receiver),
                    cls="wrap tight",
                ),
                rx.cond(bridge.amount == "0", rx.el.span("none", class_name="muted"), rx.el.span("Treasury")),
            ),
        ),
        ("Started", when(bridge.created_at)),
    )
    sent = rx.fragment(
        _fact("Packet", bridge.guid, short_hash(bridge.guid, "packet id")),
        _fact("Sent by", bridge.source_tx, short_hash(bridge.source_tx, "transaction", bridge.source_url)),
        _fact(
            "Delivered by",
            bridge.destination_tx,
            short_hash(bridge.destination_tx, "transaction", bridge.destination_url),
        ),
        _fact("Last checked", bridge.checked_at, when(bridge.checked_at)),
    )
    failed = (bridge.status == "failed") & (request.steps.length() > 0)
    progress = request_progress(BridgeState, retry="Retry bridge")
    shown = drawer(
        "Bridge of " + bridge.symbol,
        rx.el.span(bridge.source, " to ", bridge.destination),
        col(
            rx.cond((bridge.failure != "") & (request.problem == ""), refused, rx.fragment()),
            rx.cond(BridgeState.about_failure != "", note(BridgeState.about_failure, tone="warn"), rx.fragment()),
            rx.cond(failed, progress, rx.fragment()),
            rx.el.div(facts, sent),
            _returned(bridge),
            rx.cond((request.steps.length() > 0) & ~failed, progress, rx.fragment()),
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


def _fact(name: str, value: rx.Var[str], shown: rx.Component) -> rx.Component:
    """Draw a fact that a bridge gets only on its way."""
    return rx.cond(value != "", kv((name, shown)), rx.fragment())


def _returned(bridge: rx.Var[BridgeView]) -> rx.Component:
    """Show when and how the supply of a dropped packet was returned."""
    facts = kv(
        ("Supply returned", when(bridge.returned_at)),
        ("Returned by", short_hash(bridge.return_tx, "transaction", bridge.return_url)),
    )
    return rx.cond(bridge.returned_at != "", facts, rx.fragment())
