"""A new asset: field errors are shown at the field, then it is deployed, checked and opened."""

import re

from playwright.sync_api import expect

from tests.e2e.conftest import Console, Signum


def test_asset_form_creates_an_asset_with_a_token(console: Console, signum: Signum) -> None:
    console.sign_in(path="assets/new")
    page = console.page
    page.get_by_role("button", name="Create asset").click()
    expect(page.get_by_text("Choose a chain").last).to_be_visible()
    expect(page.get_by_label("Chain")).to_have_attribute("aria-invalid", "true")

    page.get_by_label("Name").fill("Alpine Hydro Notes 2034")
    page.get_by_label("Symbol").fill("ahn34")
    chain = page.get_by_label("Chain").locator("option", has_text="HyperEVM")
    page.get_by_label("Chain").select_option(value=chain.first.get_attribute("value"))
    page.get_by_label("Initial supply").fill("1,250,000.5")
    page.get_by_role("radio", name=re.compile("^Reg D")).click()
    expect(page.get_by_role("switch", name="Accredited investors only")).to_be_checked()
    page.get_by_role("textbox", name="Maximum per holder").fill("25,000")
    page.get_by_role("button", name="Create asset").click()

    page.wait_for_url(re.compile(r"/assets/[0-9a-f-]{36}"))
    console.heading("Alpine Hydro Notes 2034")
    token = page.get_by_role("table", name="Tokens by chain").get_by_role("row").nth(1)
    expect(token.get_by_text("Active", exact=True)).to_be_visible(timeout=60_000)
    expect(token.get_by_text("1,250,000.5")).to_be_visible()
    expect(token.get_by_role("button", name=re.compile("Copy token address 0x"))).to_be_visible()
    rules = page.get_by_role("region", name="Rules")
    expect(rules.get_by_text("25,000 AHN34")).to_be_visible()


def test_assets_are_sorted_by_a_columns_heading(console: Console) -> None:
    page = console.sign_in(path="assets").heading("Assets").page
    table = page.get_by_role("table", name="Assets")
    name, created = table.get_by_role("columnheader", name="Name"), table.get_by_role("columnheader", name="Created")
    expect(created).to_have_attribute("aria-sort", "descending")
    expect(name).to_have_attribute("aria-sort", "none")
    expect(table.get_by_role("columnheader", name="Status").get_by_role("button")).to_have_count(0)

    name.get_by_role("button").focus()
    page.keyboard.press("Enter")
    expect(name).to_have_attribute("aria-sort", "ascending")
    expect(created).to_have_attribute("aria-sort", "none")
    expect(page).to_have_url(re.compile(r"\?sort=name&order=asc$"))
    names = [text.partition("\n")[0] for text in table.locator("tbody tr td:first-child").all_inner_texts()]
    assert len(names) > 1
    assert names == sorted(names)

    page.reload()
    expect(name).to_have_attribute("aria-sort", "ascending")
    page.keyboard.press("Escape")
    name.get_by_role("button").click()
    expect(name).to_have_attribute("aria-sort", "descending")
    expect(table.locator("tbody tr").first).to_contain_text(names[-1])


SEEN = """() => {
  window.seen = [];
  const look = () => {
    const tab = document.querySelector("[role=tab][aria-selected=true]")?.textContent ?? "";
    if (window.seen.at(-1) !== tab) window.seen.push(tab);
  };
  new MutationObserver(look).observe(document.body, { subtree: true, childList: true, attributes: true });
}"""
"""Record every tab that is shown as selected, and an empty text if no tab is."""


def test_asset_page_opened_again_starts_on_the_overview_tab(console: Console) -> None:
    page = console.sign_in(path="assets").heading("Assets").page
    page.get_by_role("link", name="Northwind Real Estate Income Fund I").click()
    page.get_by_role("tab", name="Controls").click()
    page.wait_for_url("**?tab=controls")
    page.evaluate(SEEN)
    page.get_by_role("link", name="Assets").first.click()
    console.heading("Assets")
    page.get_by_role("link", name="Northwind Real Estate Income Fund I").click()
    expect(page.get_by_role("tab", name="Overview")).to_have_attribute("aria-selected", "true")
    expect(page.get_by_role("region", name="Tokens", exact=True)).to_be_visible()
    seen = page.evaluate("() => window.seen")
    assert not any("Controls" in tab for tab in seen[seen.index("") :]), seen


def test_transfer_check_lists_every_rule(console: Console, signum: Signum) -> None:
    assets = signum.call("GET", "/orgs/{org}/assets", limit=100)["assets"]
    asset = next(asset["id"] for asset in assets if asset["symbol"] == "NIB31")
    wallets = signum.call("GET", "/orgs/{org}/wallets", limit=100)["wallets"]
    address = {wallet["label"]: wallet["address"] for wallet in wallets}
    console.sign_in(path=f"assets/{asset}?tab=check")
    page = console.page
    page.get_by_label("From").fill(address["Treasury"])
    page.get_by_label("To", exact=True).fill("0x12")
    page.get_by_label("Amount").fill("10")
    page.get_by_role("button", name="Check transfer", exact=True).click()
    expect(page.get_by_label("To", exact=True)).to_have_attribute("aria-invalid", "true")

    receiver, known = page.get_by_label("To", exact=True), address["Unverified broker"]
    receiver.fill(known)
    expect(page.get_by_text("Unverified broker", exact=True)).to_be_visible()
    letter = next(i for i, digit in enumerate(known) if digit.isalpha() and i > 1)
    receiver.fill(known[:letter] + known[letter].swapcase() + known[letter + 1 :])
    expect(page.get_by_text("Wrong checksum: check for a typo")).to_be_visible()
    page.get_by_role("button", name="Check transfer", exact=True).click()
    expect(page.get_by_text("Has a wrong EIP-55 checksum; check for a typo, or send it in lower case")).to_be_visible()

    receiver.fill(known)
    page.get_by_label("Amount").fill("0")
    page.get_by_role("button", name="Check transfer", exact=True).click()
    expect(page.get_by_text("Enter a number above 0")).to_be_visible()
    expect(page.get_by_text("Nothing checked yet")).to_be_visible()
    page.get_by_label("Amount").fill("10")
    page.get_by_role("button", name="Check transfer", exact=True).click()
    expect(page.get_by_text("This transfer is refused.")).to_be_visible()
    first = page.get_by_role("list", name="Rules").get_by_role("listitem").first
    expect(first).to_contain_text("no valid attestation")
    expect(first.get_by_role("link", name="Fix: Attestation")).to_be_visible()


def test_refused_bridge_shows_its_history_and_can_be_retried(console: Console) -> None:
    console.sign_in(path="bridges").heading("Bridges")
    page = console.page
    page.get_by_role("group", name="Status").get_by_role("button", name="Failed").click()
    page.get_by_role("button", name=re.compile("Show the failed bridge of NIB31")).click()
    story = page.get_by_role("complementary", name="Bridge of NIB31")
    expect(story.get_by_role("alert")).to_contain_text("no valid attestation")
    story.get_by_role("button", name="Retry bridge").click()
    toast = page.get_by_role("status", name="Notices").get_by_role("alert")
    expect(toast).to_contain_text("Failed: Bridge 1,000 NIB31", timeout=30_000)
    expect(toast).to_contain_text("no valid attestation")
    expect(story.get_by_role("alert")).to_contain_text("no valid attestation", timeout=30_000)
