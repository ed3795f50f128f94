"""A compliance officer changes an asset's rules, and follows them to the chain."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import Console, Signum


def _asset(signum: Signum, symbol: str) -> str:
    assets = signum.call("GET", "/orgs/{org}/assets", limit=100)["assets"]
    return str(next(asset["id"] for asset in assets if asset["symbol"] == symbol))


def _save_bar(page: Page):
    return page.get_by_role("region", name="Unsaved changes")


def test_compliance_rules_are_saved_from_draft_to_transactions(console: Console, signum: Signum) -> None:
    asset = _asset(signum, "NIB31")
    before = signum.call("GET", f"/orgs/{{org}}/assets/{asset}")
    console.sign_in(signum.person("compliance_officer"), f"assets/{asset}?tab=compliance")
    page = console.page

    page.get_by_role("button", name="Add a country to block").click()
    page.get_by_role("combobox", name="Country to block").fill("belar")
    page.get_by_role("option", name="Belarus").click()
    page.keyboard.press("Escape")
    page.get_by_role("textbox", name="Maximum holders").fill("1,500")
    expect(_save_bar(page)).to_contain_text("2 unsaved changes")
    expect(_save_bar(page)).to_contain_text("No investor becomes ineligible")

    page.get_by_role("button", name="Review and save").click()
    review = page.get_by_role("dialog", name="Save these rules?")
    expect(review.get_by_text("1,500")).to_be_visible()
    expect(review.get_by_text(re.compile("BLR"))).to_be_visible()
    review.get_by_role("button", name="Save rules").click()

    progress = page.get_by_role("region", name="Progress")
    expect(progress.get_by_text("Done", exact=True)).to_be_visible(timeout=30_000)
    deployed = len(before["deployments"])
    expect(progress.get_by_role("button", name=re.compile("Copy transaction 0x"))).to_have_count(deployed)
    expect(_save_bar(page)).to_have_count(0)

    newest = page.get_by_role("region", name="History").get_by_role("listitem").first
    expect(newest).to_contain_text("BLR")
    expect(newest).to_contain_text("Maximum holders")
    expect(newest.get_by_role("link", name="Priya Shah")).to_be_visible()

    after = signum.call("GET", f"/orgs/{{org}}/assets/{asset}")
    assert after["max_holders"] == 1_500
    assert "BLR" in after["compliance_rules"]["blocked_countries"]
    assert after["status"] == "active"


def test_framework_preset_fills_in_editable_values(console: Console, signum: Signum) -> None:
    console.sign_in(path=f"assets/{_asset(signum, 'NREF')}?tab=compliance")
    page = console.page
    page.get_by_role("radio", name=re.compile("^Reg S")).click()
    chosen = page.get_by_role("list", name="Blocked countries")
    expect(chosen.get_by_text("United States (USA)", exact=True)).to_be_visible()
    expect(page.get_by_label("Lock-up ends")).not_to_have_value("")
    rules = page.get_by_role("region", name="Rules", exact=True)
    expect(rules.get_by_text(re.compile(r"^\d+ \w{3} \d{4}, 00:00 UTC$"))).to_be_visible()
    page.get_by_role("button", name="Unblock United States (USA)").click()
    expect(chosen.get_by_text("United States (USA)", exact=True)).to_have_count(0)

    page.get_by_role("button", name="What it enforces: Reg S").click()
    about = page.get_by_role("dialog", name="What Reg S enforces")
    expect(about.get_by_text("Left to you")).to_be_visible()
    page.keyboard.press("Escape")

    page.get_by_role("button", name="Discard").click()
    expect(_save_bar(page)).to_have_count(0)


def test_unreadable_rule_value_is_reported_at_its_field(console: Console, signum: Signum) -> None:
    console.sign_in(path=f"assets/{_asset(signum, 'NREF')}?tab=compliance")
    page = console.page
    most = page.get_by_role("textbox", name="Maximum per holder")
    most.fill("a lot")
    expect(most).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_text("Enter a number, such as 1250.5")).to_be_visible()
    expect(page.get_by_role("button", name="Review and save")).to_be_disabled()

    most.fill("0")
    issuers = page.get_by_role("list", name="Trusted issuers")
    picker = page.get_by_role("combobox", name="Add an issuer")
    picker.fill("Treasury")
    page.get_by_role("listbox", name="Accounts").get_by_role("option").filter(has_text="Treasury").click()
    expect(issuers.get_by_text("Treasury")).to_be_visible()
    expect(picker).to_have_value("")
    issuers.get_by_role("button", name="Remove Treasury").click()
    expect(issuers).to_have_count(0)


def test_rule_impact_lists_excluded_holders(console: Console, signum: Signum) -> None:
    console.sign_in(path=f"assets/{_asset(signum, 'NREF')}?tab=compliance")
    page = console.page
    page.get_by_role("group", name="Required KYC level").get_by_role("button", name="3").click()
    impact = page.get_by_role("region", name="Impact")
    expect(impact.get_by_text("Alder Family Office").first).to_be_visible()
    expect(impact.get_by_text(re.compile(r"According to .* at block [\d,]+"))).to_be_visible()
    number = impact.get_by_role("button", name=re.compile(r"^\d+ of \d+ investors becomes? ineligible$"))
    words = number.inner_text()
    expect(_save_bar(page)).to_contain_text(words)

    number.click()
    listed = page.get_by_role("dialog", name=words)
    expect(listed.get_by_role("listitem")).to_have_count(int(words.split()[0]))
    alder = listed.get_by_role("listitem").filter(has_text="Alder Family Office")
    expect(alder).to_contain_text("3 is required")
    expect(alder).to_contain_text("NREF on Sepolia Devnet")
    listed.get_by_role("button", name="Close").last.click()
    expect(listed).to_have_count(0)
    page.get_by_role("button", name="Review and save").click()
    review = page.get_by_role("dialog", name="Save these rules?")
    expect(review).to_contain_text(words)
    expect(review).to_contain_text("cannot receive more")
    expect(review).to_contain_text("can still send them, and sell them under the rules of each market")
    review.get_by_role("button", name="Cancel").click()
    page.get_by_role("button", name="Discard").click()


@pytest.mark.long
def test_share_of_a_limit_moves_to_another_chain(console: Console, signum: Signum) -> None:
    asset = _asset(signum, "NIB31")
    chains = signum.call("GET", f"/orgs/{{org}}/assets/{asset}/caps")["chains"]
    first, second = (chain["max_holders"] for chain in chains)
    console.sign_in(signum.person("compliance_officer"), f"assets/{asset}?tab=compliance")
    page = console.page
    limits = page.get_by_role("region", name="Limits by chain", exact=True)
    expect(limits.get_by_role("row", name="All chains")).to_contain_text(f"of {first + second:,}")

    limits.get_by_role("button", name="Move share").click()
    dialog = page.get_by_role("dialog", name="Move share")
    dialog.get_by_label("Holders to move").fill(str(first))
    expect(dialog.get_by_role("region", name="Limits after the move")).to_contain_text("no share")
    dialog.get_by_label("Holders to move").fill("10")
    after = dialog.get_by_role("region", name="Limits after the move")
    expect(after).to_contain_text(f"{second + 10:,} holders")
    dialog.get_by_label("Reason").fill("More holders are expected there")
    dialog.get_by_role("button", name="Move share").click()

    progress = page.get_by_role("region", name="Progress")
    expect(progress.get_by_text("Done", exact=True)).to_be_visible(timeout=30_000)
    expect(limits.get_by_text(f"of {second + 10:,}")).to_be_visible()
    expect(limits.get_by_text("A person set the shares.")).to_be_visible()
    newest = page.get_by_role("region", name="History").get_by_role("listitem").first
    expect(newest.get_by_role("link", name="Priya Shah")).to_be_visible()
    expect(newest).to_contain_text("Share the limits of NIB31")
    moved = signum.call("GET", f"/orgs/{{org}}/assets/{asset}/caps")["chains"]
    assert [chain["max_holders"] for chain in moved] == [first - 10, second + 10]
