"""The part of the hierarchy that is known, and how it lies in rows. Plain data: no API, no browser."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

PAGE = 100


@dataclass(frozen=True)
class Node:
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
    """The loaded children of a node; `total` counts those that are not loaded too, `cursor` leads to them."""

    children: list[str] = field(default_factory=list)
    cursor: str = ""
    total: int = 0


class Forest:
    """Nodes below one root, the branches that are loaded, those that are open, and their rows from top to bottom."""

    def __init__(self, root: str = "") -> None:
        self.root = root
        self.opened: set[str] = {root}
        self.branches: dict[str, Branch] = {}
        self.rows: list[Node] = []
        self._nodes: dict[str, dict[str, Any]] = {}
        self._places: dict[str, int] = {}

    def take(self, parent: str, page: dict[str, Any]) -> None:
        """Add a page of a node's children; the first page brings the node itself along."""
        branch = self.branches.setdefault(parent, Branch())
        known = set(branch.children)
        for node in page["nodes"]:
            self._nodes[node["id"]] = node
            if node["id"] != parent and node["id"] not in known:
                branch.children.append(node["id"])
        branch.cursor = page["nextCursor"] or ""
        branch.total = max(len(branch.children), self._nodes.get(parent, {}).get("child_count", 0))

    def pin(self, parent: str, node: dict[str, Any]) -> None:
        """Put a node below its parent before the page it is on has been loaded."""
        self._nodes[node["id"]] = node
        self.branches[parent].children.append(node["id"])

    def draw(self) -> None:
        """Lay the open branches out as rows."""
        self.rows = list(self._below(self.root, 1, 1, 1)) if self.root in self._nodes else []
        self._places = {node.id: at for at, node in enumerate(self.rows)}

    def _below(self, id: str, level: int, position: int, size: int) -> Iterator[Node]:
        data, branch = self._nodes[id], self.branches.get(id)
        is_open = data["has_children"] and id in self.opened
        yield Node(
            id, data["name"], data["parent_id"] or "", level, data["has_children"], is_open, data["child_count"],
            data["status"], position, size,
        )  # fmt: skip
        if not is_open or branch is None:
            return
        for i, child in enumerate(branch.children):
            yield from self._below(child, level + 1, i + 1, branch.total)
        if branch.cursor:
            yield _rest(id, branch, level + 1)

    def at(self, id: str) -> int:
        """The place of a row; the first one's where there is no such row."""
        return self._places.get(id, 0)

    def row(self, id: Any) -> Node | None:
        """A row by what a browser calls it; nothing where there is no such row."""
        at = self._places.get(str(id))
        return None if at is None else self.rows[at]

    def names(self, ids: list[str]) -> list[str]:
        """The names of those of these nodes that are known."""
        return [self._nodes[id]["name"] for id in ids if id in self._nodes]

    def beside(self, id: str, key: str) -> str:
        """The row an arrow, Home or End leads to; a closed branch opens and an open one closes elsewhere."""
        at = self.at(id)
        node = self.rows[at]
        if key == "ArrowLeft":
            return node.parent if node.level > 1 else node.id
        steps = {"ArrowDown": at + 1, "ArrowUp": at - 1, "Home": 0, "End": len(self.rows) - 1}
        target = steps.get(key, at + 1 if node.is_open else at)
        return self.rows[max(0, min(len(self.rows) - 1, target))].id

    def named(self, text: str, after: str) -> str | None:
        """The next row whose name begins so: one letter goes on to the next, more letters may stay."""
        wanted, at = text.casefold(), self.at(after)
        start = at + 1 if len(wanted) == 1 else at
        turn = (*self.rows[start:], *self.rows[:start])
        return next((node.id for node in turn if not node.more and node.name.casefold().startswith(wanted)), None)


def _rest(id: str, branch: Branch, level: int) -> Node:
    left = branch.total - len(branch.children)
    words = f"Show {min(PAGE, left):,} more of {left:,}" if left > 0 else "Show more"
    return Node(f"more-{id}", words, id, level, position=len(branch.children) + 1, size=branch.total, more=True)
