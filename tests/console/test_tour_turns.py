"""What a browser has sent before the tour was left, resumed or ended arrives late: it changes nothing."""

import json
import re
from collections.abc import AsyncIterator
from typing import Any

import pytest_asyncio

from tests.conftest import World
from tests.console.events import Socket, connected
from tests.console.test_conflicts import tab_of
from tests.support.firm import Firm

TOUR = "reflex___state____state.state___tour___guide____tour"


@pytest_asyncio.fixture(scope="module")
async def socket(api: Any) -> AsyncIterator[Socket]:
    """The console's socket."""
    async with connected() as socket:
        yield socket


def stored_of(sent: str) -> str:
    """Return what the browser is to store, of the last message that says so."""
    found = re.findall(r'"stored_rx_state_": ("(?:[^"\\]|\\.)*")', sent)
    return str(json.loads(found[-1])) if found else ""


async def test_late_look_neither_resumes_nor_leaves_nor_revives_a_tour(world: World, socket: Socket) -> None:
    firm = await Firm.found(world)
    tab = await tab_of(firm, socket, "overview")
    began = stored_of(await tab.send(f"{TOUR}.begin", {}))
    assert json.loads(began)["left"] is False
    assert json.loads(stored_of(await tab.send(f"{TOUR}.leave", {"is_left": True})))["left"] is True
    assert stored_of(await tab.send(f"{TOUR}.look", {"stored": began})) == "", "it stays left"

    left = stored_of(await tab.send(f"{TOUR}.leave", {"is_left": True}))
    resumed = stored_of(await tab.send(f"{TOUR}.leave", {"is_left": False}))
    assert json.loads(resumed)["left"] is False
    assert stored_of(await tab.send(f"{TOUR}.look", {"stored": left})) == "", "it stays resumed"

    assert stored_of(await tab.send(f"{TOUR}.end", {})) == "ended"
    for late in (began, left, resumed):
        assert '"total_rx_state_": 8' not in await tab.send(f"{TOUR}.look", {"stored": late}), "it stays ended"
    assert json.loads(stored_of(await tab.send(f"{TOUR}.begin", {})))["at"] == 0
    assert socket.failures == []
