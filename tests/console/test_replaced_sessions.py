"""A tab whose browser has signed in again, while a call of the earlier session still runs."""

import asyncio
from datetime import timedelta
from typing import Any

import httpx
import pytest

from app.shell.event_guard import Owner
from backend.auth.credentials import cookie_name, session_secret
from backend.auth.secrets import digest
from backend.client import client
from backend.core import db
from backend.models import UserRow
from backend.sign_in import service
from backend.users.schemas import Role
from state.core.api import Replaced, SignedOut
from state.core.session import Session
from tests.conftest import World
from tests.console.events import connected
from tests.console.test_conflicts import tab_of
from tests.console.test_live_pages import BELL
from tests.support.firm import Firm

pytestmark = pytest.mark.usefixtures("api")
REDIRECT = '"_redirect"'


async def test_end_of_the_earlier_session_does_not_lead_the_new_one_to_the_sign_in(world: World) -> None:
    firm = await Firm.found(world)
    officer = await world.person(firm.id, Role.COMPLIANCE_OFFICER)
    async with connected() as socket:
        tab = await tab_of(firm, socket, "overview")
        owner = digest(session_secret(officer.cookie))

        async def signs_in(answer: httpx.Response) -> None:
            if answer.status_code == 401 and tab.value(Owner, "_owner") != owner:
                await tab.begin(officer.cookie)
                while tab.value(Owner, "_owner") != owner:  # noqa: ASYNC110 (no event tells)
                    await asyncio.sleep(0.01)

        hooks: dict[str, list[Any]] = client._client().event_hooks
        client._client().event_hooks = {**hooks, "response": [*hooks["response"], signs_in]}
        async with db.transaction() as session:
            await service.end_by_cookie(session, session_secret(firm.admin.cookie))
        said = await tab.send(f"{BELL}.follow", {})
        assert any(isinstance(failure, Replaced) for failure in socket.failures)
        assert not any(isinstance(failure, SignedOut) for failure in socket.failures)
        assert "/sign-in" not in said


async def test_second_call_of_an_ended_session_keeps_the_path_that_the_sign_in_has(world: World) -> None:
    firm = await Firm.found(world)
    async with connected() as socket:
        tab = await tab_of(firm, socket, "members")
        async with db.transaction() as session:
            await service.end_by_cookie(session, session_secret(firm.admin.cookie))
        assert REDIRECT in await tab.send(f"{BELL}.follow", {})
        tab.path = f"/sign-in?next=%2Fo%2F{firm.id}%2Fmembers"
        socket.failures.clear()
        said = await tab.send(f"{BELL}.follow", {})
        assert any(isinstance(failure, SignedOut) for failure in socket.failures)
        assert REDIRECT not in said


async def test_tab_whose_browser_has_another_person_says_who_it_is(world: World) -> None:
    firm = await Firm.found(world)
    officer = await world.person(firm.id, Role.COMPLIANCE_OFFICER, "priya.shah@example.com")
    async with connected() as socket:
        tab = await tab_of(firm, socket, "overview")
        async with db.transaction() as session:
            await service.end_by_cookie(session, session_secret(firm.admin.cookie))
        tab.path = f"/sign-in?next=/o/{firm.id}/members"
        await tab.connect(firm.admin.cookie)
        assert tab.value(Session, "ended") != "", "the page loads again, because the browser may have another cookie"
        assert tab.value(Session, "has_ended")
        said = await tab.connect(officer.cookie)
        assert (tab.value(Session, "ended"), tab.value(Session, "resumes_as")) == ("", "Priya.Shah")
        assert tab.value(Session, "is_replaced")
        assert REDIRECT not in said
        tab.path = f"/o/{firm.id}/overview"
        await tab.connect(officer.cookie)
        tab.path = f"/sign-in?next=/o/{firm.id}/members"
        assert REDIRECT in await tab.connect(officer.cookie), "the tab shows this person's pages already"


async def test_tab_whose_person_has_signed_in_again_continues(world: World) -> None:
    firm = await Firm.found(world)
    async with connected() as socket:
        tab = await tab_of(firm, socket, "overview")
        async with db.worker() as session:
            user = await session.get_one(UserRow, firm.admin.user_id)
            _, secret = await service.open_session(session, user, "browser", "tests", "127.0.0.1", timedelta(days=1))
        tab.path = f"/sign-in?next=/o/{firm.id}/members"
        assert REDIRECT in await tab.connect(f"{cookie_name()}={secret}")


async def test_sign_in_page_offers_to_continue_as_the_signed_in_person(world: World) -> None:
    firm = await Firm.found(world)
    async with connected() as socket:
        tab = await socket.tab(firm.admin.cookie, "/sign-in")
        assert REDIRECT not in tab.opened
        assert tab.value(Session, "resumes_as") != ""
        assert not tab.value(Session, "is_replaced")
        assert tab.value(Session, "ended") == ""
        visitor = await socket.tab("", "/sign-in")
        assert (visitor.value(Session, "resumes_as"), visitor.value(Session, "ended")) == ("", "")
