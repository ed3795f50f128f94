"""Everybody can use the officer's pages and the ground's: axe finds nothing, light, dark and on a phone."""

from collections.abc import Callable
from typing import Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.e2e.conftest import Console

Screen = tuple[str, Literal["light", "dark"], int]
SCREENS: list[Screen] = [("desk", "light", 1440), ("desk in the dark", "dark", 1440), ("phone", "light", 390)]


def _settle(page: Page) -> None:
    expect(page.get_by_role("status", name="Loading")).to_have_count(0)


def _open(page: Page) -> None:
    """Open the first case beside the list."""
    expect(page.get_by_role("table")).to_be_visible()
    page.keyboard.press("j")
    expect(page.get_by_role("complementary").get_by_role("heading", level=2)).not_to_have_count(0)
    _settle(page)


def _issue(page: Page) -> None:
    page.get_by_role("button", name="Issue attestation").click()
    page.get_by_role("option").filter(has_text="Kestrel").click()
    expect(page.get_by_role("dialog").get_by_label("Chain")).to_be_visible()


def _register(page: Page) -> None:
    page.get_by_role("button", name="Register party").click()
    expect(page.get_by_role("dialog").get_by_label("Country")).to_be_visible()


def _terms(page: Page) -> None:
    page.get_by_role("button", name="Change terms").click()
    expect(page.get_by_text("A key for this once.")).to_be_visible()


STATES: list[tuple[str, Callable[[Page], None]]] = [
    ("attestations", _settle), ("attestations?show=active", _open), ("attestations", _issue), ("parties", _open),
    ("parties", _register), ("issuer", _settle), ("issuer", _terms), ("wallets", _settle), ("chains", _open),
    ("requests", _open),
]  # fmt: skip


@pytest.mark.parametrize("screen", SCREENS, ids=[screen[0] for screen in SCREENS])
def test_axe_finds_nothing(console: Console, screen: Screen) -> None:
    _, theme, width = screen
    page = console.page
    page.emulate_media(color_scheme=theme, reduced_motion="reduce")
    page.set_viewport_size({"width": width, "height": 900})
    console.sign_in()
    for path, reach in STATES:
        console.goto(path)
        expect(page.get_by_role("heading", level=1)).to_be_attached()
        reach(page)
        found = Axe().run(page).response["violations"]
        assert [(v["id"], v["nodes"][0]["target"]) for v in found] == [], f"{path} {reach.__name__}"
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), f"{path} is too wide"
