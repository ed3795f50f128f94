"""The loaded part of the hierarchy as rows."""

from uuid import NAMESPACE_OID, uuid5

from backend.organizations.schemas import Tree, TreeNode
from state.organizations.tree_rows import Forest


def _id(name: str) -> str:
    """Return the id of an organization in these tests."""
    return name if name.startswith("more-") else str(uuid5(NAMESPACE_OID, name))


def _node(name: str, parent: str = "", children: int = 0) -> TreeNode:
    record = {
        "id": _id(name), "name": f"Org {name}", "parent_id": _id(parent) if parent else None, "status": "active",
        "depth": 0, "has_children": children > 0, "child_count": children,
    }  # fmt: skip
    return TreeNode.model_validate(record)


def _page(*nodes: TreeNode, cursor: str | None = None) -> Tree:
    return Tree(nodes=list(nodes), nextCursor=cursor)


REST = f"more-{_id('r')}"
"""The row that loads the rest of the root's children."""


def _forest() -> Forest:
    """Root r with a, b, c loaded of five; b is open with b1 and b2."""
    forest = Forest(_id("r"))
    nodes = [_node("r", children=5), _node("a", "r"), _node("b", "r", 2), _node("c", "r")]
    forest.take(_id("r"), _page(*nodes, cursor="next"))
    forest.take(_id("b"), _page(_node("b", "r", 2), _node("b1", "b"), _node("b2", "b")))
    forest.opened.add(_id("b"))
    forest.draw()
    return forest


def test_open_branches_become_rows_with_levels() -> None:
    rows = _forest().rows
    assert [(row.id, row.level) for row in rows] == [
        (_id(name), level) for name, level in [("r", 1), ("a", 2), ("b", 2), ("b1", 3), ("b2", 3), ("c", 2), (REST, 2)]
    ]
    assert (rows[4].position, rows[4].size) == (2, 2)
    assert (rows[4].name, rows[4].parent, rows[4].status) == ("Org b2", _id("b"), "active")
    assert rows[-1].name == "Show 2 more of 2"


def test_arrow_keys_move_like_in_any_tree() -> None:
    forest = _forest()
    for at, key, to in [
        ("r", "ArrowDown", "a"), ("a", "ArrowUp", "r"), ("r", "ArrowUp", "r"), ("b", "ArrowRight", "b1"),
        ("a", "ArrowRight", "a"), ("b2", "ArrowLeft", "b"), ("r", "ArrowLeft", "r"), ("b1", "Home", "r"),
        ("r", "End", REST), (REST, "ArrowDown", REST), ("a", "anything", "a"),
    ]:  # fmt: skip
        assert forest.beside(_id(at), key) == _id(to), (at, key)


def test_typed_prefix_finds_the_next_name() -> None:
    forest = _forest()
    assert forest.named("o", _id("r")) == _id("a")
    assert forest.named("o", _id("c")) == _id("r")
    assert forest.named("org b2", _id("r")) == _id("b2")
    assert forest.named("org b", _id("b1")) == _id("b1")
    assert forest.named("nothing", _id("r")) is None


def test_node_outside_the_loaded_page_is_pinned_once() -> None:
    forest = _forest()
    forest.pin(_id("r"), _node("z", "r"))
    forest.draw()
    assert [row.id for row in forest.rows][-3:] == [_id("c"), _id("z"), REST]
    forest.take(_id("r"), _page(_node("d", "r"), _node("z", "r")))
    forest.draw()
    assert [row.id for row in forest.rows].count(_id("z")) == 1
    assert forest.rows[-1].id == _id("d")


def test_malformed_row_id_finds_no_row() -> None:
    forest = _forest()
    for wrong in (None, 7, ["b"], {"id": "b"}, "x" * 9000):
        assert forest.row(wrong) is None
