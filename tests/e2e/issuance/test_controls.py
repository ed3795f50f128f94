"""Controls: pause and unpause with a reason, the preview of a freeze, and a viewer without buttons."""

import time

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import Console, Signum

WHY = "Suspicion of a leaked key"


def _asset(signum: Signum, symbol: str) -> str:
    assets = signum.call("GET", "/orgs/{org}/assets", limit=100)["assets"]
    return str(next(asset["id"] for asset in assets if asset["symbol"] == symbol))


def _control(signum: Signum, asset: str, name: str) -> None:
    """Run it with the API, on every chain, until it has finished."""
    accepted = signum.call("POST", f"/orgs/{{org}}/assets/{asset}/{name}", json={"reason": WHY})
    deadline, status = time.monotonic() + 60, ""
    while status != "succeeded":
        assert time.monotonic() < deadline, status
        status = signum.call("GET", f"/orgs/{{org}}/requests/{accepted['requestId']}")["status"]


@pytest.mark.long
def test_token_is_paused_and_unpaused(console: Console, signum: Signum) -> None:
    console.sign_in(path=f"assets/{_asset(signum, 'NIB31')}?tab=controls")
    page = console.page
    movement = page.get_by_role("list", name="Transfers by chain")
    progress = page.get_by_role("region", name="Progress")
    movement.get_by_role("button", name="Pause on").first.click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text("Stops every transfer, trade, mint and burn")).to_be_visible()
    expect(dialog.get_by_role("region", name="What it changes").get_by_text("Paused")).to_be_visible()
    dialog.get_by_label("Reason").fill(WHY)
    dialog.get_by_label("Type NIB31 to confirm").fill("NIB")
    dialog.get_by_role("button", name="Pause token").click()
    expect(dialog.get_by_role("alert").get_by_text("Type NIB31 to confirm")).to_be_visible()
    dialog.get_by_label("Type NIB31 to confirm").fill("NIB31")
    dialog.get_by_role("button", name="Pause token").click()

    expect(progress.get_by_text("Done", exact=True)).to_be_visible(timeout=30_000)
    expect(progress.get_by_text(f"Reason: {WHY}")).to_be_visible()
    expect(movement.get_by_text("All transfers stopped").first).to_be_visible()
    movement.get_by_role("button", name="Unpause on").first.click()
    dialog.get_by_label("Reason").fill("The key was changed")
    dialog.get_by_role("button", name="Unpause").click()
    expect(progress.get_by_text("The token is unpaused.")).to_be_visible(timeout=30_000)
    expect(movement.get_by_text("All transfers stopped")).to_have_count(0)


def test_control_that_needs_a_second_person_says_so(console: Console, signum: Signum) -> None:
    page = console.sign_in(path=f"assets/{_asset(signum, 'NIB31')}?tab=controls").page
    dialog = page.get_by_role("dialog")
    limits = page.get_by_role("list", name="Daily limits").get_by_role("listitem")
    expect(limits.filter(has_text="Forced transfer")).to_contain_text("Always needs a second person")
    expect(limits.filter(has_text="Mint")).to_contain_text("No limit")
    page.get_by_role("button", name="Force transfer").click()
    expect(dialog.get_by_text("A second person must approve this.")).to_be_visible()
    expect(dialog.get_by_role("button", name="Request approval")).to_be_visible()
    dialog.get_by_role("button", name="Cancel").click()
    page.get_by_role("button", name="Burn", exact=True).click()
    expect(dialog.get_by_role("button", name="Burn tokens")).to_be_visible()
    expect(dialog.get_by_text("A second person must approve this.")).to_have_count(0)


def test_control_effect_is_previewed(console: Console, signum: Signum) -> None:
    wallets = signum.call("GET", "/orgs/{org}/wallets", limit=100)["wallets"]
    address = {wallet["label"]: wallet["address"] for wallet in wallets}
    console.sign_in(path=f"assets/{_asset(signum, 'NIB31')}?tab=controls")
    page = console.page
    page.get_by_role("button", name="Mint", exact=True).click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Receiver").fill(address["Unverified broker"])
    dialog.get_by_label("Amount").fill("10")
    refusals = dialog.get_by_role("list", name="Refusals").get_by_role("listitem")
    expect(refusals.first).to_contain_text("no valid attestation")
    dialog.get_by_label("Receiver").fill(address["Treasury"])
    changes = dialog.get_by_role("region", name="What it changes")
    expect(changes.get_by_text("Total supply")).to_be_visible()
    expect(refusals).to_have_count(0)


def test_invalid_amount_of_a_control_is_reported_when_its_field_is_left(console: Console, signum: Signum) -> None:
    page = console.sign_in(path=f"assets/{_asset(signum, 'NIB31')}?tab=controls").page
    page.get_by_role("button", name="Mint").click()
    amount = page.get_by_role("dialog").get_by_label("Amount")
    amount.fill("1e3")
    amount.press("Tab")
    expect(amount).to_have_attribute("aria-invalid", "true")
    amount.fill("1")
    expect(amount).to_have_attribute("aria-invalid", "false")


def test_viewer_has_no_controls(console: Console, signum: Signum) -> None:
    console.sign_in(signum.person("viewer"), f"assets/{_asset(signum, 'NIB31')}?tab=controls")
    expect(console.page.get_by_text("Read-only.")).to_be_visible()
    expect(console.page.get_by_role("button", name="Mint", exact=True)).to_have_count(0)


@pytest.mark.long
def test_pause_is_shown_on_the_market_until_unpause(console: Console, signum: Signum) -> None:
    asset = _asset(signum, "NREF")
    _control(signum, asset, "pause")
    try:
        console.sign_in(path="markets")
        row = console.page.get_by_role("row").filter(has_text="NREF").filter(has_text="Halted").first
        expect(row).to_contain_text("The token is paused on this chain.")
        row.get_by_role("link").first.click()
        expect(console.page.get_by_text("The market is halted.")).to_be_visible()
        expect(console.page.get_by_text("The token is paused on this chain.")).to_be_visible()
    finally:
        _control(signum, asset, "unpause")
    console.page.reload()
    expect(console.page.get_by_text("The market is halted.")).to_have_count(0)
