"""The form that creates an OAuth client."""

from typing import Any

import reflex as rx

from backend.client import ApiProblem, body
from backend.core.fields import ClientKind
from backend.oauth.schemas import OAuthClientCreate
from state.core.arguments import named, one_of, texts
from state.core.dialogs import Dialog
from state.core.events import Events
from state.oauth.clients import SCOPES, ClientsState, ClientView, client_view


class ClientForm(Dialog, rx.State):
    """The dialog that registers an application, and then shows its id and, once, its secret."""

    created: ClientView = ClientView()
    secret: str = ""

    @rx.event
    def show(self, is_open: bool) -> None:
        """Open or close the dialog; the secret is forgotten."""
        self._done()
        self.is_open, self.secret, self.created = bool(is_open), "", ClientView()

    def _leave(self) -> None:
        if not self.secret:  # it is shown only once
            super()._leave()

    @rx.event
    async def submit(self, data: dict[str, Any]) -> Events:
        """Register the application."""
        self._begin()
        yield
        try:
            # Without the form's idempotency key, because a replay could not return the secret again.
            created = await self._api.create_client(self._org_id(), body(OAuthClientCreate, _fields(data)))
        except ApiProblem as problem:
            self._refused(problem)
            self._keep_at("name", "redirect_uris", "backchannel_logout_uri")
            return
        self._done()
        self.secret, self.created = created.secret or "", client_view(created)
        yield ClientsState.load


def _fields(data: dict[str, Any]) -> dict[str, object]:
    """Return the new application's fields from the form."""
    given, ticked = named(data, "name", "kind", "redirect_uris", "backchannel_logout_uri"), texts(data)
    return {
        "name": given["name"],
        "kind": one_of(given["kind"], ClientKind, ClientKind.CONFIDENTIAL),
        "redirect_uris": given["redirect_uris"].split()[:20],
        "backchannel_logout_uri": given["backchannel_logout_uri"] or None,
        "scopes": [scope for scope in SCOPES if scope == "openid" or scope in ticked],
    }
