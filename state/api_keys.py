"""API keys: the list, making one that is shown once, revoking."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import reflex as rx

from backend.auth.scopes import Scope
from backend.client import ApiProblem
from state.api import Form
from state.given import named, one_of
from state.ip_ranges import name_entries, ranges_of, shown
from state.paging import Pages
from state.removing import Removes

DAYS = {"30": 30, "90": 90, "365": 365, "never": 0}
SETS: dict[str, list[str]] = {
    "dashboard": [
        Scope.ORGS_READ, Scope.ASSETS_READ, Scope.MEMBERS_READ, Scope.ATTESTATIONS_READ, Scope.TRANSFERS_READ,
    ],
    "issuer": [Scope.ATTESTATIONS_READ, Scope.ATTESTATIONS_WRITE, Scope.WALLETS_READ],
    "keys": [Scope.API_KEYS_READ, Scope.API_KEYS_WRITE],
    "full": list(Scope),
}  # fmt: skip
"""The recommended sets."""


@dataclass
class KeyRow:
    """A key without its text. `status` is active, expiring, expired or revoked."""

    id: str = ""
    name: str = ""
    shown: str = ""
    scopes: list[str] = field(default_factory=list)
    count: int = 0
    network: str = ""
    last_used_at: str = ""
    expires_at: str = ""
    created_at: str = ""
    status: str = "active"
    made_by: str = ""
    ip_ranges: str = ""
    """The first of its ranges and how many more; empty where it works everywhere."""
    all_ip_ranges: str = ""


class KeysState(Pages, rx.State):
    """The list, by pages."""

    rows: list[KeyRow] = []

    async def _fetch(self, cursor: str) -> str | None:
        page = await self._api("GET", "/orgs/{org}/api-keys", params={"cursor": cursor})
        now = datetime.now(UTC)
        self.rows = [_key(row, now) for row in page["api_keys"]]
        next_cursor: str | None = page["nextCursor"]
        return next_cursor

    @rx.event
    async def load(self):
        """Read the first page."""
        await self._restart()


class KeyForm(Form, rx.State):
    """The dialog that makes a key, and then shows it once: `secret` is its text until the dialog closes."""

    is_open: bool = False
    scopes: list[str] = []
    secret: str = ""
    name: str = ""

    @rx.var
    def chosen_set(self) -> str:
        """The recommended set that the chosen scopes are, or "custom"."""
        chosen = set(self.scopes)
        return next((name for name, scopes in SETS.items() if set(scopes) == chosen), "custom")

    @rx.var
    def blind(self) -> list[str]:
        """What the key may write but not read."""
        names = [scope.removesuffix(":write") for scope in self.scopes if scope.endswith(":write")]
        return [name for name in names if f"{name}:read" not in self.scopes]

    @rx.event
    def show(self, is_open: bool):
        """Open or close it; what was shown once is forgotten."""
        self._done()
        self.is_open, self.secret, self.name = bool(is_open), "", ""
        self.scopes = [str(scope) for scope in SETS["dashboard"]]

    @rx.event
    def choose(self, name: str):
        """Take a recommended set."""
        if known := one_of(name, SETS):
            self.scopes, self.errors = [str(scope) for scope in SETS[known]], {}

    @rx.event
    def toggle(self, scope: str):
        """Take a scope in, or out."""
        if known := one_of(scope, Scope):
            kept = {*self.scopes} ^ {known}
            self.scopes, self.errors = [str(s) for s in Scope if s in kept], {}

    @rx.event
    def see(self):
        """Add the reads that are missing beside the writes."""
        wanted = {*self.scopes, *(f"{name}:read" for name in self.blind)}
        self.scopes = [str(s) for s in Scope if s in wanted]

    @rx.event
    async def submit(self, data: dict[str, Any]):
        """Make the key."""
        self._begin()
        yield
        if not self.scopes:
            self.saving, self.errors = False, {"scopes": "Choose at least one scope"}
            return
        given = named(data, "name", "network", "days")
        days = DAYS.get(given["days"], 90)
        expires = (datetime.now(UTC) + timedelta(days=days)).isoformat() if days else None
        network = given["network"] or None
        ranges = ranges_of(data)
        body = {
            "name": given["name"],
            "scopes": self.scopes,
            "network": network,
            "expires_at": expires,
            "allowed_ip_ranges": ranges,
        }
        try:
            # Without an idempotency key: a replay could not carry the secret again.
            made = await self._api("POST", "/orgs/{org}/api-keys", json=body)
        except ApiProblem as problem:
            name_entries(problem, ranges)
            self._refused(problem)
            return
        self._done()
        self.secret, self.name = made["key"] or "", made["name"]
        yield KeysState.load


class KeyRevocation(Removes, rx.State):
    """The question before a key is revoked."""

    about: KeyRow = KeyRow()

    def _list(self) -> type[Pages]:
        return KeysState

    def _path(self) -> str:
        return f"/api-keys/{self.about.id}"

    def _words(self) -> tuple[str, str]:
        return f"{self.about.name} is revoked", "It stopped working at once."


def _key(row: dict[str, Any], now: datetime) -> KeyRow:
    return KeyRow(
        id=row["id"],
        name=row["name"],
        shown=f"{row['prefix']}…{row['last_four']}",
        scopes=row["scopes"],
        count=len(row["scopes"]),
        network=row["network"] or "",
        last_used_at=row["last_used_at"] or "",
        expires_at=row["expires_at"] or "",
        created_at=row["created_at"],
        status=_status(row, now),
        ip_ranges=shown(row["allowed_ip_ranges"]),
        all_ip_ranges=", ".join(row["allowed_ip_ranges"]),
        made_by="an application" if row["client_id"] else "another key" if row["parent_id"] else "",
    )


def _status(row: dict[str, Any], now: datetime) -> str:
    """What the key is now; it is expiring in its last 14 days."""
    if row["revoked_at"]:
        return "revoked"
    if not row["expires_at"]:
        return "active"
    left = datetime.fromisoformat(row["expires_at"]) - now
    if left <= timedelta(0):
        return "expired"
    return "expiring" if left < timedelta(days=14) else "active"
