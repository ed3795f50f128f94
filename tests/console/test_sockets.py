"""Sockets without a session leave no state and no log lines."""

import asyncio
import logging
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from app.shell import sockets
from backend.server.request_guard import VISITOR, Visitor
from tests.console.events import Socket, Tab, connected

FORGED = "reflex___state____state.reflex___state____frontend_event_exception_state.handle_frontend_exception"


@pytest_asyncio.fixture
async def socket(api: Any) -> AsyncIterator[Socket]:
    """The console's socket."""
    async with connected() as socket:
        yield socket


class KnownTab(Tab):
    """A tab whose session the guard has found."""

    async def connect(self, cookie: str) -> str:
        scope = {"headers": [], "client": ("127.0.0.1", 1), VISITOR: Visitor("a session")}
        environ = {"QUERY_STRING": f"token={self.token}", "asgi.scope": scope}
        await self.socket.namespace.on_connect(self.sid, environ)
        return await self.send("reflex___state____state.hydrate_and_load", {"vars": {}, "hashes": []})


async def opened(socket: Socket, kind: type[Tab]) -> Tab:
    tab = kind(socket, f"sid-{kind.__name__}", "/sign-in", {})
    await tab.connect("")
    return tab


def states_of(socket: Socket, tab: Tab) -> list[str]:
    return [key for key in socket.app.state_manager.states if key.startswith(tab.token)]


async def test_stranger_state_is_forgotten_when_the_tab_is_closed(
    socket: Socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sockets, "FORGET_AFTER", 0.0)
    for kind, kept in ((Tab, False), (KnownTab, True)):
        tab = await opened(socket, kind)
        assert states_of(socket, tab)
        task = socket.namespace.on_disconnect(tab.sid)
        assert task is not None
        await task
        await socket.settle()
        await asyncio.sleep(0)  # the timer that drops the state is due
        assert bool(states_of(socket, tab)) is kept
        assert tab.token not in socket.namespace.strangers


async def test_stranger_state_is_kept_while_the_tab_is_open(socket: Socket) -> None:
    tab = await opened(socket, Tab)
    socket.namespace.forget(tab.token)
    assert states_of(socket, tab)
    assert tab.token in socket.namespace.strangers


async def test_browser_reports_are_logged_for_signed_in_people(
    socket: Socket, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    for kind, is_told in ((Tab, False), (KnownTab, True)):
        caplog.clear()
        tab = await opened(socket, kind)
        await socket.namespace.on_client_error(tab.sid, {"message": "reported", "error_type": "x"})
        await tab.send(FORGED, {"info": "thrown", "component_stack": ""})
        await tab.send("no_such_handler", {})
        answer = "\n".join(record.getMessage() for record in caplog.records)
        assert [word in answer for word in ("reported", "thrown", "no_such_handler")] == [is_told] * 3, answer
