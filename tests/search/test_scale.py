"""Search among thousands of organizations and parties: what it returns, and how much it reads."""

from collections.abc import Iterator
from typing import Any

import pytest

from backend.search.schemas import Kind
from tests.support.many_organizations import DIVISIONS, UNITS, Tree, as_owner, cost, two_trees

pytestmark = pytest.mark.long
SEARCH = """
  select * from signum_search(
    %(org)s, %(kinds)s::text[], '{}', %(q)s, %(deep)s, true, %(each)s, %(each)s, %(address)s::inet)
"""
INSIDE, OUTSIDE = "192.0.2.7", "198.51.100.7"


@pytest.fixture(scope="module")
def trees(database_url: str) -> Iterator[tuple[Tree, Tree]]:
    with two_trees(database_url) as both:
        yield both


def values(tree: Tree, q: str, **others: Any) -> dict[str, Any]:
    """Return the values of a search in the root, which the transaction enters."""
    tree.enter()
    known = {"org": tree.root, "kinds": [str(k) for k in Kind], "q": q, "deep": True, "each": 5_000, "address": INSIDE}
    return known | others


def found(tree: Tree, q: str, **others: Any) -> list[tuple[str, str]]:
    """Return kind and ID of the results, sorted."""
    rows = tree.connection.execute(SEARCH, values(tree, q, **others)).fetchall()
    return sorted((row[0], str(row[1])) for row in rows)


def expected(tree: Tree, q: str, address: str = INSIDE, *, deep: bool = True) -> list[tuple[str, str]]:
    """Return what the names of every organization and party below the root say."""
    reached = tree.reached(address)
    places = [id_ for id_, _, _ in reached] if deep else [tree.root]
    with as_owner(tree.connection):
        parties = tree.connection.execute(
            "select id, name from parties where organization_id = any(%s)", [places]
        ).fetchall()
    rows = [("organization", id_, name) for id_, name, _ in reached] + [("party", *row) for row in parties]
    return sorted((kind, str(id_)) for kind, id_, name in rows if q.lower() in name.lower())


@pytest.mark.parametrize("deep", [True, False])
@pytest.mark.parametrize("address", [INSIDE, OUTSIDE])
@pytest.mark.parametrize("q", ["investor 77", "Unit 39", "division 3", "77", "nothing has this"])
def test_search_below_thousands_finds_what_a_walk_finds(
    trees: tuple[Tree, Tree], q: str, address: str, deep: bool
) -> None:
    word = f" {q}" if len(q) == 2 else q  # two characters are the beginning of a word
    assert found(trees[0], q, address=address, deep=deep) == expected(trees[0], word, address, deep=deep)


def test_search_below_an_organization_that_was_not_entered_finds_nothing(trees: tuple[Tree, Tree]) -> None:
    trees[1].enter()
    search = values(trees[0], "investor")
    trees[1].enter()
    assert trees[0].connection.execute(SEARCH, search).fetchall() == []


@pytest.mark.parametrize(("q", "most"), [("investor 77", 600), ("unit 3999", 600), ("nothing has this", 100)])
def test_search_reads_only_what_an_index_finds(trees: tuple[Tree, Tree], q: str, most: int) -> None:
    for deep in (True, False):
        rows, blocks = cost(trees[0].connection, SEARCH, values(trees[0], q, each=8, deep=deep))
        assert rows < most, f"of {4 * UNITS} parties and {2 * (UNITS + DIVISIONS)} organizations"
        assert blocks < 5 * most
