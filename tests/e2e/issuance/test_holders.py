"""The Holders tab: names of contracts, parts of a balance, shares that add up, and exact amounts."""

import re

from playwright.sync_api import Locator, expect

from tests.e2e.conftest import Console, Signum

EXACT = re.compile(r"([\d,]+\.\d{7,}) NREF")


def test_holders_are_named_and_shares_add_up(console: Console, signum: Signum) -> None:
    table = _holders(console, signum)
    expect(table.get_by_role("row").filter(has_text="Income in units")).to_contain_text("Distribution")
    shares = [float(text.rstrip("%")) for text in table.locator("td[data-label=Share]").all_inner_texts()]
    assert round(sum(shares), 2) == 100
    panel = console.page.get_by_role("region", name="Holders", exact=True)
    expect(panel).to_contain_text(re.compile(r"100\.00% of [\d,.]+…?\s*NREF"))
    panel.get_by_role("link", name="open orders").click()
    expect(console.page.get_by_role("table", name="Markets of this asset")).to_be_visible()


def test_amount_has_six_decimals_and_is_copied_exactly(console: Console, signum: Signum) -> None:
    console.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    holder = _holders(console, signum).get_by_role("row").filter(has_text="Kestrel Pension Trust")
    total = holder.locator("td[data-label=Total]").get_by_role("button")
    expect(total).to_have_text(re.compile(r"^[\d,]+\.\d{6}…NREFCopy exact amount$"))
    found = EXACT.match(total.get_attribute("title") or "")
    assert found
    total.click()
    expect(total).to_contain_text("Copied")
    assert console.page.evaluate("navigator.clipboard.readText()") == found[1].replace(",", "")


def _holders(console: Console, signum: Signum) -> Locator:
    assets = signum.call("GET", "/orgs/{org}/assets", limit=100)["assets"]
    asset = next(asset["id"] for asset in assets if asset["symbol"] == "NREF")
    table = console.sign_in(path=f"assets/{asset}?tab=holders").page.get_by_role("table", name="Holders")
    expect(table).to_contain_text("Alder Family Office")
    return table
