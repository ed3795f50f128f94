"""Two people edit the rules of one asset in the console."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from state.core.api import OUTDATED
from tests.auth.test_versions import active_asset
from tests.conftest import World
from tests.console.events import Socket, Tab, connected
from tests.support.firm import Firm

PAGE = "reflex___state____state.state___assets___detail____asset_state"
EDITOR = "reflex___state____state.state___compliance___editor____compliance_state"


@pytest_asyncio.fixture(scope="module")
async def socket(api: Any) -> AsyncIterator[Socket]:
    """The console's socket."""
    async with connected() as socket:
        yield socket


async def editor(socket: Socket, cookie: str, path: str) -> Tab:
    """Return a tab with the rules of an asset open."""
    _, org, _, asset = path.strip("/").split("/")
    tab = await socket.tab(cookie, f"/o/{org}/assets/{asset}", org_id=org, asset_id=asset)
    await tab.send(f"{PAGE}.load", {})
    await tab.send(f"{EDITOR}.load", {})
    return tab


async def settled(firm: Firm) -> None:
    """Wait for the latest request."""
    await firm.settle((await firm.get("/requests"))["requests"][0]["id"])


@pytest.mark.long
async def test_later_edit_of_the_same_rules_is_refused_and_can_be_applied_again(world: World, socket: Socket) -> None:
    firm = await Firm.found(world)
    path = await active_asset(firm)
    await firm.patch("", {"require_if_match": True})
    second = await world.person(firm.id)
    one, other = [await editor(socket, actor.cookie, path) for actor in (firm.admin, second)]
    await one.send(f"{EDITOR}.write", {"name": "max_holders", "text": "10"})
    await other.send(f"{EDITOR}.set_level", {"level": "2"})
    assert OUTDATED not in await one.send(f"{EDITOR}.save", {})
    assert OUTDATED in await other.send(f"{EDITOR}.save", {})
    await settled(firm)
    asset = await firm.admin.call("GET", path)
    assert (asset["max_holders"], asset["required_kyc_level"]) == (10, 0)
    await other.send(f"{EDITOR}.rebase", {})
    assert OUTDATED not in await other.send(f"{EDITOR}.save", {})
    await settled(firm)
    asset = await firm.admin.call("GET", path)
    assert (asset["max_holders"], asset["required_kyc_level"]) == (10, 2)
    await other.send(f"{PAGE}.reload", {})
    await other.send(f"{EDITOR}.set_level", {"level": "1"})
    assert OUTDATED not in await other.send(f"{EDITOR}.save", {})
    await settled(firm)
    assert (await firm.admin.call("GET", path))["required_kyc_level"] == 1
    assert socket.failures == []
