"""The activity tab of an asset."""

import reflex as rx

from components.core.csv_link import csv_of
from components.ui.box import text
from components.ui.card import panel
from components.ui.note import empty
from components.ui.status import status
from components.ui.table import Col, list_table, name_link, pager, td, toolbar, tr
from components.ui.tabs import filters
from components.ui.value import no_value, short_hash, when
from state.assets.activity import ActivityState, ActivityView

KINDS = [
    ("", "All"), ("mint", "Mints"), ("burn", "Burns"), ("transfer", "Transfers"), ("trade", "Trades"),
    ("order", "Orders"), ("rules", "Rules"), ("control", "Freezes and controls"), ("market", "Markets"),
    ("bridge", "Bridges"), ("distribution", "Distributions"), ("funding", "Funding"), ("claim", "Claims"),
    ("operation", "Other operations"),
]  # fmt: skip


def activity() -> rx.Component:
    """Draw everything that happened to the asset, newest first."""
    state = ActivityState
    nothing = rx.cond(
        state.kind == "",
        empty(
            "list-checks",
            "No activity yet",
            "Issues, transfers, trades, rule changes, freezes, markets, bridges and distributions appear here.",
        ),
        empty("filter", "No activity of this kind"),
    )
    return panel(
        toolbar(filters("Kind", state.kind, state.filter_kind, KINDS)),
        list_table(
            "Activity of this asset",
            [
                Col("Activity"),
                Col("Status"),
                Col("Chain"),
                Col("By"),
                Col("Transaction"),
                Col("When"),
            ],
            state,
            _row,
            empty=nothing,
            two=True,
        ),
        pager(
            "Newest first, 50 per page",
            state,
            csv=csv_of("/assets/" + rx.State.asset_id + "/activity", kind=state.kind),
        ),
        label="Activity",
        on_mount=state.load,
    )


def _row(entry: rx.Var[ActivityView]) -> rx.Component:
    name = rx.cond(entry.href != "", name_link(entry.title, entry.href), rx.el.span(entry.title, class_name="name"))
    parties = rx.cond(entry.parties != "", text(entry.parties, cls="muted small"), rx.fragment())
    return tr(
        td(rx.el.div(name, parties, class_name="col none"), full=True),
        td(rx.cond(entry.status != "", status(entry.status), no_value()), class_name="second"),
        td(entry.chain, class_name="muted"),
        td(
            rx.cond(entry.actor != "", rx.el.span(entry.actor), no_value()),
            rx.cond(entry.approver != "", rx.el.div("approved by ", entry.approver, class_name="small"), rx.fragment()),
            class_name="muted by",
            label="By",
        ),
        td(
            rx.cond(entry.tx_hash != "", short_hash(entry.tx_hash, "transaction", entry.tx_url), no_value()),
        ),
        td(when(entry.created_at), class_name="muted second"),
        key=entry.id,
        class_name="event",
    )
