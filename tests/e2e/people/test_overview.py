"""The overview: real counts, and each waiting row leads to where it is resolved."""

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import Console, Signum


def test_overview_counts_equal_the_summary(console: Console, signum: Signum) -> None:
    summary = signum.call("GET", "/orgs/{org}/summary")
    page = console.sign_in(path="overview").heading("Overview").page
    for name, number in (("Members", summary["members"]["total"]), ("Assets", summary["assets"]["total"])):
        expect(page.get_by_role("main").get_by_role("link", name=name).first).to_contain_text(str(number))
    chains = page.get_by_role("region", name="Enabled chains").get_by_role("listitem")
    expect(chains).to_have_count(summary["enabled_chains"])


@pytest.mark.long
def test_overview_attention_items_link_to_their_resolution(console: Console) -> None:
    page = console.sign_in(path="overview").page
    box = page.get_by_role("region", name="Needs attention")
    box.get_by_role("button", name="Invitations").click()
    expect(box.get_by_role("listitem")).to_have_count(1)
    box.get_by_role("listitem").get_by_role("link", name="View").click()
    page.wait_for_url("**/members?tab=invitations")
    expect(page.get_by_role("tab", name="Invitations")).to_have_attribute("aria-selected", "true")

    console.goto("overview")
    box.get_by_role("button", name="Approvals").click()
    asked = box.get_by_role("listitem").filter(has_text="Forced transfer of 120 NREF")
    expect(asked).to_contain_text("Priya Shah requested this")
    asked.get_by_role("link", name="Decide").click()
    expect(page.get_by_role("button", name="Approve", exact=True)).to_be_visible()
    expect(page.locator("ins").first).to_contain_text(" NREF")


def test_overview_of_an_empty_organization_shows_nothing_to_do(console: Console, signum: Signum) -> None:
    fresh = signum.call("POST", "/orgs", {"name": "Fresh Start"})["id"]
    page = console.sign_in().goto("overview", fresh).page
    expect(page.get_by_text("Nothing needs attention")).to_be_visible()
    expect(page.get_by_text("Nothing has been sent to a chain yet")).to_be_visible()
