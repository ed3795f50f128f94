"""The tree of organizations: branches are loaded as they open, and the browser holds only the rows around its view."""

from typing import Any
from uuid import UUID

import reflex as rx

from backend.client import ApiProblem
from state import given
from state.api import Loads
from state.forest import PAGE, Forest, Node

WINDOW = 80
"""Rows the browser holds; spacing stands for the rest."""
MARGIN = 20


class Hierarchy(Loads, rx.State):
    """What is open, in focus and selected, and what the search has found."""

    rows: list[Node] = []
    above: int = 0
    total: int = 0
    active: str = ""
    selected: str = ""
    found: list[dict[str, Any]] = []
    searched: bool = False
    _forest: Forest = Forest()

    async def _start(self, organization: dict[str, Any], reach: list[str]) -> None:
        """Show the tree from the highest organization the person reaches, open down to this one."""
        path = path_of(organization)
        root = next((id for id in path if id in reach), path[-1])
        if root != self._forest.root:
            self._forest = Forest(root)
        await self._reveal(path)

    async def _reveal(self, path: list[str]) -> bool:
        """Open every branch down to the last of these ids and focus it; False where it is not below the root."""
        forest = self._forest
        if forest.root not in path:
            return False
        path = path[path.index(forest.root) :]
        for parent, child in zip(path, [*path[1:], ""], strict=True):
            if child or parent == forest.root:
                await self._open(parent)
            if child and child not in forest.branches[parent].children:
                page = await self._read(child, limit=1)
                forest.pin(parent, page["nodes"][0])
        self._draw()
        self._focus(path[-1])
        return True

    async def _read(self, id: str, limit: int = PAGE, cursor: str = "") -> dict[str, Any]:
        """A page of an organization's children; the first page begins with the organization itself."""
        params = {"limit": limit, "cursor": cursor}
        page: dict[str, Any] = await self._api("GET", f"/orgs/{id}/tree", params=params)
        return page

    async def _open(self, id: str) -> None:
        if id not in self._forest.branches:
            self._forest.take(id, await self._read(id))
        self._forest.opened.add(id)

    async def _reload(self, *parents: str) -> None:
        """Read some branches anew, from their first page, where they had been loaded."""
        for parent in parents:
            if parent in self._forest.branches:
                page = await self._read(parent)
                del self._forest.branches[parent]
                self._forest.take(parent, page)
        self._draw()

    def _draw(self) -> None:
        self._forest.draw()
        self.total = len(self._forest.rows)
        self._send(self.above)

    def _send(self, first: int) -> None:
        """Put the rows from `first` on into the window."""
        self.above = max(0, min(first, self.total - WINDOW))
        shown = self._forest.rows[self.above : self.above + WINDOW]
        if shown != self.rows:
            self.rows = shown

    def _focus(self, id: str) -> None:
        """Move the focus, and the window with it before it would leave."""
        self.active, at = id, self._forest.at(id)
        if not self.above + MARGIN // 2 <= at < self.above + WINDOW - MARGIN // 2:
            self._send(at - WINDOW // 2)

    async def _turn(self, node: Node) -> None:
        """Open a closed branch, close an open one."""
        if node.is_open:
            self._forest.opened.discard(node.id)
        elif node.is_branch:
            await self._open(node.id)
        self._draw()

    async def _more(self, parent: str) -> None:
        """Load the next page of a branch, and focus the first that came."""
        branch = self._forest.branches[parent]
        known = len(branch.children)
        self._forest.take(parent, await self._read(parent, cursor=branch.cursor))
        self._draw()
        self._focus(branch.children[min(known, len(branch.children) - 1)])

    async def _press(self, id: Any) -> str:
        """Enter or a click: load the rest of a branch, or select an organization; the id of what was selected."""
        node = self._forest.row(id)
        if node is None:
            return ""
        if node.more:
            await self._more(node.parent)
            return ""
        self.selected = node.id
        self._focus(node.id)
        return node.id

    async def _step(self, key: str) -> None:
        """An arrow, Home or End."""
        node = self._forest.row(self.active)
        if node is None:
            return
        opens = key == "ArrowRight" and node.is_branch and not node.is_open
        if opens or (key == "ArrowLeft" and node.is_open):
            await self._turn(node)
        else:
            self._focus(self._forest.beside(node.id, key))

    @rx.event
    async def toggle(self, id: str):
        """Open or close a branch by its arrow."""
        node = self._forest.row(id)
        if node is None:
            return
        try:
            await self._turn(node)
        except ApiProblem as problem:
            await self._notify("The branch did not open", problem.detail, "bad")

    @rx.event
    async def type(self, text: str):
        """Focus the next row whose name begins with what was typed."""
        found = self._forest.named(str(text)[:60], self.active)
        if found is not None:
            self._focus(found)

    @rx.event(supersedes=True)
    async def scroll(self, first: int):
        """The rows from this one on came into sight."""
        if isinstance(first, int):
            self._send(first - MARGIN)

    @rx.event
    async def collapse(self):
        """Close every branch but the root's."""
        self._forest.opened = {self._forest.root}
        self._draw()
        self._focus(self._forest.root)

    @rx.event(supersedes=True)
    async def search(self, words: str):
        """Find organizations by name or id, wherever they are."""
        wanted = given.words(words)
        self.searched = bool(wanted)
        self.found = await (self._by_id(wanted) if is_id(wanted) else self._by_name(wanted)) if wanted else []

    async def _by_name(self, words: str) -> list[dict[str, Any]]:
        page = await self._api("GET", "/orgs", params={"search": words, "limit": 20})
        return [{"id": o["id"], "label": o["name"], "sub": " / ".join(o["ancestors"])} for o in page["organizations"]]

    async def _by_id(self, id: str) -> list[dict[str, Any]]:
        try:
            record = await self._api("GET", f"/orgs/{id}")
        except ApiProblem as problem:
            if problem.status not in (403, 404, 422):
                raise
            return []
        return [{"id": record["id"], "label": record["name"], "sub": record["id"]}]


def is_id(text: str) -> bool:
    """Whether a text is an id."""
    try:
        UUID(text)
    except ValueError:
        return False
    return True


def path_of(organization: dict[str, Any]) -> list[str]:
    """The ids from the root down to an organization."""
    return [part for part in (organization.get("hierarchy_path") or organization["id"]).split("/") if part]
