"""Search from any page."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import Console, Signum


def look_for(page: Page, words: str) -> None:
    """Open the palette by its keys and type."""
    page.keyboard.press("Control+k")
    page.get_by_role("combobox", name="Search or jump to").fill(words)


@pytest.mark.long
def test_palette_finds_names_and_addresses(console: Console, signum: Signum) -> None:
    """A party by its name, an asset by its token's address, an organization anywhere. Choosing it goes there."""
    console.sign_in(path="overview")
    page = console.page
    look_for(page, "alder")
    expect(page.get_by_role("option", name=re.compile("Alder Family Office.*verified")).first).to_be_visible()
    page.get_by_role("option", name=re.compile("Alder Family Office.*verified")).first.click()
    page.wait_for_url("**/parties?id=*")
    expect(page.get_by_role("complementary", name="Alder Family Office")).to_be_visible()
    asset = next(a for a in signum.call("GET", "/orgs/{org}/assets")["assets"] if a["symbol"] == "NREF")
    look_for(page, asset["deployments"][0]["token_address"].lower())
    palette = page.get_by_role("dialog", name="Search or jump to")
    # Tokens on different chains may have the same address.
    palette.get_by_role("option", name=re.compile(asset["name"])).click()
    page.wait_for_url(f"**/assets/{asset['id']}")
    console.heading(asset["name"])
    look_for(page, "unmatched name")
    expect(page.get_by_text("Nothing of that name")).to_be_visible()
