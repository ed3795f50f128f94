"""API keys: the list, creating a key that is shown once, and revoking one."""

from datetime import UTC, datetime, timedelta
from typing import Any

import reflex as rx

from backend.api_keys.schemas import ApiKeyCreate
from backend.auth.scopes import Scope
from backend.client import ApiProblem, body
from state.api_keys.views import KeyView, key_view
from state.core.arguments import named, one_of
from state.core.dialogs import Dialog, Removes
from state.core.events import Events, Next
from state.core.paging import Listed, Pages
from state.organizations.ip_ranges import name_entries, ranges_of

DAYS = {"30": 30, "90": 90, "365": 365, "never": 0}
SETS: dict[str, list[str]] = {
    "dashboard": [
        Scope.ORGS_READ, Scope.ASSETS_READ, Scope.MEMBERS_READ, Scope.ATTESTATIONS_READ, Scope.TRANSFERS_READ,
    ],
    "issuer": [Scope.ATTESTATIONS_READ, Scope.ATTESTATIONS_WRITE, Scope.WALLETS_READ],
    "keys": [Scope.API_KEYS_READ, Scope.API_KEYS_WRITE],
    "full": list(Scope),
}  # fmt: skip
"""The recommended sets of scopes."""


class KeysState(Pages, rx.State):
    """The list of keys, in keyset pages."""

    rows: list[KeyView] = []

    async def _fetch(self, cursor: str) -> str | None:
        page = await self._api.list_keys(self._org_id(), cursor=cursor or None)
        now = datetime.now(UTC)
        self.rows = [key_view(key, now) for key in page.api_keys]
        return page.nextCursor


class KeyForm(Dialog, rx.State):
    """The dialog that creates a key and then shows it once: `secret` is its text until the dialog closes."""

    scopes: list[str] = []
    secret: str = ""
    name: str = ""

    @rx.var
    def chosen_set(self) -> str:
        """Return the recommended set that matches the selected scopes, or "custom"."""
        chosen = set(self.scopes)
        return next((name for name, scopes in SETS.items() if set(scopes) == chosen), "custom")

    @rx.var
    def blind(self) -> list[str]:
        """Return the resources that the key may write but not read."""
        names = [scope.removesuffix(":write") for scope in self.scopes if scope.endswith(":write")]
        return [name for name in names if f"{name}:read" not in self.scopes]

    @rx.event
    def show(self, is_open: bool) -> None:
        """Open or close the dialog; the secret is forgotten."""
        self._done()
        self.is_open, self.secret, self.name = bool(is_open), "", ""
        self.scopes = [str(scope) for scope in SETS["dashboard"]]

    def _leave(self) -> None:
        if not self.secret:  # it is shown only once
            super()._leave()

    @rx.event
    def choose(self, name: str) -> None:
        """Select a recommended set."""
        if known := one_of(name, SETS):
            self.scopes, self.errors = [str(scope) for scope in SETS[known]], {}

    @rx.event
    def toggle(self, scope: str) -> None:
        """Select or deselect a scope."""
        if known := one_of(scope, Scope):
            kept = {*self.scopes} ^ {known}
            self.scopes, self.errors = [str(s) for s in Scope if s in kept], {}

    @rx.event
    def see(self) -> None:
        """Add the read scopes that are missing for the selected write scopes."""
        wanted = {*self.scopes, *(f"{name}:read" for name in self.blind)}
        self.scopes = [str(s) for s in Scope if s in wanted]

    @rx.event
    async def submit(self, data: dict[str, Any]) -> Events:
        """Create the key."""
        self._begin()
        yield
        if not self.scopes:
            self.saving, self.errors = False, {"scopes": "Choose at least one scope"}
            return
        ranges = ranges_of(data)
        try:
            key = body(ApiKeyCreate, self._fields(data) | {"allowed_ip_ranges": ranges})
            # Without the form's idempotency key, because a replay could not return the secret again.
            created = await self._api.create_key(self._org_id(), key)
        except ApiProblem as problem:
            name_entries(problem, ranges)
            self._refused(problem)
            return
        self._done()
        self.secret, self.name = created.key or "", created.name
        yield KeysState.load

    def _fields(self, data: dict[str, Any]) -> dict[str, object]:
        """Return the new key's fields, without its IP ranges."""
        given = named(data, "name", "network", "days")
        days = DAYS.get(given["days"], 90)
        return {
            "name": given["name"],
            "scopes": self.scopes,
            "network": given["network"] or None,
            "expires_at": datetime.now(UTC) + timedelta(days=days) if days else None,
        }


class KeyRevocation(Removes, rx.State):
    """The confirmation before a key is revoked."""

    about: KeyView = KeyView()

    def _list(self) -> type[Listed]:
        return KeysState

    async def _remove(self) -> Next:
        await self._api.revoke_key(self._org_id(), self.about.id)
        return KeysState.reload

    def _words(self) -> tuple[str, str]:
        return f"{self.about.name} is revoked", "It no longer works."
