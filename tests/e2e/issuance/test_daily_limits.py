"""Daily limits: set on the asset's page, exceeded by a mint, raised with a second person."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, expect

from tests.e2e.conftest import Console, Signum


@pytest.mark.long
def test_mint_above_a_daily_limit_waits_and_shows_the_reason(
    console: Console, shared_browser: Browser, signum: Signum
) -> None:
    other, membership = signum.second_admin()
    assets = signum.call("GET", "/orgs/{org}/assets", limit=100)["assets"]
    asset = next(a["id"] for a in assets if a["symbol"] == "NREF")
    wallets = signum.call("GET", "/orgs/{org}/wallets", limit=100)["wallets"]
    treasury = next(w["address"] for w in wallets if w["label"] == "Treasury")
    page = console.sign_in(path=f"assets/{asset}?tab=controls").page
    limits = page.get_by_role("list", name="Daily limits")
    mint = limits.get_by_role("listitem").filter(has_text="Mint")
    expect(mint).to_contain_text("No limit")

    page.get_by_role("button", name="Edit limits").click()
    dialog = page.get_by_role("dialog", name="Daily limits")
    dialog.get_by_label("Mint, NREF").fill("many")
    dialog.get_by_role("button", name="Save limits").click()
    expect(dialog.get_by_text("Enter a number, such as 1250.5")).to_be_visible()
    dialog.get_by_label("Mint, NREF").fill("100")
    assert [v["id"] for v in Axe().run(page).response["violations"]] == []
    dialog.get_by_role("button", name="Save limits").click()
    expect(mint).to_contain_text("100 NREF left of 100 in 24 hours", timeout=30_000)

    page.get_by_role("button", name="Mint", exact=True).click()
    form = page.get_by_role("dialog")
    form.get_by_label("Receiver").fill(treasury)
    form.get_by_label("Amount").fill("150")
    expect(form.get_by_text("150 NREF exceeds the daily limit for minting")).to_be_visible()
    form.get_by_label("Reason").fill("Subscriptions of November")
    form.get_by_role("button", name="Request approval").click()
    expect(page.get_by_role("region", name="Progress").get_by_text("Waiting for a second person")).to_be_visible()

    page.get_by_role("button", name="Edit limits").click()
    dialog.get_by_label("Mint, NREF").fill("")
    dialog.get_by_role("button", name="Save limits").click()
    expect(dialog).to_have_count(0)
    expect(mint).to_contain_text("100 NREF left of 100 in 24 hours")

    context = shared_browser.new_context(viewport={"width": 390, "height": 844}, reduced_motion="reduce")
    second = Console(context.new_page(), signum)
    second.sign_in(other, "approvals").heading("Approvals")
    table = second.page.get_by_role("table", name="Approvals")
    table.get_by_role("button", name="Mint 150 NREF").click()
    expect(second.page.get_by_text("0 of 100 NREF were used in the last 24 hours.").first).to_be_visible()
    second.page.get_by_role("button", name="Deny").click()
    denial = second.page.get_by_role("dialog", name="Deny")
    denial.get_by_label("Reason").fill("Not agreed with the issuer")
    denial.get_by_role("button", name="Deny").click()
    expect(second.page.get_by_text("denied it: Not agreed")).to_be_visible()
    second.goto("approvals").heading("Approvals")
    table.get_by_role("button", name="Change the daily limits of NREF").click()
    second.page.get_by_role("button", name="Approve", exact=True).click()
    expect(second.page.get_by_text("approved it")).to_be_visible()
    assert second.errors == []
    context.close()
    page.reload()
    expect(mint).to_contain_text("No limit", timeout=30_000)
    signum.call("DELETE", f"/orgs/{{org}}/members/{membership}", person=other)
