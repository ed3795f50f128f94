"""The palette: its search of organizations anywhere and of other records in this organization and below, and the links
that open a page's dialog."""

import asyncio
from typing import Any, ClassVar
from urllib.parse import quote

import reflex as rx

from backend.auth.scopes import Scope
from backend.client import ApiProblem
from backend.search.schemas import Found
from state.core import arguments
from state.core.address import Addressed, Param
from state.core.api import Api
from state.core.events import Next
from state.core.session import Session

GROUPS = {
    "asset": "Assets",
    "market": "Markets",
    "distribution": "Distributions",
    "party": "Parties",
    "member": "Members",
    "invitation": "Invitations",
    "wallet": "Wallets",
    "attestation": "Attestations",
    "transfer": "Transfers",
    "bridge": "Bridges",
    "request": "Requests",
    "api_key": "API keys",
    "chain": "Chains",
}
PLACES = {
    "asset": "assets/{id}",
    "market": "markets/{id}",
    "distribution": "distributions/{id}",
    "party": "parties?id={id}",
    "member": "members?q={title}",
    "invitation": "members?tab=invitations",
    "wallet": "wallets?id={id}",
    "attestation": "attestations?show=active&id={id}",
    "transfer": "transfers?id={id}",
    "bridge": "bridges?id={id}",
    "request": "requests?id={id}",
    "api_key": "api-keys",
    "chain": "chains?id={id}",
}
"""The page of each kind, below its organization."""
WITH_CODE = ("transfer", "bridge", "request", "party", "member", "invitation")
"""Kinds whose detail begins with a status or a role."""
LONGEST = 100
"""Characters of a text that a list searches."""


class Finder(Api, rx.State):
    """The palette's results."""

    found: list[dict[str, Any]] = []
    found_for: str | None = None
    """The text that they were found for; None before the first search."""

    @rx.event(supersedes=True)
    async def find(self, words: str) -> None:
        """Search organizations and, once there is text, all records the user may see here."""
        wanted, session = arguments.words(words), await self.get_state(Session)
        organizations, records = await asyncio.gather(session._organizations(wanted), self._records(wanted))
        self.found, self.found_for = [*records, *organizations], arguments.typed(words)

    async def _records(self, words: str) -> list[dict[str, Any]]:
        """Return matching records by kind, the best match's kind first; empty if the user may not search here."""
        if not words or not self._org_id():
            return []
        try:
            page = await self._api.search_organization(self._org_id(), q=words, limit=30)
        except ApiProblem as problem:
            if problem.status in (403, 422):
                return []
            return [{"id": "unread", "label": "Records were not searched", "sub": problem.detail, "off": True}]
        rows = [row for row in page.results if row.kind in GROUPS]
        kinds = list(dict.fromkeys(row.kind for row in rows))
        return [self._option(row) for row in sorted(rows, key=lambda row: kinds.index(row.kind))]

    def _option(self, row: Found) -> dict[str, Any]:
        is_here = str(row.organization_id) == self._org_id()
        code, *more = row.detail.split(", ")
        detail = ", ".join([code.replace("_", " "), *more]) if row.kind in WITH_CODE else row.detail
        place = PLACES[row.kind].format(id=row.id, title=quote(row.title[:LONGEST], safe=""))
        return {
            "id": f"{row.kind}:{row.id}",
            "label": row.title,
            "sub": " · ".join(filter(None, [detail, "" if is_here else row.organization_name])),
            "group": GROUPS[row.kind],
            "href": f"/o/{row.organization_id}/{place}",
        }


# Declared at import.
dialogs: dict[str, tuple[Scope, Any]] = {}
"""By `new` in the URL of a page: the scope that its dialog's action needs, and the event that opens the dialog."""


class DialogLink(Addressed, rx.State):
    """`?new=` in the URL of a page, which opens one of its dialogs."""

    new: str = ""
    """Always empty: once the page is shown, its URL is that of the page."""
    _in_url: ClassVar[dict[str, Param]] = {"new": Param("new", lambda *_: "", "opening")}

    @rx.event
    async def follow(self) -> Next:
        """Open the dialog that the URL names, for users who may do what it is for."""
        needed, opens = dialogs.get(self._query("new"), (None, None))
        session = await self.get_state(Session)
        return opens if needed in session.org.scopes else None
