"""A market on a chain without its token: bridged first, live, and correct after a reload."""

import re

from playwright.sync_api import expect

from tests.e2e.conftest import Console, Signum

CHAIN = "Base Sepolia"


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
    expect(page.get_by_text("0.25%, 25 bps")).to_be_visible()

    limits = page.get_by_role("region", name="Limits by chain")
    expect(limits.get_by_text(re.compile("Maximum holders on Sepolia"))).to_be_visible()
    expect(page.get_by_role("button", name="Deploy market")).to_be_disabled()
    console.choose(limits.get_by_role("checkbox", name=re.compile("^Change the limits on Sepolia")))
    page.get_by_role("button", name="Deploy market").click()
    page.wait_for_url(re.compile(r"/markets/[0-9a-f-]{36}"))
    progress = page.get_by_role("region", name="Progress")
    expect(progress.get_by_text("Bridge pending")).to_be_visible()
    page.reload()
    console.hydrated()
    page.get_by_role("tab", name="Deployment").click(timeout=60_000)  # an active market has it
    expect(progress.get_by_text("Done", exact=True)).to_be_visible()
    expect(page.get_by_text("The market is active.")).to_be_visible()
    for step in ("Bridge pending", "Bridge submitting", "Bridge confirmed", "Token created", "Market active"):
        expect(progress.get_by_role("listitem").filter(has_text=re.compile(f"{step}\\s*done"))).to_be_visible()
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
