"""Lists of organizations of a person who reaches thousands: what they return, and how much they read."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest

from tests.support.many_organizations import DIVISIONS, UNITS, Tree, cost, two_trees

pytestmark = pytest.mark.long
REACH = "select * from signum_reach(%(person)s, %(q)s, %(time)s, %(last)s, %(most)s, %(address)s::inet)"
INSIDE, OUTSIDE = "192.0.2.7", "198.51.100.7"


@pytest.fixture(scope="module")
def trees(database_url: str) -> Iterator[tuple[Tree, Tree]]:
    with two_trees(database_url) as both:
        yield both


def values(tree: Tree, q: str | None = None, **others: Any) -> dict[str, Any]:
    return {"person": tree.person, "q": q, "time": None, "last": None, "most": 51, "address": INSIDE} | others


def pages(tree: Tree, q: str | None, address: str, most: int = 400, pages: int = 30) -> list[UUID]:
    """Return the IDs of some pages, one after the other."""
    found: list[UUID] = []
    place: dict[str, Any] = {}
    for _ in range(pages):
        rows = tree.connection.execute(REACH, values(tree, q, address=address, most=most, **place)).fetchall()
        found += [row[0] for row in rows]
        if len(rows) < most:
            break
        place = {"time": rows[-1][8], "last": rows[-1][0]}
    return found


def matches(q: str | None, id_: UUID, name: str) -> bool:
    return q is None or q.lower() in name.lower() or (len(q) >= 4 and str(id_).startswith(q.lower()))


@pytest.mark.parametrize("address", [INSIDE, OUTSIDE])
@pytest.mark.parametrize("q", [None, "unit", "UNIT 77", "t 77", "division", "n", "9", "77", "nothing has this"])
def test_list_of_thousands_has_what_a_walk_finds(trees: tuple[Tree, Tree], q: str | None, address: str) -> None:
    whole = trees[0].reached(address)
    closed = 0 if address == INSIDE else 1 + UNITS // DIVISIONS
    assert len(whole) == 1 + DIVISIONS + UNITS - closed
    assert pages(trees[0], q, address) == [id_ for id_, name, _ in whole if matches(q, id_, name)]


def test_list_of_thousands_finds_the_beginning_of_an_id(trees: tuple[Tree, Tree]) -> None:
    oldest = trees[1].reached(INSIDE)[-30][0]
    assert oldest in pages(trees[1], str(oldest)[:6], INSIDE)
    assert pages(trees[0], str(oldest), INSIDE) == []


@pytest.mark.parametrize("q", [None, "unit", "unit 77", "unit 3999", "nothing has this"])
def test_list_of_thousands_reads_a_few_rows(trees: tuple[Tree, Tree], q: str | None) -> None:
    rows, blocks = cost(trees[0].connection, REACH, values(trees[0], q))
    assert rows < 3_500, "it walks up from a few, not down to all"
    assert blocks < 10_000


def test_page_in_the_middle_of_thousands_reads_as_little_as_the_first(trees: tuple[Tree, Tree]) -> None:
    id_, _, time = trees[0].reached(INSIDE)[UNITS // 2]
    first, _ = cost(trees[0].connection, REACH, values(trees[0]))
    middle, _ = cost(trees[0].connection, REACH, values(trees[0], time=time, last=id_))
    assert middle <= first * 1.1
