"""A toast offers to undo a reversible change; the change is undone once, and not if it has changed since."""

import re
from collections.abc import AsyncIterator
from typing import Any

import pytest_asyncio

from backend.users.schemas import Role
from tests.conftest import World
from tests.console.events import Socket, Tab, connected
from tests.console.test_conflicts import ACT, DIALOG, ENDPOINT, FORM, MEMBERS, SETTINGS, STATE, TREE, tab_of
from tests.support.firm import Firm

UNDO = f"{STATE}notifications___undo____undo"
VIEWS = f"{STATE}saved_views___views____saved_views"
MINE = f"{STATE}users___preferences____my_preferences"


@pytest_asyncio.fixture(scope="module")
async def socket(api: Any) -> AsyncIterator[Socket]:
    """The console's socket."""
    async with connected() as socket:
        yield socket


def offered(said: str) -> str:
    """Return the id of the newest toast that offers to undo a change."""
    return str(re.findall(r'"id": "([0-9a-f]{32})", [^{}]*"undo": "Undo"', said)[-1])


async def undo(tab: Tab, notice: str) -> str:
    return await tab.send(f"{UNDO}.run", {"notice_id": notice})


async def test_role_change_is_undone_once_and_not_if_it_changed_since(world: World, socket: Socket) -> None:
    firm = await Firm.found(world)
    await world.person(firm.id, Role.VIEWER)
    member = next(m for m in (await firm.get("/members"))["members"] if m["role"] == "viewer")

    async def role() -> str:
        return str((await firm.get(f"/members/{member['id']}"))["role"])

    tab = await tab_of(firm, socket, "members")
    await tab.send(f"{MEMBERS}.load", {})
    notices = []
    for new in ("member", "compliance_officer"):
        await tab.send(f"{ACT}.change", {"id": member["id"]})
        await tab.send(f"{ACT}.pick", {"role": new})
        notices.append(offered(await tab.send(f"{ACT}.submit", {"data": {}})))
        assert await role() == new
    assert "has changed since" in await undo(tab, notices[0])
    assert await role() == "compliance_officer"
    assert "has the earlier role again" in await undo(tab, notices[1])
    assert await role() == "member"
    await undo(tab, notices[1])
    assert await role() == "member"
    assert socket.failures == []


async def test_deleted_view_hidden_card_and_disabled_endpoint_come_back(world: World, socket: Socket) -> None:
    firm = await Firm.found(world)
    view = {"page": "members", "name": "Admins", "query": "role=admin"}
    saved = await firm.post("/saved-views", view)
    hook = await firm.post("/webhooks", {"url": "https://hooks.example/signum", "event_types": ["*"]})
    tab = await tab_of(firm, socket, f"webhooks/{hook['id']}", webhook_id=hook["id"])
    await tab.send(f"{ENDPOINT}webhook_state.enter", {})
    said = await tab.send(f"{ENDPOINT}disablement.confirm", {})
    assert (await firm.get(f"/webhooks/{hook['id']}"))["status"] == "disabled"
    await undo(tab, offered(said))
    assert (await firm.get(f"/webhooks/{hook['id']}"))["status"] == "enabled"

    tab = await tab_of(firm, socket, "members")
    said = await tab.send(f"{MINE}.hide", {"card": f"getting-started:{firm.id}"})
    await undo(tab, offered(said))
    assert (await firm.admin.call("GET", "/auth/preferences"))["hidden"] == []

    await tab.send(f"{VIEWS}.show", {"is_open": True})
    said = await tab.send(f"{VIEWS}.forget", {"view_id": saved["id"]})
    assert (await firm.get("/saved-views?page=members"))["saved_views"] == []
    await undo(tab, offered(said))
    (back,) = (await firm.get("/saved-views?page=members"))["saved_views"]
    assert {name: back[name] for name in view} == view
    assert socket.failures == []


async def test_renamed_organization_gets_its_earlier_name_unless_it_changed_since(world: World, socket: Socket) -> None:
    firm = await Firm.found(world, "Acme")
    await firm.patch("", {"description": "Funds"})
    tab = await tab_of(firm, socket, "organizations")
    await tab.send(f"{TREE}.load", {})
    await tab.send(f"{DIALOG}.edit", {})
    form = {"name": "Acme Funds", "description": "", "network": "testnet"}
    notice = offered(await tab.send(f"{DIALOG}.submit", {"data": form}))
    saved = await firm.get("")
    assert (saved["name"], saved["description"]) == ("Acme Funds", None)
    assert "Acme has its earlier values again" in await undo(tab, notice)
    saved = await firm.get("")
    assert (saved["name"], saved["description"]) == ("Acme", "Funds")

    tab = await tab_of(firm, socket, "settings")
    await tab.send(f"{SETTINGS}settings.load", {})
    form = {"name": "Acme Bonds", "network": "testnet"}
    notice = offered(await tab.send(f"{SETTINGS}profile_form.submit", {"data": form}))
    await firm.patch("", {"name": "Acme Notes"})
    assert "has changed since" in await undo(tab, notice)
    assert (await firm.get(""))["name"] == "Acme Notes"
    await tab.send(f"{SETTINGS}settings.load", {})
    said = await tab.send(f"{SETTINGS}profile_form.submit", {"data": {"name": "Acme", "network": "mainnet"}})
    assert "The organization is saved" in said
    assert '"undo": "Undo"' not in said.rpartition("The organization is saved")[2], "another network has effects"
    assert socket.failures == []


async def test_changed_description_of_an_endpoint_comes_back(world: World, socket: Socket) -> None:
    firm = await Firm.found(world)
    given = {"url": "https://hooks.example/signum", "event_types": ["*"], "description": "Ledger"}
    hook = await firm.post("/webhooks", given)
    tab = await tab_of(firm, socket, f"webhooks/{hook['id']}", webhook_id=hook["id"])
    await tab.send(f"{FORM}.edit", {"id": hook["id"]})
    notice = offered(await tab.send(f"{FORM}.submit", {"data": {"url": given["url"], "description": "Journal"}}))
    assert (await firm.get(f"/webhooks/{hook['id']}"))["description"] == "Journal"
    await undo(tab, notice)
    assert (await firm.get(f"/webhooks/{hook['id']}"))["description"] == "Ledger"
    await tab.send(f"{FORM}.edit", {"id": hook["id"]})
    said = await tab.send(f"{FORM}.submit", {"data": {"url": "https://hooks.example/2", "description": "New"}})
    assert "The endpoint is saved" in said
    assert '"undo": "Undo"' not in said.rpartition("The endpoint is saved")[2]
    assert socket.failures == []
