"""The keys of programs."""

import reflex as rx

from app.layout import Nav, page
from components.api_keys import key_dialog, keys_panel, new_button, revoke_dialog
from components.ui.card import page_head
from state.api_keys import KeysState


@page(
    route="/o/[org_id]/api-keys",
    title="API keys",
    nav=Nav("Network", "key-round", 62, "k"),
    on_load=[KeysState.load],
)
def api_keys() -> rx.Component:
    """Draw the list."""
    return rx.fragment(
        page_head("API keys", "What programs may do for this organization", new_button()),
        keys_panel(),
        key_dialog(),
        revoke_dialog(),
    )
