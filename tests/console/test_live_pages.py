"""Pages that follow changes instead of reading again and again: without a change, these tests would not end."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from backend.core.runtime import runtime
from backend.live_updates.hints import Waiting, of_log
from backend.users.schemas import Role
from tests.conftest import World
from tests.console.events import Socket, connected
from tests.console.test_conflicts import CHECKLIST, ENDPOINT, ISSUE, tab_of
from tests.support.firm import SEPOLIA, Firm
from tests.webhooks.conftest import receiver
from tests.webhooks.receiver import Receiver

BELL = "reflex___state____state.state___notifications___bell____bell"
__all__ = ["receiver"]


@pytest_asyncio.fixture(scope="module")
async def socket(api: Any) -> AsyncIterator[Socket]:
    """The console's socket."""
    async with connected() as socket:
        yield socket


@pytest.fixture(autouse=True)
def only_hints(monkeypatch: pytest.MonkeyPatch) -> None:
    """Waits end with a change only."""
    monkeypatch.setattr("backend.client.events.LONGEST", 600.0)


async def test_webhook_page_shows_the_result_of_a_test(world: World, socket: Socket, receiver: Receiver) -> None:
    firm = await Firm.found(world)
    webhook = await firm.post("/webhooks", {"url": receiver.url, "event_types": ["*"]})
    tab = await tab_of(firm, socket, f"webhooks/{webhook['id']}", webhook_id=webhook["id"])
    await tab.send(f"{ENDPOINT}webhook_state.enter", {})
    assert '"delivered"' in await tab.send(f"{ENDPOINT}webhook_state.test", {})
    assert socket.failures == []


async def test_checklist_shows_a_prerequisite_that_another_person_met(world: World, socket: Socket) -> None:
    firm = await Firm.found(world)
    await firm.enable(SEPOLIA)
    party = await firm.party("0x" + "12" * 20)
    tab = await tab_of(firm, socket, "parties")
    await tab.send(f"{ISSUE}.begin", {"party_id": party["id"]})
    form = {"chain_eid": str(SEPOLIA), "kyc_level": "1", "expires_at": ""}
    before = await tab.send_until(f"{ISSUE}.submit", {"data": form}, "percent_rx_state_")
    assert 'done_rx_state_": 2' in before
    await firm.admin.call("POST", f"/identity/parties/{party['id']}/verify", json={"kyc_level": 2})
    assert 'done_rx_state_": 3' in await tab.send_until(f"{CHECKLIST}.open_form", {"kind": ""}, "percent_rx_state_")
    await firm.post("/wallets", {"label": "Treasury"})
    await tab.send_until(f"{CHECKLIST}.show", {"is_open": False}, 'is_open_rx_state_": false')
    await firm.post("/wallets", {"label": "Second"})
    await socket.settle()
    assert socket.failures == []


async def test_bell_shows_what_another_person_does(world: World, socket: Socket) -> None:
    firm = await Firm.found(world)
    tab = await tab_of(firm, socket, "overview")
    following = asyncio.create_task(tab.send_until(f"{BELL}.follow", {}, "turn_rx_state_"))
    while not runtime.loop_part(Waiting).signals.get(of_log(firm.id)):  # noqa: ASYNC110 (no event tells when it waits)
        await asyncio.sleep(0.01)
    await firm.party()
    assert "1 party waits for identity review" in await following
    await socket.settle()
    assert socket.failures == []


async def test_bell_does_not_follow_an_organization_without_a_role(world: World, socket: Socket) -> None:
    """The wait ends immediately: were it to last until a change, its end would tell when others work there."""
    firm = await Firm.found(world)
    stranger = await world.person(await world.organization("Elsewhere"), Role.VIEWER)
    tab = await socket.tab(stranger.cookie, f"/o/{firm.id}/overview", org_id=str(firm.id))
    assert "turn_rx_state_" not in await tab.send(f"{BELL}.follow", {})
    assert not runtime.loop_part(Waiting).signals.get(of_log(firm.id))
    assert socket.failures == []


async def test_bell_stops_following_after_the_role_is_removed(world: World, socket: Socket) -> None:
    firm = await Firm.found(world)
    viewer = await world.person(firm.id, Role.VIEWER)
    tab = await socket.tab(viewer.cookie, f"/o/{firm.id}/overview", org_id=str(firm.id))
    await tab.send(f"{BELL}.look", {})
    following = asyncio.create_task(tab.send(f"{BELL}.follow", {}))
    while not runtime.loop_part(Waiting).signals.get(of_log(firm.id)):  # noqa: ASYNC110 (no event tells when it waits)
        await asyncio.sleep(0.01)
    [member] = [one for one in (await firm.get("/members"))["members"] if one["user_id"] == str(viewer.user_id)]
    await firm.admin.call("DELETE", f"/orgs/{firm.id}/members/{member['id']}")
    await following
    assert "turn_rx_state_" not in await tab.send(f"{BELL}.follow", {})
    assert not runtime.loop_part(Waiting).signals.get(of_log(firm.id))
    assert socket.failures == []
