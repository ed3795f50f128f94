"""The applications that a user has connected: the table, and the confirmation before one is disconnected."""

import reflex as rx

from components.ui.button import button
from components.ui.card import panel
from components.ui.dialog import confirm
from components.ui.note import empty
from components.ui.table import Col, list_table, pager, td, tr
from components.ui.value import when
from state.oauth.connections import ConnectionsState, ConnectionView, Disconnection


def connections_panel() -> rx.Component:
    """Draw the table of connected applications."""
    why = "Applications that you sign in to with your Signum account appear here with their permissions."
    return panel(
        list_table(
            "Connected applications",
            [
                Col("Application"), Col("Permissions"), Col("Access", narrow=False), Col("Connected", narrow=False),
                Col("Last used"), Col("Actions", hidden=True),
            ],
            ConnectionsState,
            _row,
            empty=empty("app-window", "No connected applications", why),
        ),
        pager("Newest first, 50 per page", ConnectionsState),
        label="Connected applications",
    )  # fmt: skip


def _row(application: rx.Var[ConnectionView]) -> rx.Component:
    what = rx.el.ul(rx.foreach(application.what, lambda words: rx.el.li(words, key=words)), class_name="findings")
    end = button(
        "Disconnect", small=True, on_click=Disconnection.ask(application.id),
        aria_label="Disconnect " + application.name,
    )  # fmt: skip
    return tr(
        td(
            rx.el.div(application.name, class_name="strong break"),
            rx.el.div(application.organization, class_name="muted small break"),
        ),
        td(what, class_name="wrap", full=True),
        td(application.holds, narrow=False, class_name="muted"),
        td(when(application.connected_at), narrow=False, class_name="muted"),
        td(when(application.last_used_at), class_name="muted", label="Last used"),
        td(end, right=True),
        key=application.id,
    )


def disconnect_dialog() -> rx.Component:
    """Ask for confirmation before an application is disconnected."""
    return confirm(
        "Disconnect " + Disconnection.about.name,
        "Its access and every API key it created end immediately. It must ask for your permission to reconnect.",
        form=Disconnection,
        word="Disconnect",
    )
