"""The sign-in page: whom it offers the demo's people."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from backend.core.settings import settings
from backend.users.schemas import Role
from state.demo_people.people import DemoPeople
from tests.conftest import Actor
from tests.console.events import Socket, Tab, connected
from tests.demo_people.test_sign_in import local, people

__all__ = ["local", "people"]
HOST = settings().origin.removeprefix("http://")


@pytest_asyncio.fixture
async def socket(api: Any) -> AsyncIterator[Socket]:
    """The console's socket."""
    async with connected() as socket:
        yield socket


async def shown(socket: Socket, peer: str = "127.0.0.1", **headers: str) -> list[str]:
    """Open the page; return the people's tasks."""
    tab = Tab(socket, "demo", "/sign-in", {}, headers={"host": HOST, **headers}, peer=peer)
    await tab.connect("")
    await socket.settle()
    return [one.task for one in tab.value(DemoPeople, "people")]


async def test_sign_in_page_shows_people_only_to_a_local_browser(
    socket: Socket, people: dict[Role, Actor], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert await shown(socket) == ["Issues a new asset", "Reviews two investors", "Follows holdings and income"]
    assert await shown(socket, peer="10.0.0.5") == []
    assert await shown(socket, host="signum.example") == []
    assert await shown(socket, origin="http://evil.example") == []
    for header in ("x-forwarded-for", "x-forwarded-host", "forwarded", "x-real-ip", "via"):
        assert await shown(socket, **{header: "127.0.0.1"}) == []
    for setting, value in (("demo", False), ("host", "0.0.0.0"), ("database_url", "postgresql://db.example/signum")):
        with monkeypatch.context() as changed:
            changed.setattr(settings(), setting, value)
            assert await shown(socket) == []
    assert socket.failures == []
