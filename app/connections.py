"""The applications that the signed-in person has connected."""

import reflex as rx

from app.layout import page
from components.connections import connections_panel, disconnect_dialog
from components.ui.button import link_button
from components.ui.card import page_head
from state.connections import ConnectionsState
from state.session import Session


@page(route="/o/[org_id]/connections", title="Connected applications", on_load=[ConnectionsState.load])
def connections() -> rx.Component:
    """Draw the list."""
    back = link_button("Account", "/o/" + Session.org.id + "/account", "circle-user-round")
    return rx.fragment(
        page_head("Connected applications", "What applications may do in your name", back),
        connections_panel(),
        disconnect_dialog(),
    )
