"""What a page shows is in its URL: a reload, Back and a link lead to the same view. Forms keep drafts."""

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.conftest import Console, Person, Signum

UNKNOWN = "00000000-0000-4000-8000-000000000000"


def colleague(console: Console, browser: Browser, person: Person) -> Page:
    """Return a page in which another person is signed in."""
    page = browser.new_context(reduced_motion="reduce").new_page()
    form = {"email": person.email, "password": person.password}
    signum = console.signum
    page.request.post(f"{signum.url}/session", form=form, headers={"origin": signum.url}, max_redirects=0)
    return page


@pytest.mark.long
def test_view_survives_a_reload_back_and_a_link_to_a_colleague(
    console: Console, signum: Signum, shared_browser: Browser
) -> None:
    page = console.sign_in(path="requests").page
    page.get_by_role("button", name="Done", exact=True).click()
    expect(page).to_have_url(re.compile(r"/requests\?status=succeeded$"))
    first = page.get_by_role("region", name="Requests, table").get_by_role("row").nth(1).get_by_role("button").first
    title = first.inner_text()
    first.click()
    expect(page).to_have_url(re.compile(r"status=succeeded&id=[0-9a-f-]{36}$"))
    drawer = page.get_by_role("complementary", name=title)
    expect(drawer.get_by_text("Details")).to_be_visible()
    address = page.url

    page.reload()
    console.hydrated()
    expect(drawer.get_by_text("Details")).to_be_visible()
    expect(page.get_by_role("button", name="Done", exact=True)).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("j")
    expect(page).not_to_have_url(address)
    page.go_back()
    expect(drawer).to_have_count(0)
    expect(page).to_have_url(re.compile(r"/requests\?status=succeeded$"))
    expect(page.get_by_role("button", name="Done", exact=True)).to_have_attribute("aria-pressed", "true")

    theirs = colleague(console, shared_browser, signum.person("viewer"))
    theirs.goto(address)
    expect(theirs.get_by_role("complementary", name=title).get_by_text("Details")).to_be_visible()
    expect(theirs.get_by_role("button", name="Done", exact=True)).to_have_attribute("aria-pressed", "true")
    theirs.goto(f"{address.rpartition('=')[0]}={UNKNOWN}")
    expect(theirs.get_by_role("alert").filter(has_text="no request")).to_be_visible()
    theirs.context.close()

    console.goto("members")
    page.get_by_role("searchbox", name="Find a member").fill("elin")
    expect(page).to_have_url(re.compile(r"\?q=elin$"))
    page.reload()
    console.hydrated()
    expect(page.get_by_role("searchbox", name="Find a member")).to_have_value("elin")
    page.get_by_role("tab", name="Invitations").click()
    expect(page).to_have_url(re.compile(r"\?q=elin&tab=invitations$|\?tab=invitations&q=elin$"))
    page.go_back()
    expect(page.get_by_role("tab", name="Members")).to_have_attribute("aria-selected", "true")

    page.get_by_role("navigation", name="Main").get_by_role("link", name="Requests").click()
    expect(page.get_by_role("button", name="All", exact=True)).to_have_attribute("aria-pressed", "true")
    expect(page).to_have_url(re.compile(r"/requests$"))


@pytest.mark.long
def test_draft_of_a_market_is_continued_after_a_reload_and_on_another_device(
    console: Console, signum: Signum, shared_browser: Browser
) -> None:
    assets = signum.call("GET", "/orgs/{org}/assets", limit=100)["assets"]
    asset = next(asset["id"] for asset in assets if asset["symbol"] == "NREF")
    page = console.sign_in(path=f"markets/new?asset={asset}").page
    page.get_by_role("radio", name=re.compile("Base Sepolia")).click()
    expect(page.get_by_role("radio", name=re.compile("Base Sepolia"))).to_be_checked()
    for _ in range(3):
        page.get_by_role("button", name="Continue").click()
    page.get_by_label("Taker fee").fill("45")
    page.get_by_label("Taker fee").blur()
    page.get_by_role("button", name="Back").click()
    expect(page).to_have_url(re.compile("step=3"))

    page.go_back()
    expect(page.get_by_label("Taker fee")).to_have_value("45")
    page.reload()
    console.hydrated()
    expect(page.get_by_label("Taker fee")).to_have_value("45")

    theirs = colleague(console, shared_browser, signum.person())
    theirs.goto(f"{signum.url}/o/{signum.organization}/markets/new")
    theirs.get_by_role("button", name="Resume draft").click()
    expect(theirs.get_by_role("group", name="Required KYC level")).to_be_visible()
    theirs.get_by_role("button", name="Continue", exact=True).click()
    expect(theirs.get_by_label("Taker fee")).to_have_value("45")
    theirs.goto(f"{signum.url}/o/{signum.organization}/markets/new")
    theirs.get_by_role("button", name="Start over").click()
    expect(theirs.get_by_role("region", name="Draft")).to_have_count(0)
    theirs.reload()
    expect(theirs.get_by_role("button", name="Continue")).to_be_visible()
    expect(theirs.get_by_role("region", name="Draft")).to_have_count(0)
    theirs.context.close()


def test_saved_view_shows_its_filters_and_order_again(console: Console, signum: Signum) -> None:
    page = console.sign_in(path="attestations?show=active").page
    menu = page.get_by_role("dialog", name="Your views")
    page.get_by_role("button", name="Views", exact=True).click()
    menu.get_by_label("Save this view as").fill("In force")
    menu.get_by_role("button", name="Save view").click()
    expect(menu.get_by_role("link", name="In force")).to_have_attribute("aria-current", "true")
    page.keyboard.press("Escape")

    page.get_by_role("navigation", name="Main").get_by_role("link", name="Attestations").click()
    expect(page.get_by_role("button", name=re.compile("^To decide"))).to_have_attribute("aria-pressed", "true")
    page.get_by_role("button", name="Views", exact=True).click()
    menu.get_by_role("link", name="In force").click()
    expect(page).to_have_url(re.compile(r"\?show=active$"))
    expect(page.get_by_role("button", name=re.compile("^Active"))).to_have_attribute("aria-pressed", "true")

    page.get_by_role("button", name="Views", exact=True).click()
    menu.get_by_role("button", name="Delete the view In force").click()
    expect(menu.get_by_role("link", name="In force")).to_have_count(0)
