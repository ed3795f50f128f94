"""The Holders tab: names of contracts, parts of a balance, shares that add up, and exact amounts."""

import re
import time

import pytest
from playwright.sync_api import Locator, expect

from tests.e2e.conftest import Console, Signum

EXACT = re.compile(r"([\d,]+\.\d{7,}) NREF")


def test_holders_are_named_and_shares_add_up(console: Console, signum: Signum) -> None:
    table = _holders(console, signum)
    expect(table.get_by_role("row").filter(has_text="Income in units")).to_contain_text("Distribution")
    shares = [float(text.rstrip("%")) for text in table.locator("td[data-label=Share]").all_inner_texts()]
    assert round(sum(shares), 2) == 100
    panel = console.page.get_by_role("region", name="Holders", exact=True)
    expect(panel).to_contain_text(re.compile(r"[\d,.]+\s*NREF in total"))
    panel.get_by_role("link", name="open orders").click()
    expect(console.page.get_by_role("table", name="Markets of this asset")).to_be_visible()


def test_amount_has_two_decimals_and_is_copied_exactly(console: Console, signum: Signum) -> None:
    console.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    holder = _holders(console, signum).get_by_role("row").filter(has_text="Kestrel Pension Trust")
    total = holder.locator("td[data-label=Total]").get_by_role("button")
    expect(total).to_have_text(re.compile(r"^[\d,]+\.\d{2}NREFCopy exact amount$"))
    found = EXACT.match(total.get_attribute("title") or "")
    assert found
    total.click()
    expect(total).to_contain_text("Copied")
    assert console.page.evaluate("navigator.clipboard.readText()") == found[1].replace(",", "")


@pytest.mark.long
def test_holders_are_frozen_and_unfrozen_together_by_keyboard(console: Console, signum: Signum) -> None:
    """Three rows are marked; the distribution among them is omitted. The others are frozen with one reason, each by a
    request of its own."""
    rows = _holders(console, signum).locator("tbody").get_by_role("row")
    page, keys = console.page, console.page.keyboard
    people = ("Kestrel Pension Trust", "Brightwater LP")
    for name in (*people, "Income in units"):
        console.choose(rows.filter(has_text=name).get_by_role("checkbox"))
    bar = page.get_by_role("toolbar", name="Actions on selected rows")
    expect(bar).to_contain_text("3 selected")
    expect(bar.get_by_role("button", name="Unfreeze")).to_be_disabled()
    bar.get_by_role("button", name="Freeze", exact=True).focus()
    keys.press("Enter")
    dialog = page.get_by_role("dialog", name="Freeze 2 holders")
    omitted = "Income in units, third quarter 2026 is not included: the treasury and contracts cannot be frozen."
    expect(dialog).to_contain_text(omitted)
    expect(dialog.get_by_role("listitem").filter(has_text=people[1])).to_have_text(
        re.compile(r"Brightwater LP, [\d,.]+ NREF on Sepolia Devnet")
    )
    keys.type("Sanctions list")
    keys.press("Tab")
    keys.press("Enter")
    expect(dialog).to_contain_text("Type NREF to confirm")
    keys.type("NREF")
    keys.press("Enter")
    results = page.get_by_role("dialog", name="Freezes").get_by_role("table", name="Results")
    for name in people:
        expect(results.get_by_role("row").filter(has_text=name)).to_contain_text("Accepted", timeout=30_000)
    keys.press("Escape")
    for name in people:
        _frozen(signum, name, wanted=True)
    page.reload()
    for name in people:
        row = rows.filter(has_text=name)
        expect(row.locator("td[data-label=Available]")).to_have_text("none", timeout=30_000)
        console.choose(row.get_by_role("checkbox"))
    bar.get_by_role("button", name="Unfreeze").click()
    dialog = page.get_by_role("dialog", name="Unfreeze 2 holders")
    dialog.get_by_label("Reason").fill("Cleared")
    dialog.get_by_label("Type NREF to confirm").fill("NREF")
    dialog.get_by_role("button", name="Unfreeze").click()
    for name in people:
        _frozen(signum, name, wanted=False)


def _frozen(signum: Signum, name: str, *, wanted: bool) -> None:
    """Wait until a holder's account is frozen, or is not."""
    assets = signum.call("GET", "/orgs/{org}/assets", limit=100)["assets"]
    asset = next(asset["id"] for asset in assets if asset["symbol"] == "NREF")
    deadline, is_frozen = time.monotonic() + 60, not wanted
    while is_frozen is not wanted:
        assert time.monotonic() < deadline, is_frozen
        found = signum.call("GET", f"/orgs/{{org}}/assets/{asset}/holders", limit=100)["holders"]
        is_frozen = next(one["frozen"] for one in found if one["name"] == name) not in (None, "0")


def _holders(console: Console, signum: Signum) -> Locator:
    assets = signum.call("GET", "/orgs/{org}/assets", limit=100)["assets"]
    asset = next(asset["id"] for asset in assets if asset["symbol"] == "NREF")
    table = console.sign_in(path=f"assets/{asset}?tab=holders").page.get_by_role("table", name="Holders")
    expect(table).to_contain_text("Alder Family Office")
    return table
