"""Each search for a field returns the text with what was found: the field compares it with its own text."""

import pytest

from state.attestations.issue import Issue
from state.core.holder_picker import HolderPicker
from state.core.search import Finder
from state.core.session import Session
from state.organizations.move import MoveState
from state.organizations.tree import Hierarchy
from tests.conftest import World
from tests.console.events import connected
from tests.console.test_conflicts import tab_of
from tests.support.firm import Firm

pytestmark = pytest.mark.usefixtures("api")
FIELD = {"field": "to", "asset_id": "", "eid": "", "offers": ""}
SEARCHES = [
    (Finder, "find", "words", {}),
    (Session, "find", "words", {}),
    (Issue, "find", "words", {}),
    (MoveState, "search", "words", {}),
    (Hierarchy, "search", "words", {}),
    (HolderPicker, "search", "text", FIELD),
]


async def test_search_returns_its_text_with_what_was_found(world: World) -> None:
    firm = await Firm.found(world)
    async with connected() as socket:
        tab = await tab_of(firm, socket, "organizations")
        for state, handler, name, given in SEARCHES:
            for text in (" two  words ", ""):
                await tab.send(f"{state.get_full_name()}.{handler}", {**given, name: text})
                assert tab.value(state, "found_for") == text, state
        assert socket.failures == []
