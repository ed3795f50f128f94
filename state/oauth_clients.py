"""Applications that sign people in with Signum, as the settings show them."""

from dataclasses import dataclass
from typing import Any

import reflex as rx

from backend.client import ApiProblem
from backend.oauth.schemas import ClientKind
from state.api import Form
from state.given import named, one_of, texts
from state.paging import Pages
from state.removing import Removes

SCOPES = ("openid", "profile", "email", "kyc:status", "chains:read")
"""What the dialog offers; the API takes more."""


@dataclass
class ClientRow:
    """An application without its secret."""

    id: str = ""
    name: str = ""
    kind: str = ""
    addresses: str = ""
    scopes: str = ""
    created_at: str = ""
    status: str = "active"


class ClientsState(Pages, rx.State):
    """The list, by pages."""

    rows: list[ClientRow] = []

    async def _fetch(self, cursor: str) -> str | None:
        page = await self._api("GET", "/orgs/{org}/oauth-clients", params={"cursor": cursor})
        self.rows = [_row(row) for row in page["oauth_clients"]]
        next_cursor: str | None = page["nextCursor"]
        return next_cursor

    @rx.event
    async def load(self):
        """Read the first page."""
        await self._restart()


class ClientForm(Form, rx.State):
    """The dialog that registers one, and then shows its id and, once, its secret."""

    is_open: bool = False
    made: ClientRow = ClientRow()
    secret: str = ""

    @rx.event
    def show(self, is_open: bool):
        """Open or close it; what was shown once is forgotten."""
        self._done()
        self.is_open, self.secret, self.made = bool(is_open), "", ClientRow()

    @rx.event
    async def submit(self, data: dict[str, Any]):
        """Register it."""
        self._begin()
        yield
        given, ticked = named(data, "name", "kind", "redirect_uris", "backchannel_logout_uri"), texts(data)
        body = {
            "name": given["name"],
            "kind": one_of(given["kind"], ClientKind, ClientKind.CONFIDENTIAL),
            "redirect_uris": given["redirect_uris"].split()[:20],
            "backchannel_logout_uri": given["backchannel_logout_uri"] or None,
            "scopes": [scope for scope in SCOPES if scope == "openid" or scope in ticked],
        }
        try:
            # Without an idempotency key: a replay could not carry the secret again.
            made = await self._api("POST", "/orgs/{org}/oauth-clients", json=body)
        except ApiProblem as problem:
            self._refused(problem)
            self._keep_at("name", "redirect_uris", "backchannel_logout_uri")
            return
        self._done()
        self.secret, self.made = made["secret"] or "", _row(made)
        yield ClientsState.load


class ClientRemoval(Removes, rx.State):
    """The question before an application is removed."""

    about: ClientRow = ClientRow()

    def _list(self) -> type[Pages]:
        return ClientsState

    def _path(self) -> str:
        return f"/oauth-clients/{self.about.id}"

    def _words(self) -> tuple[str, str]:
        return f"{self.about.name} is removed", "Nobody is signed in by it any more."


def _row(told: dict[str, Any]) -> ClientRow:
    return ClientRow(
        id=told["id"],
        name=told["name"],
        kind=told["kind"],
        addresses=", ".join(told["redirect_uris"]),
        scopes=", ".join(told["scopes"]),
        created_at=told["created_at"],
        status="revoked" if told["revoked_at"] else "active",
    )
