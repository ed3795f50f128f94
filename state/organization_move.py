"""The dialog that moves an organization: search a parent, see what changes, move, and take it back."""

from dataclasses import dataclass
from typing import Any

import reflex as rx

from backend.client import ApiProblem
from state import given
from state.api import Form
from state.organization import Detail, OrganizationState

SHOWN = 25


@dataclass
class Change:
    """What changes for one organization."""

    id: str
    name: str
    path_before: str
    path_after: str
    depth_before: int
    depth_after: int


@dataclass
class Moved:
    """A move that was made, and can be taken back."""

    id: str = ""
    name: str = ""
    old_parent: str = ""
    old_name: str = ""
    new_parent: str = ""
    new_name: str = ""


class MoveState(Form, rx.State):
    """The dialog's subject, the parent chosen, the preview, and the last move."""

    is_open: bool = False
    previewing: bool = False
    subject: Detail = Detail()
    parents: list[dict[str, Any]] = []
    parent_id: str = ""
    parent_name: str = ""
    changes: list[Change] = []
    descendants: int = 0
    gained: list[str] = []
    lost: list[str] = []
    afterwards: list[str] = []
    moved: Moved = Moved()
    undoing: bool = False
    undo_problem: str = ""

    @rx.event
    async def show(self, is_open: bool):
        """Open it for the selected organization, or close it."""
        self.is_open = bool(is_open)
        if self.is_open:
            self._done()
            self._clear()
            self.subject = (await self.get_state(OrganizationState)).item
            await self._search("")

    def _clear(self) -> None:
        self.parent_id, self.parent_name, self.changes, self.descendants = "", "", [], 0
        self.gained, self.lost, self.afterwards, self.form_problem = [], [], [], ""

    @rx.event(supersedes=True)
    async def search(self, words: str):
        """Find organizations that could be the new parent."""
        await self._search(given.words(words))

    async def _search(self, words: str) -> None:
        page = await self._api("GET", "/orgs", params={"search": words, "limit": 30})
        self.parents = [self._option(row) for row in page["organizations"]]

    def _option(self, row: dict[str, Any]) -> dict[str, Any]:
        """A possible parent; what cannot be one says why."""
        why = ""
        if row["id"] == self.subject.id:
            why = "This is the organization itself"
        elif row["id"] == self.subject.parent_id:
            why = "It is here already"
        elif f"/{self.subject.id}/" in row["hierarchy_path"] + "/":
            why = f"It is below {self.subject.name}"
        return {"id": row["id"], "label": row["name"], "sub": why or " / ".join(row["ancestors"]), "off": bool(why)}

    @rx.event(supersedes=True)
    async def pick(self, id: str):
        """Choose the new parent and see what would change."""
        option = next((o for o in self.parents if o["id"] == str(id) and not o["off"]), None)
        if option is None:
            return
        self._clear()
        self.parent_id, self.parent_name, self.previewing = option["id"], option["label"], True
        yield
        try:
            plan = await self._send(self.subject.parent_id, self.subject.id, self.parent_id, dry_run=True)
            self._preview(plan["impact"])
            self.afterwards = plan["steps"][1:]
        except ApiProblem as problem:
            self._refused(problem)
            self.form_problem = problem.detail or problem.title
        self.previewing = False

    def _preview(self, impact: dict[str, Any]) -> None:
        names = Change.__dataclass_fields__
        self.changes = [Change(**{name: node[name] for name in names}) for node in impact["nodes"][:SHOWN]]
        self.descendants = impact["descendants"]
        self.gained = [_person(entry) for entry in impact["access"] if entry["change"] == "gained"]
        self.lost = [_person(entry) for entry in impact["access"] if entry["change"] == "lost"]

    async def _send(self, parent: str, id: str, to: str, *, dry_run: bool = False) -> dict[str, Any]:
        params = {"dry_run": "true"} if dry_run else None
        key = None if dry_run else self._form_key
        path = f"/orgs/{parent}/sub-orgs/{id}/move"
        answer: dict[str, Any] = await self._api("POST", path, json={"newParentId": to}, params=params, key=key)
        return answer

    @rx.event
    async def submit(self):
        """Move."""
        if not self.changes or not self.parent_id:
            return
        self._begin()
        yield
        was, to = self.subject, self.parent_id
        try:
            await self._send(was.parent_id, was.id, to)
        except ApiProblem as problem:
            self._refused(problem)
            self.form_problem = problem.detail or problem.title
            return
        old_name = was.above.rpartition(" / ")[2]
        self.moved = Moved(was.id, was.name, was.parent_id, old_name, to, self.parent_name)
        self.undo_problem = ""
        await self._show_moved(was.parent_id, to)
        self._done()
        self.is_open = False

    @rx.event
    async def undo(self):
        """Move it back to where it came from."""
        if not self.moved.old_parent or self.undoing:
            return
        self.undoing, self.undo_problem = True, ""
        self._begin()
        yield
        moved = self.moved
        try:
            await self._send(moved.new_parent, moved.id, moved.old_parent)
            self.moved = Moved(moved.id, moved.name, "", moved.new_name, moved.old_parent, moved.old_name)
            await self._show_moved(moved.new_parent, moved.old_parent)
        except ApiProblem as problem:
            self.undo_problem = problem.detail or problem.title
        self.undoing = False
        self._done()

    async def _show_moved(self, old: str, new: str) -> None:
        page = await self.get_state(OrganizationState)
        await page._changed(old, new)
        await page._go(self.moved.id)

    @rx.event
    def dismiss(self):
        """Take the word of the last move away."""
        self.moved, self.undo_problem = Moved(), ""


def _person(entry: dict[str, Any]) -> str:
    return f"{entry['display_name']} ({entry['role'].replace('_', ' ')})"
