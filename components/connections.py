"""The applications that a person has connected: the table, and the question before one is disconnected."""

import reflex as rx

from components.ui.button import button
from components.ui.card import panel
from components.ui.dialog import confirm
from components.ui.note import empty
from components.ui.table import Col, pager, table, td, tr
from components.ui.value import when
from state.connections import ConnectionRow, ConnectionsState, Disconnection


def connections_panel() -> rx.Component:
    """Draw the table."""
    why = "When you sign in to an application with your account here, it is listed with what it may do."
    return panel(
        table(
            "Connected applications",
            [
                Col("Application"), Col("It may"), Col("Holds", narrow=False), Col("Connected", narrow=False),
                Col("Last used"), Col("Actions", hidden=True),
            ],
            ConnectionsState.rows,
            _row,
            empty=empty("app-window", "No connected applications", why),
            loading=ConnectionsState.loading,
            problem=ConnectionsState.problem,
            is_forbidden=ConnectionsState.is_forbidden,
            on_retry=ConnectionsState.reload,
        ),
        pager(
            "Newest first, 50 a page", has_newer=ConnectionsState.has_newer, has_older=ConnectionsState.has_older,
            on_newer=ConnectionsState.newer, on_older=ConnectionsState.older, busy=ConnectionsState.busy,
        ),
        label="Connected applications",
    )  # fmt: skip


def _row(application: rx.Var[ConnectionRow]) -> rx.Component:
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
    """Ask before an application is disconnected."""
    return confirm(
        "Disconnect " + Disconnection.about.name,
        "Its access ends at once, with every API key it made. It has to ask you again before it can return.",
        is_open=Disconnection.is_open,
        on_open_change=Disconnection.show,
        on_confirm=Disconnection.confirm,
        problem=Disconnection.form_problem,
        busy=Disconnection.saving,
        word="Disconnect",
    )
