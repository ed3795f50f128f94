"""What a person sets for themselves in the browser: the time zone of the console, and hidden cards."""

import re

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import Console, Signum

ZONE = re.compile("GMT.9")


@pytest.mark.long
def test_time_zone_of_the_account_is_that_of_every_time(console: Console, signum: Signum) -> None:
    page = console.sign_in(signum.person("viewer"), "account").heading("Account").page
    since = page.get_by_role("region", name="Sessions").locator("time").first
    expect(since).to_have_attribute("title", re.compile("UTC$"))
    box, preferences = page.get_by_role("combobox", name="Time zone"), page.get_by_role("region", name="Preferences")
    expect(box).to_have_value("UTC")
    box.fill("Mars/Olympus")
    preferences.get_by_role("button", name="Save").click()
    expect(preferences.get_by_role("alert")).to_contain_text("Is not a time zone")
    expect(box).to_have_value("Mars/Olympus")
    box.fill("Asia/Tokyo")
    preferences.get_by_role("button", name="Save").click()
    expect(since).to_have_attribute("title", ZONE)
    expect(since).to_have_attribute("title", re.compile(r"\(.* UTC\)$"))
    page.reload()
    expect(console.hydrated().page.get_by_role("combobox", name="Time zone")).to_have_value("Asia/Tokyo")
    expect(since).to_have_attribute("title", ZONE)
    page.get_by_role("checkbox", name="Daily summary by email").check()
    preferences.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Preferences saved").last).to_be_visible()
    page.reload()
    console.hydrated()
    expect(page.get_by_role("checkbox", name="Daily summary by email")).to_be_checked()
    console.goto("audit").heading("Audit log")
    expect(page.get_by_text("Asia/Tokyo", exact=True)).to_be_visible()
    console.goto("account").heading("Account")
    box.fill("")
    preferences.get_by_role("button", name="Save").click()
    expect(since).to_have_attribute("title", re.compile("[0-9] UTC$"))


@pytest.mark.long
def test_hidden_card_stays_hidden_until_it_is_shown_again(console: Console, signum: Signum) -> None:
    fresh = signum.call("POST", "/orgs", {"name": "Hidden Valley"})["id"]
    page = console.sign_in().goto("overview", fresh).heading("Overview").page
    card = page.get_by_role("region", name="Getting started")
    page.get_by_role("button", name="Hide getting started").click()
    expect(card).to_have_count(0)
    page.reload()
    expect(console.hydrated().heading("Overview").page.get_by_role("region", name="Needs attention")).to_be_visible()
    expect(card).to_have_count(0)
    console.goto("account", fresh)
    page.get_by_role("button", name="Show hidden cards").click()
    expect(page.get_by_role("button", name="Show hidden cards")).to_have_count(0)
    console.goto("overview", fresh)
    expect(card).to_be_visible()
