"""The tree of organizations: branches load when they open, and the browser holds only the rows around its view."""

from typing import Any
from uuid import UUID

import reflex as rx

from backend.client import ApiProblem
from backend.organizations.schemas import Organization, Tree
from state.core import arguments
from state.core.api import Loads
from state.organizations.tree_rows import PAGE, Forest, NodeView

WINDOW = 80
"""Rows that the browser holds; spacing replaces the rest."""
MARGIN = 20


class Hierarchy(Loads, rx.State):
    """The open branches, focus and selection, and the search results."""

    rows: list[NodeView] = []
    above: int = 0
    total: int = 0
    active: str = ""
    selected: str = ""
    found: list[dict[str, str]] = []
    found_for: str | None = None
    searched: bool = False
    _forest: Forest = Forest()

    async def _start(self, organization: Organization, reach: list[str]) -> None:
        """Show the tree from the highest organization the user can access, open down to this one."""
        path = path_of(organization)
        root = next((id for id in path if id in reach), path[-1])
        if root != self._forest.root:
            self._forest = Forest(root)
        await self._reveal(path)

    async def _reveal(self, path: list[str]) -> bool:
        """Open every branch down to the last of these ids and focus it; return False if it is not below the root."""
        forest = self._forest
        if forest.root not in path:
            return False
        path = path[path.index(forest.root) :]
        for parent, child in zip(path, [*path[1:], ""], strict=True):
            if child or parent == forest.root:
                await self._open(parent)
            if child and child not in forest.branches[parent].children:
                page = await self._read(child, limit=1)
                forest.pin(parent, page.nodes[0])
        self._draw()
        self._focus(path[-1])
        return True

    async def _read(self, id: str, limit: int = PAGE, cursor: str = "") -> Tree:
        """Read a page of an organization's children; the first page starts with the organization itself."""
        return await self._api.get_tree(id, limit=limit, cursor=cursor or None)

    async def _open(self, id: str) -> None:
        if id not in self._forest.branches:
            self._forest.take(id, await self._read(id))
        self._forest.opened.add(id)

    async def _reload(self, *parents: str) -> None:
        """Read loaded branches again, from their first page."""
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
        """Put the rows from `first` into the window."""
        self.above = max(0, min(first, self.total - WINDOW))
        shown = self._forest.rows[self.above : self.above + WINDOW]
        if shown != self.rows:
            self.rows = shown

    def _focus(self, id: str) -> None:
        """Move the focus, and the window with it before the focus would leave it."""
        self.active, at = id, self._forest.at(id)
        if not self.above + MARGIN // 2 <= at < self.above + WINDOW - MARGIN // 2:
            self._send(at - WINDOW // 2)

    async def _turn(self, node: NodeView) -> None:
        """Open a closed branch, or close an open one."""
        if node.is_open:
            self._forest.opened.discard(node.id)
        elif node.is_branch:
            await self._open(node.id)
        self._draw()

    async def _more(self, parent: str) -> None:
        """Load the next page of a branch, and focus its first row."""
        branch = self._forest.branches[parent]
        known = len(branch.children)
        self._forest.take(parent, await self._read(parent, cursor=branch.cursor))
        self._draw()
        self._focus(branch.children[min(known, len(branch.children) - 1)])

    async def _press(self, id: Any) -> str:
        """Handle Enter or a click: load the rest of a branch, or select an organization; return the selected id."""
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
        """Handle an arrow key, Home or End."""
        node = self._forest.row(self.active)
        if node is None:
            return
        opens = key == "ArrowRight" and node.is_branch and not node.is_open
        if opens or (key == "ArrowLeft" and node.is_open):
            await self._turn(node)
        else:
            self._focus(self._forest.beside(node.id, key))

    @rx.event
    async def toggle(self, id: str) -> None:
        """Open or close a branch with its arrow."""
        node = self._forest.row(id)
        if node is None:
            return
        try:
            await self._turn(node)
        except ApiProblem as problem:
            await self._notify("The branch did not open", problem.detail, "bad")

    @rx.event
    async def type(self, text: str) -> None:
        """Focus the next row whose name starts with the typed text."""
        found = self._forest.named(str(text)[:60], self.active)
        if found is not None:
            self._focus(found)

    @rx.event(supersedes=True)
    async def scroll(self, first: int) -> None:
        """Show the rows from `first`, which came into view."""
        if isinstance(first, int):
            self._send(first - MARGIN)

    @rx.event
    async def collapse(self) -> None:
        """Close every branch except the root's."""
        self._forest.opened = {self._forest.root}
        self._draw()
        self._focus(self._forest.root)

    @rx.event(supersedes=True)
    async def search(self, words: str) -> None:
        """Find organizations by name or id, in every tree."""
        wanted = arguments.words(words)
        self.searched = bool(wanted)
        self.found = await (self._by_id(wanted) if is_id(wanted) else self._by_name(wanted)) if wanted else []
        self.found_for = arguments.typed(words)

    async def _by_name(self, words: str) -> list[dict[str, str]]:
        page = await self._api.list_organizations(q=words, limit=20)
        return [{"id": str(o.id), "label": o.name, "sub": " / ".join(o.ancestors)} for o in page.organizations]

    async def _by_id(self, id: str) -> list[dict[str, str]]:
        try:
            organization = await self._api.get_organization(id)
        except ApiProblem as problem:
            if problem.status not in (403, 404, 422):
                raise
            return []
        return [{"id": str(organization.id), "label": organization.name, "sub": str(organization.id)}]


def is_id(text: str) -> bool:
    """Return whether a text is an id."""
    try:
        UUID(text)
    except ValueError:
        return False
    return True


def path_of(organization: Organization) -> list[str]:
    """Return the ids from the root down to an organization."""
    return [part for part in (organization.hierarchy_path or str(organization.id)).split("/") if part]
