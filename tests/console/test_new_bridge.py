"""A new bridge is sent as its plan shows it; a plan that has changed since is shown again."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from tests.conftest import World
from tests.console.events import Socket, connected
from tests.console.test_conflicts import tab_of
from tests.support.firm import BASE, SEPOLIA
from tests.support.issuance import UNIT, Issuance

FORM = "reflex___state____state.state___bridges___form____new_bridge"


@pytest_asyncio.fixture(scope="module")
async def socket(api: Any) -> AsyncIterator[Socket]:
    """The console's socket."""
    async with connected() as socket:
        yield socket


@pytest.mark.long
async def test_changed_plan_is_shown_again_and_sent_after_its_confirmation(world: World, socket: Socket) -> None:
    firm = await Issuance.ready(world, SEPOLIA, BASE)
    asset = await firm.asset(max_holders=9)
    tab = await tab_of(firm, socket, "bridges")
    await tab.send(f"{FORM}.begin", {"asset_id": asset["id"]})
    await tab.send(f"{FORM}.write", {"name": "destination_chain_eid", "text": str(BASE)})
    said = await tab.send(f"{FORM}.write", {"name": "amount", "text": "5.5"})
    assert f"Send one packet with the rules and 5.5 {asset['symbol']}" in said
    assert '"old": "9 holders", "new": "5 holders"' in said
    filled = {"asset_id": asset["id"], "destination_chain_eid": str(BASE), "amount": "5.5", "to_address": ""}
    data = {"data": filled | {"source_chain_eid": str(SEPOLIA)}}
    assert "Confirm the changed limits first." in await tab.send(f"{FORM}.submit", data)
    await tab.send(f"{FORM}.confirm", {"is_confirmed": True})

    changed = await firm.patch(f"/assets/{asset['id']}", {"max_holders": 21})
    await firm.succeed(changed["requestId"])
    said = await tab.send(f"{FORM}.submit", data)
    assert "The plan has changed. Nothing was sent." in said
    assert '"old": "21 holders", "new": "11 holders"' in said
    assert (await firm.get("/bridges"))["bridges"] == []

    assert "Confirm the changed limits first." in await tab.send(f"{FORM}.submit", data), "the new ones"
    await tab.send(f"{FORM}.confirm", {"is_confirmed": True})
    await tab.send(f"{FORM}.submit", data)
    (bridge,) = (await firm.get("/bridges"))["bridges"]
    assert (bridge["amount"], bridge["to_address"]) == (str(55 * UNIT // 10), None)
    request = await firm.succeed(bridge["request_id"])
    (entry,) = [e for e in (await firm.get("/audit"))["audit"] if e["action"] == "asset.caps_confirmed"]
    assert (entry["actor"], entry["after"]["request_id"]) == (str(firm.admin.user_id), request["id"])
    assert socket.failures == []


async def test_incomplete_and_refused_inputs_are_explained(world: World, socket: Socket) -> None:
    firm = await Issuance.ready(world, SEPOLIA, BASE)
    asset = await firm.asset()
    tab = await tab_of(firm, socket, "bridges")
    await tab.send(f"{FORM}.begin", {"asset_id": ""})
    assert "Choose an asset" in await tab.send(f"{FORM}.submit", {"data": {}})
    await tab.send(f"{FORM}.write", {"name": "asset_id", "text": asset["id"]})
    said = await tab.send(f"{FORM}.write", {"name": "amount", "text": "5000"})
    assert f"holds 1,000 {asset['symbol']}" in said, "the treasury has less"
    said = await tab.send(f"{FORM}.submit", {"data": {"amount": "much"}})
    assert "Enter a number, such as 1250.5" in said
    assert (await firm.get("/bridges"))["bridges"] == []
    assert socket.failures == []
