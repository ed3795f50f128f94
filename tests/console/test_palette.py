"""The palette's actions: each opens its dialog or page, for users who may do it."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

import app.pages  # noqa: F401  # registers every page
from app.shell.layout import jumps
from app.shell.sidebar import Action, Place, places
from backend.users.schemas import Role
from state.core.search import DialogLink, dialogs
from tests.conftest import World
from tests.console.events import Socket, connected
from tests.console.test_page_urls import concrete
from tests.support.firm import Firm

ACTIONS = [(place, action) for place in places for action in place.actions]
OPENED = [pytest.param(place, action, id=action.name) for place, action in ACTIONS if action.opens]


@pytest_asyncio.fixture(scope="module")
async def socket(api: Any) -> AsyncIterator[Socket]:
    """The console's socket."""
    async with connected() as socket:
        yield socket


def state_of(action: Action) -> Any:
    """Return the state whose dialog an action opens."""
    name = getattr(action.opens, "handler", action.opens).state.get_full_name()
    return next(state for state in concrete(DialogLink.get_parent_state()) if state.get_full_name() == name)


@pytest.mark.parametrize(("place", "action"), OPENED)
async def test_action_opens_its_dialog_only_for_users_who_may_do_it(
    world: World, socket: Socket, place: Place, action: Action
) -> None:
    firm = await Firm.found(world)
    viewer = await world.person(firm.id, Role.VIEWER)
    path = place.route.replace("[org_id]", str(firm.id))
    for cookie, is_open in ((firm.admin.cookie, True), (viewer.cookie, False)):
        tab = await socket.tab(cookie, f"{path}?new={action.name}", org_id=str(firm.id), new=action.name)
        assert tab.value(state_of(action), "is_open") is is_open
    assert socket.failures == []


def test_actions_have_distinct_names_and_lead_to_a_page_or_a_dialog() -> None:
    assert len({action.name for _, action in ACTIONS}) == len(ACTIONS) > 10
    assert all(bool(action.path) != bool(action.opens) for _, action in ACTIONS)
    assert set(dialogs) == {action.name for _, action in ACTIONS if action.opens}


@pytest.mark.parametrize(
    ("words", "label"),
    [
        ("new transfer", "New transfer"),
        ("new market", "Deploy market"),
        ("create asset", "New asset"),
        ("new distribution", "New distribution"),
        ("new bridge", "New bridge"),
        ("new party", "Register party"),
        ("add investor", "Register party"),
        ("new attestation", "Issue attestation"),
        ("new wallet", "New wallet"),
        ("new api key", "New key"),
        ("new webhook", "New endpoint"),
        ("new organization", "New organization"),
        ("invite member", "Invite people"),
    ],
)
def test_action_is_found_by_what_people_call_it(words: str, label: str) -> None:
    """The palette compares as `assets/react/picker.jsx` does: each word is part of an entry's texts."""
    texts = {one["label"]: f"{one['label']} {one.get('sub', '')} {one.get('words', '')}".lower() for one in jumps()}
    assert label in {name for name, text in texts.items() if all(word in text for word in words.split())}
