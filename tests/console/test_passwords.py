"""Password fields hide their input and work with password managers."""

from collections.abc import Iterator

import pytest
import reflex as rx
from reflex_components_core.el.elements.forms import Input

from app.app import app as console


def parts(component: rx.Component) -> Iterator[rx.Component]:
    """A component and everything in it."""
    yield component
    for child in component.children:
        yield from parts(child)


def fields() -> list[tuple[str, Input]]:
    """Return every field of the console whose name contains a password, with its page."""
    if not console._unevaluated_pages:
        console._apply_decorated_pages()
    pages = {route: page.component for route, page in console._unevaluated_pages.items()}
    drawn = {route: one() if callable(one) else one for route, one in pages.items()}
    inputs = [(route, one) for route, page in drawn.items() for one in parts(page) if isinstance(one, Input)]
    return [(route, one) for route, one in inputs if "password" in str(one.name)]


@pytest.mark.long
def test_password_fields_hide_input_and_allow_pasting() -> None:
    found = fields()
    assert {"sign-in", "reset-password", "invitation"} <= {route for route, _ in found}
    for route, one in found:
        assert str(one.type) == '"password"', route
        assert str(one.auto_complete) in ('"current-password"', '"new-password"'), route
        assert one.event_triggers.keys().isdisjoint({"on_paste", "on_copy", "on_cut"}), route
        assert str(one.max_length) == "256", route
