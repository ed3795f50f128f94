"""Search from any page."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.answers import Answers
from tests.e2e.conftest import Console, Signum


def look_for(page: Page, words: str) -> None:
    """Open the palette by its keys and type."""
    page.keyboard.press("Control+k")
    page.get_by_role("combobox", name="Search or jump to").fill(words)


def option(page: Page, words: str) -> Locator:
    """Return the palette's first option with these words."""
    return page.get_by_role("dialog", name="Search or jump to").get_by_role("option", name=re.compile(words)).first


@pytest.mark.long
def test_palette_finds_names_and_addresses(console: Console, signum: Signum) -> None:
    """A party by its name, an asset by its token's address, an organization anywhere. Choosing it goes there."""
    console.sign_in(path="overview")
    page = console.page
    look_for(page, "alder")
    expect(option(page, "Alder Family Office.*verified")).to_be_visible()
    option(page, "Alder Family Office.*verified").click()
    page.wait_for_url("**/parties?id=*")
    expect(page.get_by_role("complementary", name="Alder Family Office")).to_be_visible()
    asset = next(a for a in signum.call("GET", "/orgs/{org}/assets")["assets"] if a["symbol"] == "NREF")
    look_for(page, asset["deployments"][0]["token_address"].lower())
    # Tokens on different chains may have the same address.
    option(page, asset["name"]).click()
    page.wait_for_url(f"**/assets/{asset['id']}")
    console.heading(asset["name"])
    look_for(page, "unmatched name")
    expect(page.get_by_text("Nothing of that name")).to_be_visible()


def test_palette_opens_the_record_that_was_found(console: Console, signum: Signum) -> None:
    console.sign_in(path="overview")
    page = console.page
    transfer = next(t for t in signum.call("GET", "/orgs/{org}/transfers")["transfers"] if t["tx_hash"])
    look_for(page, transfer["tx_hash"])
    option(page, f"{transfer['asset_symbol']} to 0x.*{transfer['status']}").click()
    page.wait_for_url(f"**/transfers?id={transfer['id']}")
    expect(page.get_by_role("complementary", name=f" to {transfer['to_name']}")).to_be_visible()
    distribution = signum.call("GET", "/orgs/{org}/distributions")["distributions"][0]
    look_for(page, distribution["id"])
    option(page, distribution["name"]).click()
    page.wait_for_url(f"**/distributions/{distribution['id']}")
    console.heading(distribution["name"])
    look_for(page, "priya.shah")
    option(page, "Priya Shah compliance officer").click()
    page.wait_for_url("**/members?q=Priya%20Shah")
    expect(page.get_by_role("row").filter(has_text="Priya Shah")).to_be_visible()


def test_enter_before_the_results_waits_for_those_of_the_typed_text(console: Console) -> None:
    answers, page = Answers(console.page), console.page
    console.sign_in(path="overview").heading("Overview")
    look_for(page, "alder")
    expect(option(page, "Alder Family Office")).to_be_visible()
    field, results = page.get_by_role("combobox", name="Search or jump to"), page.get_by_role("listbox").first
    with answers.held():
        field.fill("kestrel")
        field.press("Enter")
        expect(results).to_have_attribute("aria-busy", "true")
        expect(option(page, "Alder Family Office")).to_have_attribute("data-old", "true")
    page.wait_for_url("**/parties?id=*")
    expect(page.get_by_role("complementary", name="Kestrel Pension Trust")).to_be_visible()


@pytest.mark.parametrize("next_key", ["r", "ArrowDown", "Escape"])
def test_enter_before_the_results_opens_nothing_after_another_key(console: Console, next_key: str) -> None:
    answers, page = Answers(console.page), console.page
    console.sign_in(path="overview").heading("Overview")
    look_for(page, "a")
    expect(option(page, "Alder Family Office")).to_be_visible()
    with answers.held():
        page.keyboard.type("lde")
        page.keyboard.press("Enter")
        page.keyboard.press(next_key)
    if next_key == "Escape":
        page.keyboard.press("Control+k")
    expect(page.get_by_role("listbox").first).not_to_have_attribute("aria-busy", "true")
    assert page.url.endswith("/overview")
    expect(page.get_by_role("dialog", name="Search or jump to")).to_be_visible()


def test_page_opens_before_the_results_of_the_server(console: Console) -> None:
    answers, page = Answers(console.page), console.page
    console.sign_in(path="overview").heading("Overview")
    with answers.held():
        look_for(page, "wallets")
        page.keyboard.press("Enter")
        page.wait_for_url("**/wallets")
    console.heading("Wallets")


def test_search_says_that_nothing_was_found_only_after_it(console: Console) -> None:
    answers, page = Answers(console.page), console.page
    console.sign_in(path="overview").heading("Overview")
    none = page.get_by_text("Nothing of that name")
    look_for(page, "unmatched name")
    expect(none).to_be_visible()
    height = none.bounding_box()
    field = page.get_by_role("combobox", name="Search or jump to")
    with answers.held():
        field.fill("another unmatched name")
        waiting = page.get_by_role("dialog", name="Search or jump to").get_by_text("Searching")
        expect(waiting).to_be_attached()
        expect(none).to_have_count(0)
        assert waiting.bounding_box() == height
    expect(none).to_be_visible()
    field.fill("alder")
    expect(option(page, "Alder Family Office")).to_be_visible()
    expect(none).to_have_count(0)


def test_palette_opens_without_the_earlier_text(console: Console) -> None:
    page = console.sign_in(path="overview").heading("Overview").page
    field, dialog = page.get_by_role("combobox", name="Search or jump to"), page.get_by_role("dialog")

    def again() -> None:
        expect(dialog).to_have_count(0)
        page.keyboard.press("Control+k")
        expect(field).to_be_focused()
        expect(field).to_have_value("")

    look_for(page, "Priya")
    page.keyboard.press("Escape")
    again()
    page.keyboard.type("fund")
    expect(field).to_have_value("fund")
    page.keyboard.press("Control+k")
    again()
    page.keyboard.type("fund")
    page.mouse.click(5, 5)
    again()
    page.keyboard.type("members")
    page.keyboard.press("Enter")
    console.heading("Members")
    again()


def test_palette_opens_requests_of_a_status_by_its_words(console: Console) -> None:
    page = console.sign_in(path="overview").heading("Overview").page
    for words, entry, status in (
        ("failed", "Requests, failed", "Failed"),
        ("waiting for approval", "Requests, needs approval", "Needs approval"),
        ("requests errors", "Requests, failed", "Failed"),
    ):
        page.keyboard.press("Control+k")
        expect(option(page, "^Requests")).to_be_visible()
        expect(option(page, entry)).to_have_count(0)
        page.get_by_role("combobox", name="Search or jump to").fill(words)
        expect(option(page, entry)).to_have_attribute("data-active", "true")
        page.keyboard.press("Enter")
        console.heading("Requests")
        pressed = page.get_by_role("group", name="Status").get_by_role("button", pressed=True)
        expect(pressed).to_have_text(status)
        page.wait_for_url(re.compile(r"/requests\?status=\w+$"))
        rows = page.get_by_role("table", name="Requests").locator("tbody").get_by_role("row")
        expect(rows.first).to_contain_text(status)


def test_palette_leads_to_actions_of_people_who_may_do_them_and_to_chains(console: Console, signum: Signum) -> None:
    """To a dialog from another page, and again on its page; to a page. A viewer finds chains, and no actions."""
    page = console.sign_in(path="overview").heading("Overview").page
    dialog = page.get_by_role("dialog", name="New transfer")
    page.keyboard.press("Control+k")
    expect(option(page, "^Transfers")).to_be_visible()
    expect(option(page, "New transfer")).to_have_count(0)
    page.keyboard.press("Escape")
    for _ in range(2):
        look_for(page, "new transfer")
        expect(option(page, "New transfer")).to_have_attribute("data-active", "true")
        page.keyboard.press("Enter")
        expect(dialog).to_be_visible()
        page.wait_for_url(re.compile("/transfers$"))
        page.keyboard.press("Escape")
        expect(dialog).to_have_count(0)
    page.reload()
    console.hydrated().heading("Transfers")
    expect(dialog).to_have_count(0)
    look_for(page, "new market")
    page.keyboard.press("Enter")
    page.wait_for_url("**/markets/new")
    page.context.clear_cookies()
    console.sign_in(signum.person("viewer"), "overview").heading("Overview")
    look_for(page, "new")
    expect(page.get_by_role("listbox").first).to_have_attribute("aria-busy", "false")
    expect(page.get_by_role("option", name=re.compile("^(New|Deploy|Issue|Register)"))).to_have_count(0)
    page.keyboard.press("Escape")
    look_for(page, "sepolia base")
    option(page, "^Base Sepolia").click()
    page.wait_for_url("**/chains?id=*")
    expect(page.get_by_role("complementary", name=re.compile("Base Sepolia"))).to_be_visible()
