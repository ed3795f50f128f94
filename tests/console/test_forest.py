"""The known part of the hierarchy as rows."""

from typing import Any

from state.forest import Forest


def _node(id: str, parent: str = "", children: int = 0) -> dict[str, Any]:
    return {
        "id": id, "name": f"Org {id}", "parent_id": parent or None, "status": "active",
        "has_children": children > 0, "child_count": children,
    }  # fmt: skip


def _forest() -> Forest:
    """r with a, b, c of five loaded; b is open with b1 and b2."""
    forest = Forest("r")
    nodes = [_node("r", children=5), _node("a", "r"), _node("b", "r", 2), _node("c", "r")]
    forest.take("r", {"nodes": nodes, "nextCursor": "next"})
    forest.take("b", {"nodes": [_node("b", "r", 2), _node("b1", "b"), _node("b2", "b")], "nextCursor": None})
    forest.opened.add("b")
    forest.draw()
    return forest


def test_open_branches_lie_as_rows_with_their_levels() -> None:
    rows = _forest().rows
    assert [(row.id, row.level) for row in rows] == [
        ("r", 1), ("a", 2), ("b", 2), ("b1", 3), ("b2", 3), ("c", 2), ("more-r", 2),
    ]  # fmt: skip
    assert (rows[4].position, rows[4].size) == (2, 2)
    assert rows[-1].name == "Show 2 more of 2"


def test_arrows_lead_where_they_do_in_any_tree() -> None:
    forest = _forest()
    for at, key, to in [
        ("r", "ArrowDown", "a"), ("a", "ArrowUp", "r"), ("r", "ArrowUp", "r"), ("b", "ArrowRight", "b1"),
        ("a", "ArrowRight", "a"), ("b2", "ArrowLeft", "b"), ("r", "ArrowLeft", "r"), ("b1", "Home", "r"),
        ("r", "End", "more-r"), ("more-r", "ArrowDown", "more-r"), ("a", "anything", "a"),
    ]:  # fmt: skip
        assert forest.beside(at, key) == to, (at, key)


def test_typing_finds_the_next_name() -> None:
    forest = _forest()
    assert forest.named("o", "r") == "a"
    assert forest.named("o", "c") == "r"
    assert forest.named("org b2", "r") == "b2"
    assert forest.named("org b", "b1") == "b1"
    assert forest.named("nothing", "r") is None


def test_a_node_whose_page_is_not_loaded_is_pinned_once() -> None:
    forest = _forest()
    forest.pin("r", _node("z", "r"))
    forest.draw()
    assert [row.id for row in forest.rows][-3:] == ["c", "z", "more-r"]
    forest.take("r", {"nodes": [_node("d", "r"), _node("z", "r")], "nextCursor": None})
    forest.draw()
    assert [row.id for row in forest.rows].count("z") == 1
    assert forest.rows[-1].id == "d"


def test_what_a_browser_calls_a_row_may_be_anything() -> None:
    forest = _forest()
    for wrong in (None, 7, ["b"], {"id": "b"}, "x" * 9000):
        assert forest.row(wrong) is None
