"""The page of applications that the user has connected."""

import reflex as rx

from app.shell.layout import page
from components.oauth.connections import connections_panel, disconnect_dialog
from components.ui.button import link_button
from components.ui.card import page_head
from state.core.session import Session
from state.oauth.connections import ConnectionsState


@page(route="/o/[org_id]/connections", title="Connected applications", on_load=[ConnectionsState.load])
def connections() -> rx.Component:
    """Draw the list of connected applications."""
    back = link_button("Account", "/o/" + Session.org.id + "/account", "circle-user-round")
    return rx.fragment(
        page_head("Connected applications", "Applications that act in your name, and what each may do", back),
        connections_panel(),
        disconnect_dialog(),
    )
