"""The CSV import of parties: its preview, and what it created."""

from dataclasses import dataclass

import reflex as rx
from pydantic import ValidationError

from backend.parties.schemas import PartyImported, PartyImportPlan
from state.core.dialogs import Dialog
from state.parties.list import Parties

LONGEST = 400_000
"""Characters of a plan: it has at most 200 lines."""


@dataclass
class LineView:
    """A line of the list."""

    id: str
    name: str
    country: str
    email: str
    wallet: str
    outcome: str
    detail: str


class PartyImport(Dialog, rx.State):
    """The dialog that imports parties. The browser sends the list to the API itself, which checks it."""

    action: str = ""
    skips: bool = False
    is_checked: bool = False
    created: int = 0
    skipped: int = 0
    refused: int = 0
    lines: list[LineView] = []

    @rx.event
    def show(self, is_open: bool) -> None:
        """Open or close the dialog."""
        self._done()
        self.is_open, self.skips = bool(is_open), False
        self._aim()

    @rx.event
    def skip(self, on: bool) -> None:
        """Skip parties that are registered, instead of refusing the list."""
        self.skips = bool(on)
        self._aim()

    def _aim(self) -> None:
        choice = "skip" if self.skips else "refuse"
        self.action = f"/v1/identity/parties/import?organization_id={self._org_id()}&on_duplicate={choice}"
        self.is_checked, self.lines = False, []
        self.created, self.skipped, self.refused = 0, 0, 0

    @rx.event
    def checked(self, plan: str) -> None:
        """Show what the import would do. Only the page itself is concerned: the API checks the list again."""
        try:
            found = PartyImportPlan.model_validate_json(str(plan)[:LONGEST])
        except ValidationError:
            return
        self.created, self.skipped, self.refused = found.created, found.skipped, found.refused
        self.lines = [
            LineView(
                id=str(line.line), name=line.name, country=line.country or "", email=line.email or "",
                wallet=line.wallet_address or "", outcome=line.outcome, detail=line.detail or "",
            )
            for line in found.lines
        ]  # fmt: skip
        self.is_checked = True

    @rx.event
    async def made(self, answer: str) -> None:
        """Report the imported parties, and read the list again."""
        try:
            done = PartyImported.model_validate_json(str(answer)[:LONGEST])
        except ValidationError:
            return
        self._close()
        parties = "1 party is" if done.created == 1 else f"{done.created:,} parties are"
        skipped = f"{done.skipped:,} were registered before. " if done.skipped else ""
        await self._notify(f"{parties} registered", f"{skipped}The identities are not verified yet.")
        await (await self.get_state(Parties))._restart()
