"""Walks over every page as each role, light and dark, on a desk and on a phone.

With `SIGNUM_WALK=folder`, a picture of each is kept as PAGE-ROLE-THEME-WIDTH.png.
"""

import re

import pytest

from tests.e2e.conftest import Console, Signum
from tests.e2e.places import PLACES, SCREENS, TWO_SCREENS, Screen, faults_on_every_screen, settled, show

VISITOR = "visitor"
"""Someone who has not signed in."""
EXPECTED_ERRORS = ("no-such-page",)
"""Pages whose address is wrong: the browser reports the response."""


def roles_of(route: str) -> tuple[str, ...]:
    """Return the roles as which a route is looked at."""
    if route.startswith("o/"):
        return ("admin", "viewer")
    return ("client",) if re.match("i(/|$)", route) else (VISITOR,)


@pytest.mark.long
@pytest.mark.parametrize(
    ("role", "screens"),
    [
        pytest.param("admin", TWO_SCREENS, id="admin", marks=pytest.mark.nightly),
        pytest.param("admin", SCREENS, id="admin on every screen", marks=pytest.mark.nightly),
        pytest.param("viewer", TWO_SCREENS, id="viewer", marks=pytest.mark.nightly),
        pytest.param("client", SCREENS, id="client"),
        pytest.param(VISITOR, SCREENS, id=VISITOR),
    ],
)
def test_every_page_is_sound_for_each_role(
    console: Console, signum: Signum, ids: dict[str, str], role: str, screens: list[Screen]
) -> None:
    if role != VISITOR:
        console.begin_session(signum.person(role))
    paths = [path for route, some in PLACES.items() for path in some if role in roles_of(route)]
    found = [fault for path in paths for fault in walked(console, path, ids, role, screens)]
    assert found == [], "\n".join(found)


def walked(console: Console, path: str, ids: dict[str, str], role: str, screens: list[Screen]) -> list[str]:
    """Open a page and return what is wrong with it on each screen."""
    show(console.page, screens[0])
    console.page.goto(f"{console.signum.url}/{path.format(**ids)}")
    name = f"{path.removeprefix('o/{org}/')}-{role}"
    found = faults_on_every_screen(settled(console), name, screens)
    if not path.startswith(EXPECTED_ERRORS):
        found += [f"{name}: {error}" for error in console.errors]
    console.errors.clear()
    return found
