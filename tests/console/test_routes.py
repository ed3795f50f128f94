"""Every page of the console is in the walks of the browser tests."""

from app.app import app as console
from tests.e2e.places import PLACES


def test_every_route_has_a_case_in_the_walks() -> None:
    if not console._unevaluated_pages:
        console._apply_decorated_pages()
    assert set(console._unevaluated_pages) == set(PLACES)
