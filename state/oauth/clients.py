"""Applications that sign users in with Signum, as the settings show them."""

from dataclasses import dataclass
from typing import ClassVar

import reflex as rx

from backend.oauth.schemas import OAuthClient
from state.core.dates import stamp
from state.core.dialogs import Removes
from state.core.events import Next
from state.core.paging import Listed, Pages

SCOPES = ("openid", "profile", "email", "kyc:status", "chains:read")
"""The scopes that the dialog offers; the API accepts more."""


@dataclass
class ClientView:
    """An application without its secret."""

    id: str = ""
    name: str = ""
    kind: str = ""
    addresses: str = ""
    scopes: str = ""
    created_at: str = ""
    status: str = "active"


class ClientsState(Pages, rx.State):
    """The list of applications, in keyset pages."""

    rows: list[ClientView] = []
    _sorts: ClassVar[tuple[str, ...]] = ("created_at",)
    _table: ClassVar[str] = "applications_"

    async def _fetch(self, cursor: str) -> str | None:
        page = await self._api.list_clients(self._org_id(), cursor=cursor or None, **self._order())
        self.rows = [client_view(client) for client in page.oauth_clients]
        return page.nextCursor


class ClientRemoval(Removes, rx.State):
    """The confirmation before an application is removed."""

    about: ClientView = ClientView()

    def _list(self) -> type[Listed]:
        return ClientsState

    async def _remove(self) -> Next:
        await self._api.remove_client(self._org_id(), self.about.id)
        return ClientsState.reload

    def _words(self) -> tuple[str, str]:
        return f"{self.about.name} is removed", "Everyone signed in through it was signed out."


def client_view(client: OAuthClient) -> ClientView:
    """Convert the API's application."""
    return ClientView(
        id=str(client.id),
        name=client.name,
        kind=client.kind,
        addresses=", ".join(client.redirect_uris),
        scopes=", ".join(client.scopes),
        created_at=stamp(client.created_at),
        status="revoked" if client.revoked_at else "active",
    )
