"""The drawer of a party opens with what its list knows; the rest follows."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from backend.client import SessionClient
from tests.conftest import World
from tests.console.events import Socket, connected
from tests.console.test_conflicts import CASE, STATE, tab_of
from tests.support.firm import Firm

LISTS = {"parties": f"{STATE}parties___list____parties", "attestations": f"{STATE}attestations___queue____queue"}


@pytest_asyncio.fixture(scope="module")
async def socket(api: Any) -> AsyncIterator[Socket]:
    """The console's socket."""
    async with connected() as socket:
        yield socket


@pytest.mark.parametrize("page", LISTS)
async def test_drawer_opens_before_the_details_are_read(
    page: str, world: World, socket: Socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    firm = await Firm.found(world)
    first = await firm.party(name="Astrid Berg", email="astrid@example.com", country="SWE")
    second = await firm.party(name="Bo Ek", country="NOR")
    tab = await tab_of(firm, socket, page)
    await tab.send(f"{CASE}.enter", {})
    await tab.send(f"{LISTS[page]}.load", {})
    opened, get_party = asyncio.Event(), SessionClient.get_party

    async def late(*args: Any, **named: Any) -> Any:
        await opened.wait()
        return await get_party(*args, **named)

    monkeypatch.setattr(SessionClient, "get_party", late)
    said = await tab.send_until(f"{LISTS[page]}.choose", {"row_id": first["id"]}, 'shown_rx_state_": "party"')
    assert "Astrid Berg" in said.partition(f'"{CASE}"')[2]
    assert "Sweden" in said
    assert 'is_partial_rx_state_": true' in said
    opened.set()
    await socket.settle()
    await firm.admin.call("PATCH", f"/identity/parties/{first['id']}", json={"name": "Astrid Bergman"})
    said = await tab.send(f"{LISTS[page]}.choose", {"row_id": second["id"]})
    assert 'is_partial_rx_state_": false' in said
    assert "Astrid Bergman" in await tab.send(f"{LISTS[page]}.choose", {"row_id": first["id"]})
    assert socket.failures == []
