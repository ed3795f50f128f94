"""An investor whose wallet the organization keeps: the organization pays them, or they claim with one click."""

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.e2e.accounts.test_factors import accessible
from tests.e2e.conftest import Console, Signum
from tests.e2e.investors.test_own_wallet import SEPOLIA, UNIT, settled

ORGANIZATION = "Northwind Capital Group"
KEPT = f"{ORGANIZATION} sends it to the wallet that it keeps for you."


def owed(signum: Signum, name: str, asset: str, units: int = 3) -> dict[str, Any]:
    """Return a new active distribution to the demo's investor, whose wallet the organization keeps."""
    wallets = signum.call("GET", "/orgs/{org}/wallets", limit=100)["wallets"]
    address = next(one["address"] for one in wallets if one["label"] == "James Okafor custody")
    path = f"/orgs/{{org}}/assets/{asset}/distributions"
    recipients = [{"address": address, "amount": str(units * UNIT)}]
    made = signum.call("POST", path, {"name": name, "chain_eid": SEPOLIA, "recipients": recipients})
    terms = {"chainEid": SEPOLIA, "merkleRoot": made["merkle_root"], "totalRecipients": 1}
    signum.call("POST", f"{path}/{made['id']}/activate", terms)
    settled(signum, signum.call("GET", f"{path}/{made['id']}")["request_id"])
    return made


def nref(signum: Signum) -> str:
    """Return the demo's asset that its investor holds."""
    assets = signum.call("GET", "/orgs/{org}/assets")["assets"]
    return str(next(asset["id"] for asset in assets if asset["symbol"] == "NREF"))


def test_investor_claims_to_a_kept_wallet_with_one_click(console: Console, signum: Signum) -> None:
    owed(signum, "Income for James", nref(signum))
    page = console.page
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{signum.url}/sign-in")
    console.hydrated().page.get_by_role("button", name=re.compile("James Okafor Investor")).click()
    console.heading("Your investments")
    row = page.get_by_role("region", name="Waiting for you").get_by_role("listitem").filter(has_text="Income for James")
    expect(row).to_contain_text(KEPT)
    expect(page.get_by_text("keep your wallet?")).to_have_count(0)
    contact = page.get_by_role("region", name="Eligibility").get_by_role("link", name=re.compile("@"))
    expect(contact).to_have_attribute("href", re.compile("^mailto:.+@"))
    accessible(console)
    row.get_by_role("button", name="Claim Income for James").click()
    expect(row).to_contain_text(f"Paid to your wallet, which {ORGANIZATION} keeps.", timeout=30_000)
    expect(row.get_by_text("Paid", exact=True)).to_be_visible()
    expect(row.get_by_role("button")).to_have_count(0)
    accessible(console)
    page.get_by_role("link", name="Trade").click()
    expect(page.get_by_text(f"{ORGANIZATION} keeps your wallet, and places orders for you.")).to_be_visible()
    expect(page.get_by_text(re.compile(r"Your wallet has [\d,.]+ NREF and [\d,.]+ tUSD available\."))).to_be_visible()
    expect(page.get_by_text("To trade yourself, link a wallet of your own.")).to_be_visible()
    expect(page.get_by_role("link", name="Link wallet")).to_be_visible()
    expect(page.get_by_role("link", name=re.compile("@"))).to_have_attribute("href", re.compile("^mailto:.+@"))
    page.get_by_role("link", name="Home").click()
    console.heading("Your investments")
    expect(page.get_by_text("Income for James")).to_have_count(0)


def test_investor_reads_the_trades_of_a_kept_wallet(console: Console, signum: Signum) -> None:
    asset, page = nref(signum), console.page
    markets = signum.call("GET", f"/orgs/{{org}}/assets/{asset}/markets")["markets"]
    market = next(one for one in markets if one["chain_eid"] == SEPOLIA and one["status"] == "active")
    wallets = signum.call("GET", "/orgs/{org}/wallets", limit=100)["wallets"]
    kept = next(one["id"] for one in wallets if one["label"] == "James Okafor custody")
    order = {"side": "sell", "price": str(101 * 10**6), "amount": str(UNIT), "wallet_id": kept}
    placed = signum.call("POST", f"/orgs/{{org}}/assets/{asset}/markets/{market['id']}/orders", order)
    settled(signum, placed["requestId"])
    page.goto(f"{signum.url}/sign-in")
    console.hydrated().page.get_by_role("button", name=re.compile("James Okafor Investor")).click()
    console.heading("Your investments")
    trade = page.get_by_role("region", name="Last trades").get_by_role("listitem").first
    expect(trade).to_contain_text(re.compile(r"Sold 1 NREF at 10\d(\.\d+)? tUSD"))
    expect(trade).to_contain_text(re.compile(r"Received \d+\.\d\d tUSD, fee included"))
    holdings = page.get_by_role("region", name="Holdings")
    expect(holdings.get_by_text("Northwind Real Estate Income Fund I")).to_be_visible()
    holdings.get_by_text("Details").click()
    expect(holdings.get_by_text(f"kept by {ORGANIZATION}, on Sepolia")).to_be_visible()
    eligibility = page.get_by_role("region", name="Eligibility")
    expect(eligibility.get_by_text("You have level 1; NREF needs level 1.")).to_be_visible()
    expect(page.get_by_text("…", exact=False)).to_have_count(page.locator(".hash").count())


def test_investor_reads_that_the_account_is_frozen(console: Console, signum: Signum) -> None:
    asset, page = nref(signum), console.page
    wallets = signum.call("GET", "/orgs/{org}/wallets", limit=100)["wallets"]
    address = next(one["address"] for one in wallets if one["label"] == "James Okafor custody")
    body = {"chain_eid": SEPOLIA, "address": address, "reason": "Court order"}
    settled(signum, signum.call("POST", f"/orgs/{{org}}/assets/{asset}/freeze", body)["requestId"])
    try:
        page.goto(f"{signum.url}/sign-in")
        console.hydrated().page.get_by_role("button", name=re.compile("James Okafor Investor")).click()
        console.heading("Your investments")
        holdings = page.get_by_role("region", name="Holdings")
        expect(holdings.get_by_text(f"Frozen. {ORGANIZATION} has frozen all your NREF.")).to_be_visible()
        eligibility = page.get_by_role("region", name="Eligibility")
        row = eligibility.get_by_role("listitem").filter(has_text="NREF")
        expect(row.get_by_text("Your holding is frozen.")).to_be_visible()
        expect(row.locator(".mark.warn")).to_be_visible()
        holdings.get_by_text("Details").click()
        expect(holdings.get_by_text("The whole account", exact=True)).to_be_visible()
        expect(page.get_by_text("115,792")).to_have_count(0)
        accessible(console)
        page.get_by_role("link", name="Trade").click()
        expect(page.get_by_text(re.compile(r"Your wallet has 0 NREF and .+ available\."))).to_be_visible()
        expect(page.get_by_text(f"Frozen. {ORGANIZATION} has frozen all your NREF.")).to_be_visible()
        accessible(console)
    finally:
        settled(signum, signum.call("POST", f"/orgs/{{org}}/assets/{asset}/unfreeze", body)["requestId"])


def test_organization_pays_a_recipient(console: Console, signum: Signum) -> None:
    asset = nref(signum)
    made = owed(signum, "Paid by us", asset)
    page = console.sign_in(path=f"distributions/{made['id']}?asset={asset}").heading("Paid by us").page
    listed = page.get_by_role("table", name="Recipients", exact=True)
    expect(listed.get_by_text("Can claim now")).to_be_visible()
    accessible(console)
    listed.get_by_role("button", name="Pay out to").click()
    expect(listed.get_by_text("Claimed", exact=True)).to_be_visible(timeout=30_000)
    expect(listed.get_by_role("button", name="Pay out to")).to_have_count(0)
    expect(page.get_by_text("1 of 1", exact=True)).to_be_visible()
    notices = page.get_by_role("status", name="Notices")
    expect(notices).to_contain_text("Done: Pay 3 NREF of Paid by us to James Okafor", timeout=30_000)
    expect(page.get_by_role("region", name="Progress").get_by_text("Done", exact=True)).to_be_visible()


@pytest.mark.long
def test_viewer_is_not_offered_to_pay_a_recipient(console: Console, signum: Signum) -> None:
    asset = nref(signum)
    made = owed(signum, "Not paid by a viewer", asset)
    viewer = signum.person("viewer")
    page = console.sign_in(viewer, f"distributions/{made['id']}?asset={asset}").heading("Not paid by a viewer").page
    listed = page.get_by_role("table", name="Recipients", exact=True)
    expect(listed.get_by_text("Can claim now")).to_be_visible()
    expect(listed.get_by_role("button", name="Pay out to")).to_have_count(0)
