"""Input from a browser is converted to its expected type, or ignored."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from state.core.arguments import named, one_of

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(ANYTHING)
def test_form_data_becomes_text_of_the_named_fields(data: Any) -> None:
    found = named(data, "name", "role")
    assert set(found) == {"name", "role"}
    assert all(isinstance(value, str) for value in found.values())


@given(ANYTHING)
def test_choice_is_one_of_the_known_values(value: Any) -> None:
    assert one_of(value, ("a", "b"), "a") in ("a", "b")


def test_surrounding_spaces_are_stripped() -> None:
    assert named({"name": "  Acme ", "other": "x"}, "name") == {"name": "Acme"}
