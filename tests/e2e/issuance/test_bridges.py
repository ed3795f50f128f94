"""Bridges: one is planned and sent, a path is paused and limited, a failed bridge is retried or returned."""

import re
import time
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from tests.e2e.conftest import Console, Signum

SEPOLIA, BASE = 40161, 40245
WHY = "The receiver will never be eligible"


def _asset(signum: Signum) -> Any:
    """An asset that has tokens on Sepolia and Base."""
    assets = signum.call("GET", "/orgs/{org}/assets", limit=100)["assets"]
    for found in assets:
        asset = signum.call("GET", f"/orgs/{{org}}/assets/{found['id']}")
        places = {d["chain_eid"] for d in asset["deployments"] if d["status"] == "active"}
        if {SEPOLIA, BASE} <= places:
            return asset
    asset = next(a for a in assets if a["status"] == "active")
    eid = signum.call("GET", f"/orgs/{{org}}/assets/{asset['id']}")["deployments"][0]["chain_eid"]
    body = {"destination_chain_eid": BASE if eid == SEPOLIA else SEPOLIA}
    _end(signum, signum.call("POST", f"/orgs/{{org}}/assets/{asset['id']}/bridge", body)["requestId"])
    return signum.call("GET", f"/orgs/{{org}}/assets/{asset['id']}")


def _end(signum: Signum, request_id: str) -> str:
    """Return how a request ends."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        status = signum.call("GET", f"/orgs/{{org}}/requests/{request_id}")["status"]
        if status in ("succeeded", "failed"):
            return str(status)
        time.sleep(0.2)
    raise AssertionError(f"the request {request_id} has not ended")


@pytest.mark.long
def test_new_bridge_is_sent_as_its_plan_shows(console: Console, signum: Signum) -> None:
    body = {"name": "Bridge Story Fund", "symbol": "BSF", "chain_eid": SEPOLIA, "max_holders": 9}
    made = signum.call("POST", "/orgs/{org}/assets", body | {"initial_supply": str(100 * 10**18)})
    assert _end(signum, made["requestId"]) == "succeeded"
    page = console.sign_in(path="bridges").heading("Bridges").page
    page.get_by_role("button", name="New bridge").click()
    dialog = page.get_by_role("dialog", name="New bridge")
    dialog.get_by_label("Asset").select_option(label="BSF, Bridge Story Fund")
    dialog.get_by_label("To", exact=True).select_option(label="Base Sepolia Devnet")
    dialog.get_by_label("Amount").fill("5.5")
    plan = dialog.get_by_role("region", name="Plan")
    expect(plan.get_by_text("Send one packet with the rules and 5.5 BSF")).to_be_visible()
    expect(plan.get_by_text("Deploy the token of BSF on Base Sepolia Devnet")).to_be_visible()
    expect(plan.get_by_text("The operator verifies and delivers packets between embedded chains.")).to_be_visible()
    limits = dialog.get_by_role("region", name="Limits by chain")
    expect(limits.get_by_text("9 holders")).to_be_visible()
    expect(limits.get_by_text("Maximum holders on Base Sepolia Devnet (new chain)")).to_be_visible()
    assert Axe().run(page).violations_count == 0
    dialog.get_by_role("button", name="Send bridge").click()
    expect(dialog.get_by_text("Confirm the changed limits first.")).to_be_visible()

    changed = signum.call("PATCH", f"/orgs/{{org}}/assets/{made['assetId']}", {"max_holders": 21})
    assert _end(signum, changed["requestId"]) == "succeeded"
    console.choose(limits.get_by_role("checkbox", name=re.compile("^Change the limits on Sepolia Devnet")))
    dialog.get_by_role("button", name="Send bridge").click()
    expect(dialog.get_by_role("alert").filter(has_text="The plan has changed.")).to_be_visible()
    expect(limits.get_by_text("21 holders")).to_be_visible()
    console.choose(limits.get_by_role("checkbox", name=re.compile("from 21 to 11 holders")))
    dialog.get_by_role("button", name="Send bridge").click()
    expect(dialog).to_be_hidden()
    drawer = page.get_by_role("complementary", name="Bridge of BSF")
    expect(drawer.get_by_text("Deliver the packet on Base Sepolia Devnet")).to_be_visible()
    expect(drawer.get_by_text("Done", exact=True)).to_be_visible(timeout=30_000)
    row = page.get_by_role("row").filter(has_text="BSF")
    expect(row).to_contain_text("5.5")


@pytest.mark.long
def test_failed_bridge_shows_its_reason_and_is_retried_after_the_attestation(console: Console, signum: Signum) -> None:
    asset = _asset(signum)
    chains = [d["chain_eid"] for d in asset["deployments"] if d["chain_eid"] in (SEPOLIA, BASE)]
    source = max(chains, key=lambda eid: int(_supply(asset, eid)))
    destination = next(eid for eid in chains if eid != source)
    receiver = signum.call("POST", "/orgs/{org}/wallets", {"label": "Late investor"})["address"]
    party = {"name": "Nora Lind", "country": "CHE", "wallet_address": receiver, "organization_id": signum.organization}
    known = signum.call("POST", "/identity/parties", party)
    signum.call("POST", f"/identity/parties/{known['id']}/verify", {"kyc_level": 3, "accredited": True})
    attested = signum.call("POST", "/orgs/{org}/attestations", {"party_id": known["id"], "chain_eid": source})
    assert _end(signum, attested["requestId"]) == "succeeded"
    body = {"source_chain_eid": source, "destination_chain_eid": destination, "amount": str(10 ** asset["decimals"])}
    bridge = signum.call("POST", f"/orgs/{{org}}/assets/{asset['id']}/bridge", body | {"to_address": receiver})
    assert _end(signum, bridge["requestId"]) == "failed"

    page = console.sign_in(path="bridges?status=failed").heading("Bridges").page
    row = page.get_by_role("row").filter(has_text="The receiver has no valid attestation.").first
    expect(row.get_by_role("button", name=re.compile("^Retry bridge of"))).to_be_visible()
    expect(row.get_by_role("link", name=re.compile("^Attest Nora Lind on "))).to_be_visible()
    row.get_by_role("button", name=re.compile("^Show the failed bridge of")).click()
    drawer = page.get_by_role("complementary", name=re.compile("^Bridge of"))
    expect(drawer.get_by_text("Nora Lind", exact=True)).to_be_visible()
    expect(drawer.get_by_role("button", name="Retry bridge")).to_be_visible()
    drawer.get_by_role("button", name=re.compile("^Attest Nora Lind on ")).click()
    dialog = page.get_by_role("dialog", name=re.compile("^Attest Nora Lind on "))
    expect(dialog.get_by_text("The receiver has no valid attestation.")).to_be_visible()
    assert Axe().run(page).violations_count == 0
    dialog.get_by_role("button", name="Attest and retry").click()
    expect(dialog).to_be_hidden(timeout=30_000)
    expect(page.get_by_role("status", name="Notices")).to_contain_text("Done: Bridge", timeout=30_000)
    shown = signum.call("GET", f"/orgs/{{org}}/bridges/{bridge['bridgeId']}")
    assert (shown["status"], shown["failure"]) == ("confirmed", None)


@pytest.mark.long
def test_bridge_path_is_paused_limited_and_resumed(console: Console, signum: Signum) -> None:
    asset = _asset(signum)
    page = console.sign_in(path=f"assets/{asset['id']}?tab=controls").page
    paths = page.get_by_role("list", name="Bridge paths")
    dialog = page.get_by_role("dialog")
    paths.get_by_role("button", name="Pause the path").first.click()
    expect(dialog.get_by_role("region", name="What it changes").get_by_text("Paused").first).to_be_visible()
    assert Axe().run(page).violations_count == 0
    dialog.get_by_label("Reason").fill("A verifier was broken into")
    dialog.get_by_role("button", name="Pause path").click()
    expect(paths.get_by_role("button", name="Resume the path").first).to_be_visible(timeout=30_000)
    paths.get_by_role("button", name="Resume the path").first.click()
    dialog.get_by_label("Reason").fill("The verifier was replaced")
    dialog.get_by_role("button", name="Resume path").click()
    expect(paths.get_by_role("button", name="Pause the path").first).to_be_visible(timeout=30_000)

    paths.get_by_role("button", name="Limit the path").first.click()
    dialog.get_by_label("Amount").fill("500")
    dialog.get_by_label("Reason").fill("At most this amount a day")
    dialog.get_by_role("button", name="Set limit").click()
    expect(paths.get_by_text(f"At most 500 {asset['symbol']} in a day").first).to_be_visible(timeout=30_000)
    paths.get_by_role("button", name="Limit the path").first.click()
    dialog.get_by_label("Reason").fill("The limit is not needed")
    dialog.get_by_role("button", name="Set limit").click()
    expect(paths.get_by_text("At most 500")).to_have_count(0, timeout=30_000)


@pytest.mark.long
def test_failed_bridge_is_returned_by_two_people(console: Console, signum: Signum) -> None:
    asset = _asset(signum)
    chains = [d["chain_eid"] for d in asset["deployments"] if d["chain_eid"] in (SEPOLIA, BASE)]
    source = max(chains, key=lambda eid: int(_supply(asset, eid)))
    destination = next(eid for eid in chains if eid != source)
    receiver = signum.call("POST", "/orgs/{org}/wallets", {"label": "Lost investor"})["address"]
    amount = 10 ** asset["decimals"]
    party = {"name": "Ivo Kamm", "country": "CHE", "wallet_address": receiver, "organization_id": signum.organization}
    known = signum.call("POST", "/identity/parties", party)
    signum.call("POST", f"/identity/parties/{known['id']}/verify", {"kyc_level": 3, "accredited": True})
    attested = signum.call("POST", "/orgs/{org}/attestations", {"party_id": known["id"], "chain_eid": source})
    assert _end(signum, attested["requestId"]) == "succeeded"
    body = {"source_chain_eid": source, "destination_chain_eid": destination, "amount": str(amount)}
    bridge = signum.call("POST", f"/orgs/{{org}}/assets/{asset['id']}/bridge", body | {"to_address": receiver})
    assert _end(signum, bridge["requestId"]) == "failed"
    second, membership = signum.second_admin()

    page = console.sign_in(path="bridges").heading("Bridges").page
    page.get_by_role("button", name="Show the failed bridge of").first.click()
    page.get_by_role("button", name="Return supply").click()
    dialog = page.get_by_role("dialog")
    what = dialog.get_by_role("region", name="What happens")
    expect(what.get_by_text("Clear the verified packet on")).to_be_visible()
    expect(what.get_by_text("This cannot be undone.")).to_be_visible()
    assert Axe().run(page).violations_count == 0
    dialog.get_by_label("Reason").fill(WHY)
    dialog.get_by_role("button", name="Request return").click()
    expect(page.get_by_text("Waiting for a second person.")).to_be_visible()

    approvals = signum.call("GET", "/orgs/{org}/approvals", status="pending")["approvals"]
    approval = next(a for a in approvals if a["action"] == "bridge.return")
    signum.call("POST", f"/orgs/{{org}}/approvals/{approval['id']}/approve", person=second)
    expect(page.get_by_text("Supply returned")).to_be_visible(timeout=30_000)
    expect(page.get_by_role("button", name="Return supply")).to_have_count(0)
    shown = signum.call("GET", f"/orgs/{{org}}/bridges/{bridge['bridgeId']}")
    assert (shown["status"], bool(shown["returned_at"])) == ("failed", True)
    signum.call("DELETE", f"/orgs/{{org}}/members/{membership}", person=second)


def _supply(asset: Any, eid: int) -> str:
    return next(str(d["supply"] or "0") for d in asset["deployments"] if d["chain_eid"] == eid)


def test_chains_page_shows_bridge_paths(console: Console, signum: Signum) -> None:
    page = console.sign_in(signum.person("viewer"), "chains").heading("Chains").page
    page.get_by_role("button", name="Sepolia Devnet", exact=True).click()
    path = page.get_by_role("region", name="Path to Base Sepolia Devnet")
    expect(path.get_by_text("The operator verifies and delivers packets between embedded chains.")).to_be_visible()
    assert Axe().run(page).violations_count == 0
