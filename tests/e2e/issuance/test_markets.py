"""A market on a chain without its token: bridged first, live, and correct after a reload."""

import re
import time

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import Console, Signum

CHAIN = "Base Sepolia"
HYPEREVM = 40362
SEPOLIA = 40161
WALLET = "0xde709f2102306220921060314715629080e2fb77"


def _market(signum: Signum, url: str) -> dict[str, object]:
    found = re.search(r"/markets/([0-9a-f-]{36})", url)
    assert found is not None
    markets = signum.call("GET", "/orgs/{org}/markets", limit=100)["markets"]
    return next(market for market in markets if market["id"] == found.group(1))


def test_market_wizard_survives_a_reload_and_deploys_an_active_market(console: Console, signum: Signum) -> None:
    assets = signum.call("GET", "/orgs/{org}/assets", limit=100)["assets"]
    asset = next(asset["id"] for asset in assets if asset["symbol"] == "NREF")
    console.sign_in(path=f"markets/new?asset={asset}")
    page = console.page

    page.get_by_role("radio", name=re.compile(CHAIN)).click()
    expect(page.get_by_role("radio", name=re.compile(CHAIN))).to_be_checked()
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_text(re.compile("is bridged first"))).to_be_visible()
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("group", name="Required KYC level").get_by_role("button", name="2").click()
    page.get_by_role("button", name="Continue").click()

    page.get_by_label("Taker fee").fill("20000")
    page.get_by_role("button", name="Review").click()
    expect(page.get_by_text("Enter basis points from 0 to 10,000")).to_be_visible()
    page.get_by_label("Taker fee").fill("25")
    page.get_by_role("button", name="Review").click()
    expect(page.get_by_role("region", name="Steps of the plan").get_by_role("row")).to_have_count(7)
    expect(page.get_by_text("0.25%", exact=True)).to_be_visible()
    rules = page.get_by_role("region", name="Rules", exact=True)
    expect(
        rules.get_by_text(re.compile(r"^The token's own limit on this chain is stricter: \d+ holders\.$"))
    ).to_be_visible()

    limits = page.get_by_role("region", name="Limits by chain")
    expect(limits.get_by_text(re.compile("Maximum holders on Sepolia"))).to_be_visible()
    expect(page.get_by_text("Needs confirmation", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="Deploy market")).to_be_disabled()
    console.choose(limits.get_by_role("checkbox", name=re.compile("^Change the limits on Sepolia")))
    page.get_by_role("button", name="Deploy market").click()
    page.wait_for_url(re.compile(r"/markets/[0-9a-f-]{36}"))
    progress = page.get_by_role("region", name="Progress")
    expect(progress.get_by_text(re.compile("Prepare the token on"))).to_be_visible()
    page.reload()
    console.hydrated()
    page.get_by_role("tab", name="Deployment").click(timeout=60_000)  # an active market has it
    expect(progress.get_by_text("Done", exact=True)).to_be_visible()
    expect(page.get_by_text("The market is active.")).to_be_visible()
    for step in (
        "Prepare the token on",
        "Send the packet from",
        "Deliver the packet on",
        "Verify the token",
        "Open for trading",
    ):
        expect(progress.get_by_role("listitem").filter(has_text=re.compile(f"{step}.*done"))).to_be_visible()
    expect(progress.get_by_role("button", name=re.compile("Copy transaction 0x"))).to_have_count(6)

    market = _market(signum, page.url)
    assert market["status"] == "active"
    assert (market["taker_fee_bps"], market["min_kyc_level"]) == (25, 2)

    console.goto(f"assets/{asset}?tab=compliance")
    changed = page.get_by_role("region", name="History").get_by_role("listitem").filter(has_text="Sepolia Devnet")
    admin = signum.call("GET", "/auth/me")["user"]["display_name"]
    expect(changed.first.get_by_role("link", name=admin)).to_be_visible()
    expect(changed.first).to_contain_text("Deploy a market for NREF")


def test_token_address_of_another_asset_is_reported_at_its_field(console: Console, signum: Signum) -> None:
    assets = signum.call("GET", "/orgs/{org}/assets", limit=100)["assets"]
    asset = next(asset["id"] for asset in assets if asset["symbol"] == "NHLT")
    console.sign_in(path=f"markets/new?asset={asset}")
    page = console.page
    page.get_by_role("radio", name=re.compile(CHAIN)).click()
    expect(page.get_by_role("radio", name=re.compile(CHAIN))).to_be_checked()
    page.get_by_role("button", name="Continue").click()
    page.get_by_label("Token address").fill("0x" + "11" * 20)
    for _ in range(2):
        page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Review").click()
    expect(page.get_by_label("Token address")).to_be_visible()
    expect(page.get_by_role("alert")).to_contain_text("not the asset's token")


@pytest.mark.long
def test_market_review_attests_investors_and_returns_to_the_plan(console: Console, signum: Signum) -> None:
    assets = signum.call("GET", "/orgs/{org}/assets", limit=100)["assets"]
    asset = next(asset["id"] for asset in assets if asset["symbol"] == "NREF")
    console.sign_in(path=f"markets/new?asset={asset}")
    page = console.page
    page.get_by_role("radio", name=re.compile("HyperEVM")).click()
    for _ in range(3):
        page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Review").click()
    no_buyer = page.get_by_text(
        re.compile(
            r"^None of the [0-9]+ parties with a wallet has the attestation that these rules require on HyperEVM"
        )
    )
    expect(no_buyer).to_be_visible()
    page.get_by_role("button", name=re.compile(r"^Attest [0-9]+ investors on HyperEVM")).click()
    expect(page.get_by_text(re.compile(r"[0-9]+ part(y|ies) can trade under these rules"))).to_be_visible(
        timeout=60_000
    )
    expect(no_buyer).to_have_count(0)
    expect(page.get_by_role("button", name="Deploy market")).to_be_visible()

    _revoke(signum, HYPEREVM)


@pytest.mark.long
def test_market_wizard_enables_the_chain_and_registers_the_issuer_in_place(console: Console, signum: Signum) -> None:
    """An organization without an issuer, on one chain: the wizard does what is missing, and continues."""
    fresh = signum.call("POST", "/orgs", {"name": "Open Field"})["id"]
    org = f"/orgs/{fresh}"
    chains = {one["xchain_eid"]: one for one in signum.call("GET", f"{org}/chains")["chains"]}
    signum.call("POST", f"{org}/chains/{chains[SEPOLIA]['id']}/enable")
    signum.call("POST", f"{org}/wallets", {"label": "Treasury"})
    asset = {"name": "Open Field Notes", "symbol": "OFN", "chain_eid": SEPOLIA, "initial_supply": "1000"}
    made = signum.call("POST", f"{org}/assets", asset)
    _succeeded(signum, f"{org}/requests/{made['requestId']}")
    person = {"organization_id": fresh, "name": "Ada Berg", "country": "SWE", "wallet_address": WALLET}
    party = signum.call("POST", "/identity/parties", person)
    signum.call("POST", f"/identity/parties/{party['id']}/verify", {"kyc_level": 2})

    page = console.sign_in().goto("markets/new", fresh).heading("New market for OFN").page
    expect(page.get_by_role("radio", name=re.compile("HyperEVM"))).to_have_count(0)
    others = page.get_by_role("region", name="Chains that are not enabled")
    others.get_by_role("button", name="Enable HyperEVM").click()
    expect(page.get_by_role("radio", name=re.compile("HyperEVM"))).to_be_checked()
    for _ in range(3):
        page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Review").click()
    expect(page.get_by_text("No issuer on HyperEVM")).to_be_visible(timeout=30_000)
    register = page.get_by_role("button", name="Register as issuer and attest 1")
    register.click()
    expect(page.get_by_text("The console creates the key only with your consent")).to_be_visible()
    page.get_by_label("I agree to a one-time API key").check()
    register.click()
    expect(page.get_by_text("1 party can trade under these rules")).to_be_visible(timeout=60_000)

    # The chain is disabled elsewhere while the plan is shown.
    signum.call("POST", f"{org}/chains/{chains[HYPEREVM]['id']}/disable")
    page.get_by_role("button", name="Back").click()
    page.get_by_role("button", name="Review").click()
    page.get_by_role("button", name=re.compile("^Enable HyperEVM")).click()
    expect(page.get_by_text("1 party can trade under these rules")).to_be_visible(timeout=30_000)


def _succeeded(signum: Signum, path: str) -> None:
    """Wait until a request has succeeded."""
    deadline, status = time.monotonic() + 60, ""
    while status != "succeeded":
        assert time.monotonic() < deadline, status
        status = signum.call("GET", path)["status"]
        time.sleep(0.1)


def _revoke(signum: Signum, eid: int) -> None:
    """Revoke the attestations of a chain: other tests expect one active attestation of each investor."""
    active = signum.call("GET", "/orgs/{org}/attestations", status="active", limit=100)["attestations"]
    for one in (one for one in active if one["chain_eid"] == eid):
        path, body = f"/orgs/{{org}}/attestations/{one['id']}/revoke", {"reason": "End of the test."}
        request = signum.call("POST", path, body)["requestId"]
        deadline, status = time.monotonic() + 60, ""
        while status != "succeeded":
            assert time.monotonic() < deadline, status
            status = signum.call("GET", f"/orgs/{{org}}/requests/{request}")["status"]
