"""The loaded part of the hierarchy and its rows. Plain data: no API, no browser."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from backend.organizations.schemas import Tree, TreeNode

PAGE = 100


@dataclass(frozen=True)
class NodeView:
    """A row of the tree; `more` is the row that loads the rest of a branch. `level` counts from 1."""

    id: str
    name: str = ""
    parent: str = ""
    level: int = 1
    is_branch: bool = False
    is_open: bool = False
    count: int = 0
    status: str = "active"
    position: int = 1
    size: int = 1
    more: bool = False


@dataclass
class Branch:
    """The loaded children of a node; `total` also counts those not loaded, and `cursor` leads to them."""

    children: list[str] = field(default_factory=list)
    cursor: str = ""
    total: int = 0


class Forest:
    """Nodes below one root, the loaded branches, the open ones, and their rows from top to bottom."""

    def __init__(self, root: str = "") -> None:
        self.root = root
        self.opened: set[str] = {root}
        self.branches: dict[str, Branch] = {}
        self.rows: list[NodeView] = []
        self._nodes: dict[str, TreeNode] = {}
        self._places: dict[str, int] = {}

    def take(self, parent: str, page: Tree) -> None:
        """Add a page of a node's children; the first page includes the node itself."""
        branch = self.branches.setdefault(parent, Branch())
        known = set(branch.children)
        for node in page.nodes:
            id = self._keep(node)
            if id != parent and id not in known:
                branch.children.append(id)
        branch.cursor = page.nextCursor or ""
        branch.total = max(len(branch.children), self._nodes[parent].child_count if parent in self._nodes else 0)

    def pin(self, parent: str, node: TreeNode) -> None:
        """Put a node below its parent before its page has been loaded."""
        self.branches[parent].children.append(self._keep(node))

    def _keep(self, node: TreeNode) -> str:
        """Keep a node's newest record; return its id."""
        self._nodes[str(node.id)] = node
        return str(node.id)

    def draw(self) -> None:
        """Arrange the open branches as rows."""
        self.rows = list(self._below(self.root, 1, 1, 1)) if self.root in self._nodes else []
        self._places = {node.id: at for at, node in enumerate(self.rows)}

    def _below(self, id: str, level: int, position: int, size: int) -> Iterator[NodeView]:
        node, branch = self._nodes[id], self.branches.get(id)
        is_open = node.has_children and id in self.opened
        yield NodeView(
            id, node.name, str(node.parent_id or ""), level, node.has_children, is_open, node.child_count,
            node.status, position, size,
        )  # fmt: skip
        if not is_open or branch is None:
            return
        for i, child in enumerate(branch.children):
            yield from self._below(child, level + 1, i + 1, branch.total)
        if branch.cursor:
            yield _rest(id, branch, level + 1)

    def at(self, id: str) -> int:
        """Return the index of a row, or 0 if there is no such row."""
        return self._places.get(id, 0)

    def row(self, id: Any) -> NodeView | None:
        """Return a row by its id from the browser, or None."""
        at = self._places.get(str(id))
        return None if at is None else self.rows[at]

    def names(self, ids: list[str]) -> list[str]:
        """Return the names of the known nodes among these."""
        return [self._nodes[id].name for id in ids if id in self._nodes]

    def beside(self, id: str, key: str) -> str:
        """Return the row that an arrow key, Home or End leads to; opening and closing branches happens elsewhere."""
        at = self.at(id)
        node = self.rows[at]
        if key == "ArrowLeft":
            return node.parent if node.level > 1 else node.id
        steps = {"ArrowDown": at + 1, "ArrowUp": at - 1, "Home": 0, "End": len(self.rows) - 1}
        target = steps.get(key, at + 1 if node.is_open else at)
        return self.rows[max(0, min(len(self.rows) - 1, target))].id

    def named(self, text: str, after: str) -> str | None:
        """Return the next row whose name starts with the text: one letter moves on, more letters may stay."""
        wanted, at = text.casefold(), self.at(after)
        start = at + 1 if len(wanted) == 1 else at
        turn = (*self.rows[start:], *self.rows[:start])
        return next((node.id for node in turn if not node.more and node.name.casefold().startswith(wanted)), None)


def _rest(id: str, branch: Branch, level: int) -> NodeView:
    left = branch.total - len(branch.children)
    words = f"Show {min(PAGE, left):,} more of {left:,}" if left > 0 else "Show more"
    return NodeView(f"more-{id}", words, id, level, position=len(branch.children) + 1, size=branch.total, more=True)
