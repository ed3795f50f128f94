"""What a browser sends is taken for what it should be, or for nothing."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from state.given import named, one_of

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(ANYTHING)
def test_a_form_is_text_of_the_named_fields(data: Any) -> None:
    found = named(data, "name", "role")
    assert set(found) == {"name", "role"}
    assert all(isinstance(value, str) for value in found.values())


@given(ANYTHING)
def test_a_choice_is_one_of_the_known(value: Any) -> None:
    assert one_of(value, ("a", "b"), "a") in ("a", "b")


def test_spaces_around_are_dropped() -> None:
    assert named({"name": "  Acme ", "other": "x"}, "name") == {"name": "Acme"}
