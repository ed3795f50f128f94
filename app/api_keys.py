"""The page of API keys."""

import reflex as rx

from app.shell.layout import Nav, page
from app.shell.sidebar import Action
from components.api_keys.list import key_dialog, keys_panel, new_button, revoke_dialog
from components.core.permission import Scope, allowed, lacking, may, who_can
from components.ui.button import link_button
from components.ui.card import page_head, panel
from components.ui.note import forbidden
from state.api_keys.list import KeyForm, KeysState
from state.core.session import Session
from state.oauth.client_form import ClientForm


@page(
    route="/o/[org_id]/api-keys",
    title="API keys",
    nav=Nav(
        "Network",
        "key-round",
        62,
        "k",
        shown=may(Scope.API_KEYS_READ),
        actions=[
            Action("New key", Scope.API_KEYS_WRITE, KeyForm.show(True)),
            Action("New application", Scope.API_KEYS_WRITE, ClientForm.show(True), words="OAuth client"),
        ],
    ),
    on_load=[KeysState.load],
)
def api_keys() -> rx.Component:
    """Draw the list of API keys."""
    return rx.fragment(
        page_head(
            "API keys",
            "Credentials for programs that call the API, each with its own scopes",
            new_button(),
            who=allowed(Scope.API_KEYS_READ, lacking(Scope.API_KEYS_WRITE, "create and revoke API keys")),
        ),
        rx.cond(KeysState.is_forbidden, _hidden(), keys_panel()),
        key_dialog(),
        revoke_dialog(),
    )


def _hidden() -> rx.Component:
    """Say who can see the keys."""
    back = link_button("Overview", "/o/" + Session.org.id + "/overview", "arrow-left")
    return panel(forbidden(who_can(Scope.API_KEYS_READ, "see API keys"), back), label="API keys")
