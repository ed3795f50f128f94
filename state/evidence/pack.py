"""The open pack of the page: the browser keeps the archive, this state what the API read in it."""

from typing import TypeVar

import reflex as rx
from pydantic import BaseModel

from backend.client import ApiProblem
from backend.evidence.schemas import EvidenceContents, EvidenceVerification
from state.core.api import Loads
from state.core.arguments import words
from state.core.dates import stamp
from state.core.events import Events
from state.core.session import Session
from state.evidence.views import PackView, VerificationView, pack_view, verification_view

T = TypeVar("T", bound=BaseModel)
EXPORTED = "asset.evidence_exported"
"""The action of a pack in the audit log."""
LONGEST = 1_000_000
"""Characters of an answer of the API that the browser passes on."""


class EvidenceState(Loads, rx.State):
    """The page. `path` is the API's path of the asset's evidence; `received` the name of an opened file, empty for a
    pack that was made here. `last_at` and `last_by` are of the newest pack in the audit log: packs are not stored."""

    pack: PackView = PackView()
    verification: VerificationView = VerificationView()
    path: str = ""
    asset_page: str = ""
    symbol: str = ""
    owner: str = ""
    """Whose pack the browser may show again."""
    received: str = ""
    refusal: str = ""
    last_at: str = ""
    last_by: str = ""
    place: str = ""
    """The URL that the state was filled for: a state outlives the page."""
    visits: int = 0

    @rx.event
    async def load(self) -> Events:
        """Begin without a pack, and read when the last one was made. The browser shows the one that it still has."""
        asset = f"{self._org_id()}/assets/{self._in_path('asset_id')}"
        self.path, self.asset_page = f"/v1/orgs/{asset}/evidence", f"/o/{asset}"
        self.pack, self.verification, self.received, self.refusal = PackView(), VerificationView(), "", ""
        self.symbol, self.last_at, self.last_by = "", "", ""
        self.loading, self.problem, self.is_forbidden, self.is_missing = True, "", False, False
        self.owner = (await self.get_state(Session)).user_id
        self.place, self.visits = self._here(), self.visits + 1
        yield
        await self._read()

    async def _read(self) -> None:
        asset = self._in_path("asset_id")
        try:
            self.symbol = (await self._api.get_asset(self._org_id(), asset)).symbol
            made = await self._api.list_audit(self._org_id(), subject=asset, action=EXPORTED, limit=1)
        except ApiProblem as problem:
            self._failed(problem)
            return
        for entry in made.audit:
            self.last_at, self.last_by = stamp(entry.at), entry.actor_name or ""

    @rx.event
    def rest(self) -> None:
        """Show that there is no pack: the browser has none."""
        self.loading = False

    @rx.event
    def begin(self) -> None:
        """Wait for a pack."""
        self.loading, self.problem, self.refusal = True, "", ""

    @rx.event
    async def read(self, contents: str, name: str) -> None:
        """Show the contents that the API read in the browser's archive; `name` is that of a received file."""
        if (found := _parsed(EvidenceContents, contents)) is not None:
            self._loaded()
            self.pack, self.verification = pack_view(found, await self._zone()), VerificationView()
            self.received, self.refusal = words(name, 120), ""

    @rx.event
    async def verified(self, verification: str) -> None:
        """Show the checks that the API made of the browser's archive."""
        if (found := _parsed(EvidenceVerification, verification)) is not None:
            self.verification, self.refusal = verification_view(found, await self._zone()), ""

    @rx.event
    def refused(self, why: str) -> None:
        """Say why the last action failed; the open pack stays."""
        self.loading, self.refusal = False, words(why, 500)


def _parsed(kind: type[T], text: str) -> T | None:
    """Return an answer of the API that the browser passed on; None if the text is not one."""
    if not isinstance(text, str) or len(text) > LONGEST:
        return None
    try:
        return kind.model_validate_json(text)
    except ValueError:
        return None
