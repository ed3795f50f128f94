"""The CSV import of parties: its preview, and what it created."""

from dataclasses import dataclass

import reflex as rx
from pydantic import ValidationError

from backend.parties.schemas import OnDuplicate, PartyImported, PartyImportPlan
from state.core.arguments import one_of
from state.core.countries import written
from state.core.dialogs import Dialog
from state.parties.list import Parties

LONGEST = 400_000
"""Characters of a plan, which the API keeps shorter."""
NAMES = {"name": "Name", "email": "Email", "wallet_address": "Wallet"}


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
    changes: list[dict[str, str]]


class PartyImport(Dialog, rx.State):
    """The dialog that imports parties. The browser sends the list to the API itself, which checks it."""

    action: str = ""
    treatment: str = OnDuplicate.REFUSE.value
    is_checked: bool = False
    created: int = 0
    updated: int = 0
    skipped: int = 0
    refused: int = 0
    total: int = 0
    """Lines of the list; `lines` are the first of them."""
    lines: list[LineView] = []
    is_unreadable: bool = False

    @rx.event
    def show(self, is_open: bool) -> None:
        """Open or close the dialog."""
        self._done()
        self.is_open, self.treatment = bool(is_open), OnDuplicate.REFUSE.value
        self._aim()

    @rx.event
    def treat(self, treatment: str) -> None:
        """Choose what happens to lines of registered parties."""
        self.treatment = one_of(treatment, OnDuplicate, OnDuplicate.REFUSE)
        self._aim()

    def _aim(self) -> None:
        choice = f"organization_id={self._org_id()}&on_duplicate={self.treatment}"
        self.action = f"/v1/identity/parties/import?{choice}"
        self.is_checked, self.is_unreadable, self.lines, self.total = False, False, [], 0
        self.created, self.updated, self.skipped, self.refused = 0, 0, 0, 0

    @rx.event
    def checked(self, plan: str) -> None:
        """Show what the import would do. Only the page itself is concerned: the API checks the list again."""
        try:
            found = PartyImportPlan.model_validate_json(str(plan)[:LONGEST])
        except ValidationError:
            self._aim()
            self.is_unreadable = True
            return
        self.created, self.updated = found.created, found.updated
        self.skipped, self.refused = found.skipped, found.refused
        self.lines = [
            LineView(
                id=str(line.line), name=line.name, country=written(line.country or ""), email=line.email or "",
                wallet=line.wallet_address or "", outcome=line.outcome, detail=line.detail or "",
                changes=[
                    {"name": NAMES.get(c.field, c.field), "old": c.before or "none", "new": c.after}
                    for c in line.changes
                ],
            )
            for line in found.lines
        ]  # fmt: skip
        self.total = found.created + found.updated + found.skipped + found.refused
        self.is_checked, self.is_unreadable = True, False

    @rx.event
    async def made(self, answer: str) -> None:
        """Report the imported parties, and read the list again."""
        try:
            done = PartyImported.model_validate_json(str(answer)[:LONGEST])
        except ValidationError:
            return
        self._close()
        await self._notify(*said(done))
        await (await self.get_state(Parties))._restart()


def said(done: PartyImported) -> tuple[str, str]:
    """Return the toast of an import: title and detail."""

    def parties(count: int) -> str:
        return "1 party is" if count == 1 else f"{count:,} parties are"

    registered = f"{parties(done.created)} registered" if done.created or not done.updated else ""
    updated = f"{parties(done.updated)} updated" if done.updated else ""
    skipped = f"{done.skipped:,} were registered before. " if done.skipped else ""
    pending = "The new identities are not verified yet." if done.created else ""
    return ", ".join(filter(None, (registered, updated))), f"{skipped}{pending}".strip()
