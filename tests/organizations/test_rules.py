"""The pure rules of the hierarchy."""

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.core.errors import BadRequest
from backend.organizations import rules
from backend.organizations.rules import Holder, Node, Place
from backend.users.schemas import Role

IDS = [UUID(int=i) for i in range(1, 7)]
holders = st.lists(
    st.builds(Holder, st.sampled_from(IDS), st.just("Ada"), st.sampled_from(Role), st.integers(0, 3)), max_size=12
)


def path(*numbers: int) -> list[Place]:
    return [Place(UUID(int=n), f"N{n}") for n in numbers]


def roles_of(own: list[Holder], above: list[Holder]) -> set[tuple[UUID, Role]]:
    return {(h.user_id, h.role) for h in own if h.height == 0} | {
        (h.user_id, h.role) for h in above if h.role is not Role.CLIENT
    }


@given(holders, holders, holders)
def test_access_changes_are_the_exact_difference(own: list[Holder], before: list[Holder], after: list[Holder]) -> None:
    old, new = roles_of(own, before), roles_of(own, after)
    changes = rules.access_changes(own, before, after)
    assert {(c.user_id, c.role) for c in changes if c.change == "gained"} == new - old
    assert {(c.user_id, c.role) for c in changes if c.change == "lost"} == old - new
    assert len(changes) == len(new ^ old)


def test_moved_paths_and_depths_are_listed_before_and_after() -> None:
    nodes = [
        Node(UUID(int=9), UUID(int=2), "N9", 0),
        Node(UUID(int=10), UUID(int=9), "N10", 1),
        Node(UUID(int=11), UUID(int=10), "N11", 2),
    ]
    moved = rules.moved_nodes(nodes, path(1, 2), path(3))
    assert [(m.path_before, m.path_after, m.depth_before, m.depth_after) for m in moved] == [
        ("N1 / N2 / N9", "N3 / N9", 2, 1),
        ("N1 / N2 / N9 / N10", "N3 / N9 / N10", 3, 2),
        ("N1 / N2 / N9 / N10 / N11", "N3 / N9 / N10 / N11", 4, 3),
    ]


@pytest.mark.parametrize("target", [path(9), path(1, 9), path(1, 9, 4)])
def test_organization_cannot_move_below_itself(target: list[Place]) -> None:
    with pytest.raises(BadRequest):
        rules.check_target(UUID(int=9), target)


@given(st.integers(1, 70), st.integers(0, 70))
def test_organization_depth_is_at_most_64(above: int, height: int) -> None:
    if above + height > rules.MAX_DEPTH:
        with pytest.raises(BadRequest):
            rules.check_depth(path(*range(1, above + 1)), height)
    else:
        rules.check_depth(path(*range(1, above + 1)), height)


@pytest.mark.parametrize(
    ("patch", "stored", "result"),
    [
        ({"a": "c"}, {"a": "b"}, {"a": "c"}),
        ({"b": "c"}, {"a": "b"}, {"a": "b", "b": "c"}),
        ({"a": None}, {"a": "b"}, {}),
        ({"a": None}, {"a": "b", "b": "c"}, {"b": "c"}),
        ({"a": ["c"]}, {"a": "b"}, {"a": ["c"]}),
        ({"a": {"b": "d", "c": None}}, {"a": {"b": "c"}}, {"a": {"b": "d"}}),
        ({"a": {"bb": {"ccc": None}}}, {}, {"a": {"bb": {}}}),
    ],
)
def test_merge_patch_follows_its_rfc(patch: dict, stored: dict, result: dict) -> None:  # type: ignore[type-arg]
    assert rules.merged(patch, stored) == result
