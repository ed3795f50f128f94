"""The open pack of the page: the browser keeps the archive, this state what the API read in it."""

from typing import TypeVar

import reflex as rx
from pydantic import BaseModel

from backend.evidence.schemas import EvidenceContents, EvidenceVerification
from state.core.api import Loads
from state.core.arguments import words
from state.evidence.views import PackView, VerificationView, pack_view, verification_view

T = TypeVar("T", bound=BaseModel)
LONGEST = 1_000_000
"""Characters of an answer of the API that the browser passes on."""


class EvidenceState(Loads, rx.State):
    """The page. `path` is the API's path of the asset's evidence; `received` the name of an opened file, empty for a
    pack that was made for the page."""

    pack: PackView = PackView()
    verification: VerificationView = VerificationView()
    path: str = ""
    asset_page: str = ""
    received: str = ""
    refusal: str = ""
    place: str = ""
    """The URL that the state was filled for: a state outlives the page."""
    visits: int = 0

    @rx.event
    def load(self) -> None:
        """Begin with no pack: the browser has one made."""
        asset = f"{self._org_id()}/assets/{self._in_path('asset_id')}"
        self.path, self.asset_page = f"/v1/orgs/{asset}/evidence", f"/o/{asset}"
        self.pack, self.verification, self.received, self.refusal = PackView(), VerificationView(), "", ""
        self.loading, self.problem, self.is_forbidden, self.is_missing = True, "", False, False
        self.place, self.visits = self._here(), self.visits + 1

    @rx.event
    def read(self, contents: str, name: str) -> None:
        """Show the contents that the API read in the browser's archive; `name` is that of a received file."""
        if (found := _parsed(EvidenceContents, contents)) is not None:
            self._loaded()
            self.pack, self.verification = pack_view(found), VerificationView()
            self.received, self.refusal = words(name, 120), ""

    @rx.event
    def verified(self, verification: str) -> None:
        """Show the checks that the API made of the browser's archive."""
        if (found := _parsed(EvidenceVerification, verification)) is not None:
            self.verification, self.refusal = verification_view(found), ""

    @rx.event
    def failed(self, why: str, status: int) -> None:
        """Say why there is no pack."""
        self.loading, self.problem = False, words(why, 500)
        self.is_forbidden, self.is_missing = status == 403, status == 404

    @rx.event
    def refused(self, why: str) -> None:
        """Say why the last action failed; the open pack stays."""
        self.refusal = words(why, 500)


def _parsed(kind: type[T], text: str) -> T | None:
    """Return an answer of the API that the browser passed on; None if the text is not one."""
    if not isinstance(text, str) or len(text) > LONGEST:
        return None
    try:
        return kind.model_validate_json(text)
    except ValueError:
        return None
