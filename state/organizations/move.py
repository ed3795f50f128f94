"""The dialog that moves an organization: search a parent, preview the changes, move, and undo."""

from dataclasses import dataclass
from typing import Any

import reflex as rx

from backend.client import ApiProblem, body
from backend.organizations.schemas import AccessChange, MovedNode, MoveImpact, OrganizationListed, OrganizationMove
from state.core import arguments
from state.core.dialogs import Dialog
from state.core.events import Events, Next
from state.organizations.organization import OrganizationDetail, OrganizationState
from state.requests.tracker import Tracker

SHOWN = 25
CHANGED = "Another person changed the organization after the preview, so it was not moved. Choose the parent again."


@dataclass
class MovedNodeView:
    """What a move changes for one organization."""

    id: str
    name: str
    path_before: str
    path_after: str
    depth_before: int
    depth_after: int


@dataclass
class CompletedMove:
    """A completed move, which can be undone."""

    id: str = ""
    name: str = ""
    old_parent: str = ""
    old_name: str = ""
    new_parent: str = ""
    new_name: str = ""


class MoveState(Dialog, rx.State):
    """The dialog's subject, the selected parent, the preview, and the last move."""

    previewing: bool = False
    subject: OrganizationDetail = OrganizationDetail()
    parents: list[dict[str, Any]] = []
    found_for: str | None = None
    parent_id: str = ""
    parent_name: str = ""
    changes: list[MovedNodeView] = []
    descendants: int = 0
    gained: list[str] = []
    lost: list[str] = []
    afterwards: list[str] = []
    moved: CompletedMove = CompletedMove()
    undoing: bool = False
    undo_problem: str = ""
    _version: str = ""
    """The version of the subject when it was previewed."""

    @rx.event
    async def show(self, is_open: bool) -> None:
        """Open the dialog for the selected organization, or close it."""
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
    async def search(self, words: str) -> None:
        """Find organizations that could be the new parent."""
        await self._search(arguments.typed(words))

    async def _search(self, words: str) -> None:
        page = await self._api.list_organizations(q=arguments.words(words) or None, limit=30)
        self.parents, self.found_for = [self._option(row) for row in page.organizations], words

    def _option(self, row: OrganizationListed) -> dict[str, Any]:
        """Return a possible parent; an impossible one has a reason."""
        id, why = str(row.id), ""
        if id == self.subject.id:
            why = "This is the organization itself"
        elif id == self.subject.parent_id:
            why = "It is already here"
        elif f"/{self.subject.id}/" in row.hierarchy_path + "/":
            why = f"It is below {self.subject.name}"
        return {"id": id, "label": row.name, "sub": why or " / ".join(row.ancestors), "off": bool(why)}

    @rx.event(supersedes=True)
    async def pick(self, id: str) -> Events:
        """Select the new parent and preview the changes."""
        option = next((o for o in self.parents if o["id"] == str(id) and not o["off"]), None)
        if option is None:
            return
        self._clear()
        self.parent_id, self.parent_name, self.previewing = option["id"], option["label"], True
        yield
        try:
            to = body(OrganizationMove, {"newParentId": self.parent_id})
            with self._api.response_headers() as headers:
                await self._api.get_organization(self.subject.id)
            self._version = headers["etag"]
            plan = await self._api.move_sub_organization(self.subject.parent_id, self.subject.id, to, dry_run=True)
            self._preview(plan.impact)
            self.afterwards = plan.steps[1:]
        except ApiProblem as problem:
            self._refused(problem)
            self.form_problem = problem.detail or problem.title
        self.previewing = False

    def _preview(self, impact: MoveImpact) -> None:
        self.changes = [_moved_node(node) for node in impact.nodes[:SHOWN]]
        self.descendants = impact.descendants
        self.gained = [_person(entry) for entry in impact.access if entry.change == "gained"]
        self.lost = [_person(entry) for entry in impact.access if entry.change == "lost"]

    @rx.event
    async def submit(self) -> Events:
        """Move the organization."""
        if not self.changes or not self.parent_id:
            return
        self._begin()
        yield
        was, to = self.subject, self.parent_id
        old_name = was.above.rpartition(" / ")[2]
        try:
            request_id = await self._move(was.id, was.parent_id, to, self._version)
        except ApiProblem as problem:
            self._refused(problem)
            self.form_problem = CHANGED if problem.status == 412 else problem.detail or problem.title
            return
        self.moved = CompletedMove(was.id, was.name, was.parent_id, old_name, to, self.parent_name)
        self.undo_problem = ""
        await self._show_moved(was.parent_id, to)
        self._close()
        yield await self._announce(request_id)

    @rx.event
    async def undo(self) -> Events:
        """Move the organization back to its previous parent."""
        if not self.moved.old_parent or self.undoing:
            return
        self.undoing, self.undo_problem = True, ""
        self._begin()
        yield
        moved, request_id = self.moved, ""
        try:
            request_id = await self._move(moved.id, moved.new_parent, moved.old_parent)
            self.moved = CompletedMove(moved.id, moved.name, "", moved.new_name, moved.old_parent, moved.old_name)
            await self._show_moved(moved.new_parent, moved.old_parent)
        except ApiProblem as problem:
            self.undo_problem = problem.detail or problem.title
        self.undoing = False
        self._done()
        yield await self._announce(request_id)

    async def _move(self, id: str, parent: str, to: str, version: str | None = None) -> str:
        """Move an organization, if it still has the version.

        Return the id of the request that updates the chains, empty if no chain knows it.
        """
        api = self._api
        with api.response_headers() as headers:
            target = body(OrganizationMove, {"newParentId": to})
            await api.move_sub_organization(parent, id, target, idempotency_key=self._form_key, if_match=version)
        return str(headers.get("location", "")).rpartition("/")[2]

    async def _announce(self, request_id: str) -> Next:
        """Report the request that updates the chains, and return the event that follows it."""
        if not request_id:
            return None
        # The request belongs to the moved organization, which is rarely the one of this page.
        await self._accepted(f"Moving {self.moved.name} on chain", request_id, org_id=self.moved.id)
        return Tracker.watch

    async def _show_moved(self, old: str, new: str) -> None:
        page = await self.get_state(OrganizationState)
        await page._changed(old, new)
        await page._go(self.moved.id)

    @rx.event
    def dismiss(self) -> None:
        """Hide the result of the last move."""
        self.moved, self.undo_problem = CompletedMove(), ""


def _moved_node(node: MovedNode) -> MovedNodeView:
    return MovedNodeView(
        id=str(node.id),
        name=node.name,
        path_before=node.path_before,
        path_after=node.path_after,
        depth_before=node.depth_before,
        depth_after=node.depth_after,
    )


def _person(entry: AccessChange) -> str:
    return f"{entry.display_name} ({entry.role.replace('_', ' ')})"
