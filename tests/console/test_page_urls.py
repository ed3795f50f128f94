"""What a page shows is in its URL: read when the page opens, declared for every list."""

from collections.abc import AsyncIterator, Iterator
from typing import Any
from urllib.parse import urlencode
from uuid import uuid4

import pytest
import pytest_asyncio
import reflex as rx

import app.pages  # noqa: F401  # registers every page
from app.shell.layout import addressed
from components.ui.address import address
from state.core.address import Addressed
from state.core.paging import Pages
from state.users.sessions import SessionsState
from tests.conftest import World
from tests.console.events import Socket, connected
from tests.support.firm import Firm

NOT_VIEWS = {
    "problem", "sort", "query", "people_problem", "assets_problem", "total", "escrowed", "form_problem", "paying",
    "eligibility",
}  # fmt: skip
"""Texts of lists that are results, not what the user chose."""
CURSORS = {"HoldersState": {"chosen"}}
"""The row of the keyboard, in lists that have no drawer."""
ID = str(uuid4())
VIEWS: dict[str, dict[str, str]] = {
    "approvals": {"view": "mine"},
    "assets": {"status": "failed"},
    "attestations": {"show": "expired"},
    "audit": {"kind": "asset", "who": ID, "from": "2026-01-02", "until": "2026-03-04"},
    "bridges": {"status": "failed", "asset": ID},
    "chains": {"environment": "testnet", "vm": "solana", "deployed": "no", "enabled": "yes", "unavailable": "shown"},
    "distributions": {"status": "draft", "asset": ID},
    "markets": {"status": "halted"},
    "members": {"tab": "invitations", "role": "viewer", "q": "ada berg", "invitations_status": "revoked"},
    "outbox": {"q": "ada berg"},
    "overview": {"chart": "holders"},
    "parties": {"status": "rejected", "q": "ada berg"},
    "requests": {"status": "failed"},
    "transfers": {"status": "confirmed"},
    "wallets": {"q": "ada berg", "id": ID},
}
"""By page below the organization: its filters, each with another value than the usual one."""
DRAWERS = {
    "approvals": "approval", "attestations": "party", "bridges": "bridge", "parties": "party", "requests": "request",
    "transfers": "transfer", "wallets": "wallet",
}  # fmt: skip
"""Pages whose `?id=` opens a record."""


def concrete(state: type[Any]) -> Iterator[type[Any]]:
    """Yield the subclasses that are states of the console."""
    for one in state.__subclasses__():
        if one.__module__.startswith("state."):
            if issubclass(one, rx.State) and not one._mixin:
                yield one
            yield from concrete(one)


LISTS = sorted(set(concrete(Pages)), key=lambda state: state.__name__)
STATES = sorted({one for one in concrete(Addressed) if one._params()}, key=lambda state: state.__name__)


@pytest_asyncio.fixture(scope="module")
async def socket(api: Any) -> AsyncIterator[Socket]:
    """The console's socket."""
    async with connected() as socket:
        yield socket


@pytest.mark.parametrize("state", STATES, ids=lambda state: state.__name__)
def test_state_with_a_view_is_named_by_a_page(state: type[Any]) -> None:
    named = {one for states in addressed.values() for one in states}
    assert state in named, "name it in the `in_url` of its page"


@pytest.mark.parametrize("state", LISTS, ids=lambda state: state.__name__)
def test_filter_of_a_list_is_in_the_url(state: type[Any]) -> None:
    texts = {name for name, kind in state.get_fields().items() if kind.annotated_type is str and name[0] != "_"}
    inherited = set(rx.State.get_fields())
    own = texts - inherited - NOT_VIEWS - CURSORS.get(state.__name__, set())
    assert own <= {param.var for param in state._params().values()}


def test_list_that_sorts_is_found() -> None:
    assert len(LISTS) > 20
    assert SessionsState in LISTS


@pytest.mark.parametrize("route", [route for route, states in addressed.items() if states])
def test_parameters_of_a_page_have_distinct_names(route: str) -> None:
    address(addressed[route])


def test_filters_of_every_page_are_tested() -> None:
    known = {}
    for route, states in addressed.items():
        names = {name for one in states for name, param in one._params().items() if param.adds != "opening"}
        if route.count("/") == 3 and names - {"id"}:
            known[route.rpartition("/")[2]] = names
    assert {page: set(view) for page, view in VIEWS.items()} == known


@pytest.mark.parametrize("page", VIEWS)
async def test_page_opened_by_its_url_shows_the_view_and_malformed_values_the_usual_one(
    world: World, socket: Socket, page: str
) -> None:
    firm = await Firm.found(world)
    for view in (VIEWS[page], dict.fromkeys(VIEWS[page], "'; drop")):
        path = f"/o/{firm.id}/{page}?{urlencode(view)}"
        tab = await socket.tab(firm.admin.cookie, path, org_id=str(firm.id), **view)
        found, usual = {}, {}
        for state in addressed[f"/o/[org_id]/{page}"]:
            for name, param in state._params().items():
                if name in view:
                    found[name], usual[name] = tab.value(state, param.var), state._usual(param.var)
        assert found == (
            view
            if view is VIEWS[page]
            else {name: "'; drop" if name == "q" else value for name, value in usual.items()}
        )
    assert socket.failures == []


@pytest.mark.parametrize("page", DRAWERS)
async def test_url_of_a_record_that_the_user_may_not_see_shows_the_refusal(
    world: World, socket: Socket, page: str
) -> None:
    firm = await Firm.found(world)
    path = f"/o/{firm.id}/{page}?id={ID}"
    tab = await socket.tab(firm.admin.cookie, path, org_id=str(firm.id), id=ID)
    assert DRAWERS[page] in tab.opened.lower()
    assert any(words in tab.opened for words in ("no longer exists", "There is no", "No resource", "does not exist"))
    assert socket.failures == []
