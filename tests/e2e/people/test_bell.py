"""The bell: what waits for the user, live, until it is done."""

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import Console, Signum


@pytest.mark.long
def test_bell_counts_what_waits_until_it_is_done(console: Console, signum: Signum) -> None:
    fresh = signum.call("POST", "/orgs", {"name": "Bell Tower"})["id"]
    page = console.sign_in().goto("overview", fresh).heading("Overview").page
    bell = page.get_by_role("button", name="Notifications: ")
    expect(bell).to_have_accessible_name("Notifications: nothing waits")

    fields = {"organization_id": fresh, "kind": "company", "name": "Alder Holdings", "country": "NLD"}
    party = signum.call("POST", "/identity/parties", fields)["id"]
    waits = "1 party waits for identity review"
    expect(bell).to_have_accessible_name("Notifications: 1 waiting, 1 new")
    expect(page.get_by_role("region", name="Needs attention").get_by_role("link", name=waits)).to_be_visible()

    bell.click()
    entry = page.get_by_role("dialog", name="Notifications").get_by_role("listitem")
    expect(entry).to_contain_text("Alder Holdings")
    expect(entry).to_contain_text("New")
    page.keyboard.press("Escape")
    expect(bell).to_be_focused()
    expect(bell).to_have_accessible_name("Notifications: 1 waiting")
    console.goto("assets", fresh)
    expect(bell).to_have_accessible_name("Notifications: 1 waiting")

    bell.press("Enter")
    expect(entry).not_to_contain_text("New")
    entry.get_by_role("link", name=waits).click()
    page.wait_for_url(f"**/parties?id={party}*")
    expect(page.get_by_role("complementary", name="Alder Holdings")).to_be_visible()
    expect(entry).to_have_count(0)
    signum.call("POST", f"/identity/parties/{party}/verify", {"kyc_level": 1})
    expect(bell).to_have_accessible_name("Notifications: nothing waits")
