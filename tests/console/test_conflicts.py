"""Two people change one record in the console: the later change is refused and shows the current values; the next
attempt changes only what its user changed."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from backend.users.schemas import Role
from state.core.edits import CONFLICT, RELOADED
from state.organizations.move import CHANGED
from tests.auth.test_versions import active_asset
from tests.conftest import World
from tests.console.events import Socket, Tab, connected
from tests.support.firm import SEPOLIA, Firm

STATE = "reflex___state____state.state___"
TREE, DIALOG = (
    f"{STATE}organizations___{name}" for name in ("organization____organization_state", "form____organization_form")
)
MOVE = f"{STATE}organizations___move____move_state"
SETTINGS = f"{STATE}organizations___settings____"
WALLETS, WALLET = (f"{STATE}wallets___list____{name}" for name in ("wallets", "wallet_state"))
CASE, DECISION = f"{STATE}attestations___case____case", f"{STATE}parties___decision____decision"
ISSUE, CHECKLIST = f"{STATE}attestations___issue____issue", f"{STATE}attestations___checklist____checklist"
MEMBERS, ACT = (f"{STATE}members___list____{name}" for name in ("members_state", "member_act"))
ENDPOINT, FORM = f"{STATE}webhooks___detail____", f"{STATE}webhooks___form____endpoint_form"
PAGE, LIMITS = f"{STATE}assets___detail____asset_state", f"{STATE}controls___daily_limits____daily_limits"


@pytest_asyncio.fixture(scope="module")
async def socket(api: Any) -> AsyncIterator[Socket]:
    """The console's socket."""
    async with connected() as socket:
        yield socket


async def tab_of(firm: Firm, socket: Socket, page: str, **params: str) -> Tab:
    return await socket.tab(firm.admin.cookie, f"/o/{firm.id}/{page}", org_id=str(firm.id), **params)


async def test_organization_changed_in_the_meantime_is_not_overwritten(world: World, socket: Socket) -> None:
    firm = await Firm.found(world)
    await firm.patch("", {"description": "Funds", "website": "https://old.example"})
    tab = await tab_of(firm, socket, "organizations")
    await tab.send(f"{TREE}.load", {})
    await firm.patch("", {"website": "https://new.example"})
    form = {"name": "Acme", "description": "Bonds", "website": "https://new.example", "network": "testnet"}
    opened = await tab.send(f"{DIALOG}.edit", {})
    assert "https://new.example" in opened, "the dialog begins with the current values, not with those of the page"
    await firm.patch("", {"email": "desk@acme.example"})
    refused = await tab.send(f"{DIALOG}.submit", {"data": form})
    assert CONFLICT in refused
    assert "desk@acme.example" in refused, "the current value is shown"
    assert (await firm.get(""))["description"] == "Funds"
    await tab.send(f"{DIALOG}.submit", {"data": form})
    saved = await firm.get("")
    assert (saved["description"], saved["email"]) == ("Bonds", "desk@acme.example")
    assert socket.failures == []


async def test_settings_changed_in_the_meantime_are_not_overwritten(world: World, socket: Socket) -> None:
    firm = await Firm.found(world)
    tab = await tab_of(firm, socket, "settings")
    await tab.send(f"{SETTINGS}settings.load", {})
    await firm.patch("", {"member_requirements": {"seats": 40}})
    form = {"min_kyc_level": "2", "seats": "", "allowed_email_domains": "", "blocked_countries": ""}
    refused = await tab.send(f"{SETTINGS}requirements_form.submit", {"data": form})
    assert CONFLICT in refused
    assert '"Seats"' in refused
    assert (await firm.get(""))["member_requirements"]["min_kyc_level"] == 0
    await tab.send(f"{SETTINGS}requirements_form.submit", {"data": form})
    saved = (await firm.get(""))["member_requirements"]
    assert (saved["min_kyc_level"], saved["seats"]) == (2, 40)
    assert socket.failures == []


async def test_moved_organization_changed_after_the_preview_stays(world: World, socket: Socket) -> None:
    firm = await Firm.found(world, "Group")
    unit, target = [await world.organization(name, firm.id) for name in ("Unit", "Target")]
    tab = await tab_of(firm, socket, "organizations")
    await tab.send(f"{TREE}.choose", {"id": str(unit)})
    await tab.send(f"{MOVE}.show", {"is_open": True})
    await tab.send(f"{MOVE}.pick", {"id": str(target)})
    await firm.admin.call("PATCH", f"/orgs/{unit}", json={"network": "mainnet"})
    assert CHANGED in await tab.send(f"{MOVE}.submit", {})
    assert (await firm.admin.call("GET", f"/orgs/{unit}"))["parent_id"] == str(firm.id)
    await tab.send(f"{MOVE}.pick", {"id": str(target)})
    await tab.send(f"{MOVE}.submit", {})
    assert (await firm.admin.call("GET", f"/orgs/{unit}"))["parent_id"] == str(target)
    assert socket.failures == []


async def test_wallet_changed_in_the_meantime_does_not_become_the_default(world: World, socket: Socket) -> None:
    firm = await Firm.found(world)
    await firm.post("/wallets", {"label": "Treasury"})
    wallet = await firm.post("/wallets", {"label": "Reserve"})
    tab = await tab_of(firm, socket, "wallets")
    await tab.send(f"{WALLETS}.load", {})
    await tab.send(f"{WALLET}.show", {"wallet_id": wallet["id"]})
    await firm.patch(f"/wallets/{wallet['id']}", {"label": "Closed"})
    refused = await tab.send(f"{WALLET}.make_default", {})
    assert 'Its label is now \\"Closed\\" instead of \\"Reserve\\".' in refused
    assert not (await firm.get(f"/wallets/{wallet['id']}"))["is_default"]
    await tab.send(f"{WALLET}.make_default", {})
    assert (await firm.get(f"/wallets/{wallet['id']}"))["is_default"]
    assert socket.failures == []


async def test_party_changed_in_the_meantime_is_decided_again(world: World, socket: Socket) -> None:
    firm = await Firm.found(world)
    party = await firm.party()
    path = f"/identity/parties/{party['id']}"
    tab = await tab_of(firm, socket, "parties")
    await tab.send(f"{CASE}.to_party", {"party_id": party["id"]})
    await firm.admin.call("POST", f"{path}/verify", json={"kyc_level": 3})
    form = {"kyc_level": "1", "reason": "", "chain_eid": "", "expires_at": ""}
    refused = await tab.send(f"{DECISION}.verify", {"data": form})
    assert CONFLICT in refused
    assert '"KYC level"' in refused
    assert (await firm.admin.call("GET", path))["kyc_level"] == 3
    await tab.send(f"{DECISION}.verify", {"data": form})
    assert (await firm.admin.call("GET", path))["kyc_level"] == 1
    await firm.admin.call("PATCH", path, json={"name": "Martha Lindqvist"})
    assert "Martha Lindqvist" in await tab.send(f"{DECISION}.reject", {"data": {"reason": "Forged"}})
    assert (await firm.admin.call("GET", path))["status"] == "verified"
    await tab.send(f"{DECISION}.reject", {"data": {"reason": "Forged"}})
    assert (await firm.admin.call("GET", path))["status"] == "rejected"
    assert socket.failures == []


@pytest.mark.long
async def test_party_changed_in_the_meantime_is_decided_again_in_the_checklist(world: World, socket: Socket) -> None:
    firm = await Firm.found(world)
    await firm.enable(SEPOLIA)
    party = await firm.party("0x" + "12" * 20)
    path = f"/identity/parties/{party['id']}"
    tab = await tab_of(firm, socket, "parties")
    await tab.send(f"{ISSUE}.begin", {"party_id": party["id"]})
    form = {"chain_eid": str(SEPOLIA), "kyc_level": "1", "expires_at": ""}
    await tab.send_until(f"{ISSUE}.submit", {"data": form}, "Ready to attest")
    await tab.send_until(f"{CHECKLIST}.open_form", {"kind": "verify"}, 'opened_rx_state_": "verify"')
    await firm.admin.call("PATCH", path, json={"name": "Martha Lindqvist"})
    decision = {"kyc_level": "1", "reason": ""}
    assert "Martha Lindqvist" in await tab.send_until(f"{CHECKLIST}.verify", {"data": decision}, CONFLICT)
    assert (await firm.admin.call("GET", path))["kyc_level"] == 0
    await tab.send_until(f"{CHECKLIST}.verify", {"data": decision}, 'opened_rx_state_": ""')
    assert (await firm.admin.call("GET", path))["kyc_level"] == 1
    await tab.send(f"{CHECKLIST}.show", {"is_open": False})
    assert socket.failures == []


async def test_member_changed_in_the_meantime_keeps_the_role(world: World, socket: Socket) -> None:
    firm = await Firm.found(world)
    person = await world.person(firm.id, Role.VIEWER)
    (member,) = [m for m in (await firm.get("/members"))["members"] if m["user_id"] == str(person.user_id)]
    tab = await tab_of(firm, socket, "members")
    await tab.send(f"{MEMBERS}.load", {})
    await tab.send(f"{ACT}.change", {"id": member["id"]})
    await tab.send(f"{ACT}.pick", {"role": "member"})
    await firm.patch(f"/members/{member['id']}", {"role": "compliance_officer"})
    refused = await tab.send(f"{ACT}.submit", {"data": {}})
    assert CONFLICT in refused
    assert "compliance officer" in refused
    await tab.send(f"{ACT}.submit", {"data": {}})
    assert (await firm.get(f"/members/{member['id']}"))["role"] == "member"
    assert socket.failures == []


async def test_webhook_endpoint_changed_in_the_meantime_is_not_overwritten(world: World, socket: Socket) -> None:
    firm = await Firm.found(world)
    webhook = await firm.post("/webhooks", {"url": "https://a.example/hook", "event_types": ["market.active"]})
    path = f"/webhooks/{webhook['id']}"
    tab = await tab_of(firm, socket, f"webhooks/{webhook['id']}", webhook_id=webhook["id"])
    await tab.send(f"{ENDPOINT}webhook_state.load", {})
    await tab.send(f"{FORM}.edit", {"id": webhook["id"]})
    await firm.patch(path, {"url": "https://b.example/hook"})
    form = {"url": "https://a.example/hook", "description": "Ledger", "include_descendants": "on"}
    refused = await tab.send(f"{FORM}.submit", {"data": form})
    assert CONFLICT in refused
    assert "https://b.example/hook" in refused
    assert RELOADED in await tab.send(f"{ENDPOINT}disablement.confirm", {}), "the page showed the old endpoint"
    await tab.send(f"{FORM}.submit", {"data": form})
    saved = await firm.get(path)
    assert (saved["url"], saved["description"], saved["status"]) == ("https://b.example/hook", "Ledger", "enabled")
    await tab.send(f"{ENDPOINT}webhook_state.load", {})
    await tab.send(f"{ENDPOINT}disablement.confirm", {})
    assert (await firm.get(path))["status"] == "disabled"
    assert socket.failures == []


async def test_daily_limits_changed_in_the_meantime_are_not_overwritten(world: World, socket: Socket) -> None:
    firm = await Firm.found(world)
    path = await active_asset(firm)
    tab = await tab_of(firm, socket, path.partition(firm.base)[2].strip("/"), asset_id=path.rpartition("/")[2])
    await tab.send(f"{PAGE}.load", {})
    await tab.send(f"{LIMITS}.show", {"is_open": True})
    accepted = await firm.admin.call("PATCH", f"{path}/daily-limits", json={"burn": str(7 * 10**18)})
    await firm.settle(accepted["requestId"])
    form = {"mint": "5", "transfer": "", "burn": "", "forced_transfer": ""}
    refused = await tab.send(f"{LIMITS}.submit", {"data": form})
    assert CONFLICT in refused
    assert '"Burn"' in refused
    await tab.send(f"{LIMITS}.submit", {"data": form})
    await firm.settle((await firm.get("/requests"))["requests"][0]["id"])
    limits = {row["action"]: row["limit"] for row in (await firm.admin.call("GET", f"{path}/daily-limits"))["limits"]}
    assert (limits["mint"], limits["burn"]) == (str(5 * 10**18), str(7 * 10**18))
    assert socket.failures == []
