"""Pages are printed without navigation and buttons, light, with the organization, title and time."""

import re

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import Console, Signum

CUT = """() => [...document.querySelectorAll("main table")].filter(table =>
    table.scrollWidth > table.parentElement.clientWidth + 1 || getComputedStyle(table).display !== "table").length"""
"""How many tables do not fit the page, or are not drawn as tables."""
PAPER = 700
"""Pixels between the margins of a page."""


@pytest.mark.long
@pytest.mark.parametrize("path", ["audit", "members", "assets/{asset}?tab=holders", "approvals"])
def test_page_is_printed_with_its_title_and_whole_tables(console: Console, signum: Signum, path: str) -> None:
    page = console.page
    page.emulate_media(color_scheme="dark")
    console.sign_in(path=path.format(**signum.records()))
    title = page.get_by_role("heading", level=1)
    expect(title).to_be_visible()
    expect(page.locator("main table").first).to_be_visible()
    expect(page.locator(".print-head")).to_be_hidden()
    page.set_viewport_size({"width": PAPER, "height": 1000})
    page.emulate_media(media="print", color_scheme="dark")
    expect(page.locator(".print-head")).to_contain_text("Northwind Capital Group")
    expect(page.locator(".print-head")).to_contain_text(re.compile(r"\d{4}, \d\d:\d\d:\d\d UTC"))
    expect(title).to_be_visible()
    for gone in ("banner", "navigation", "complementary"):
        expect(page.get_by_role(gone)).to_have_count(0)
    expect(page.locator(".btn:visible, .toolbar:visible")).to_have_count(0)
    expect(page.locator("body")).to_have_css("background-color", "rgb(255, 255, 255)")
    expect(page.locator("main td").first).to_have_css("color", "rgb(27, 31, 39)")
    expect(page.get_by_text("Protect your account.")).to_be_hidden()
    assert page.evaluate(CUT) == 0


@pytest.mark.long
def test_investor_page_is_printed_with_the_organization(console: Console, signum: Signum) -> None:
    page = console.sign_in_as_client(signum.person("client")).page
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    page.emulate_media(media="print")
    expect(page.locator(".print-head")).to_contain_text("Northwind Capital Group")
    expect(page.locator(".investor-places")).to_be_hidden()
