"""A viewer reads everything and changes nothing: pages offer no actions, and forms are disabled."""

import re

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import Console, Signum


@pytest.mark.parametrize(
    ("path", "title", "buttons"),
    [
        ("assets", "Assets", ["New asset"]),
        ("markets", "Markets", ["Deploy market"]),
    ],
)
def test_viewer_lists_have_no_write_buttons(
    console: Console, signum: Signum, path: str, title: str, buttons: list[str]
) -> None:
    console.sign_in(signum.person("viewer"), path).heading(title)
    expect(console.page.get_by_role("table", name=title)).to_be_visible()
    for name in buttons:
        expect(console.page.get_by_role("link", name=name)).to_have_count(0)


def test_viewer_overview_shows_no_actions(console: Console, signum: Signum) -> None:
    page = console.sign_in(signum.person("viewer"), "overview").heading("Overview").page
    expect(page.get_by_role("region", name="Needs attention").get_by_text("Nothing waits for you")).to_be_visible()
    expect(page.get_by_role("main").get_by_role("link", name="Invite people")).to_have_count(0)


def test_viewer_organizations_page_has_no_new_organization(console: Console, signum: Signum) -> None:
    page = console.sign_in(signum.person("viewer"), "organizations").heading("Organizations").page
    expect(page.get_by_role("treeitem").first).to_be_visible()
    expect(page.get_by_role("region", name="People with access", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="New organization")).to_have_count(0)


def test_viewer_reads_compliance_rules_but_cannot_save(console: Console, signum: Signum) -> None:
    assets = signum.call("GET", "/orgs/{org}/assets", limit=100)["assets"]
    asset = next(asset["id"] for asset in assets if asset["symbol"] == "NREF")
    console.sign_in(signum.person("viewer"), f"assets/{asset}?tab=compliance")
    page = console.page
    expect(page.get_by_text("Read-only.")).to_be_visible()
    rules = page.get_by_role("region", name="Rules", exact=True)
    for words in ("Required KYC level", "Level 1", "Maximum holders", "500 holders", "400,000 NREF"):
        expect(rules).to_contain_text(words)
    expect(rules.get_by_role("switch")).to_have_count(0)
    expect(rules.get_by_role("textbox")).to_have_count(0)
    expect(page.get_by_role("radio", name=re.compile("Reg D 506"))).to_be_disabled()
    page.get_by_role("button", name="What it enforces: Reg D 506(c)").click()
    expect(page.get_by_text("Enforced on chain").first).to_be_visible()
    expect(page.get_by_role("button", name="Review and save")).to_have_count(0)


def test_viewer_market_page_has_no_order_button(console: Console, signum: Signum) -> None:
    markets = signum.call("GET", "/orgs/{org}/markets", limit=100)["markets"]
    market = next(market for market in markets if market["status"] == "active")
    console.sign_in(signum.person("viewer"), f"markets/{market['id']}")
    expect(console.page.get_by_role("region", name="Depth")).to_be_visible()
    expect(console.page.get_by_role("button", name="Place order")).to_have_count(0)
    expect(console.page.get_by_role("button", name=re.compile("^Cancel the"))).to_have_count(0)


def test_viewer_reads_settings_as_text(console: Console, signum: Signum) -> None:
    page = console.sign_in(signum.person("viewer"), "settings").heading("Settings").page
    main = page.get_by_role("main")
    expect(main.get_by_role("definition").filter(has_text="Every address")).to_be_visible()
    policy = main.locator(".card").filter(has=page.get_by_role("heading", name="What needs a second person"))
    expect(policy.get_by_role("listitem").filter(has_text="Forced transfer")).to_be_visible()
    expect(policy.get_by_text("Mint", exact=True)).to_have_count(0)
    for role in ("textbox", "checkbox", "combobox"):
        expect(main.get_by_role(role)).to_have_count(0)
    expect(page.get_by_role("button", name="Add my address")).to_have_count(0)
