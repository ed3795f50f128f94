"""What everybody can use: no finding of axe in any of these states, light, dark and on a phone."""

from collections.abc import Callable
from typing import Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.e2e.conftest import Console

Screen = tuple[str, Literal["light", "dark"], int]
SCREENS: list[Screen] = [("desk", "light", 1440), ("desk in the dark", "dark", 1440), ("phone", "light", 390)]


def _move(page: Page) -> None:
    page.get_by_role("tree").wait_for()
    page.get_by_role("treeitem", name="Private Credit").click()
    page.get_by_role("button", name="Move").click()
    page.get_by_role("combobox", name="Find the new parent").press_sequentially("Real Assets")
    page.get_by_role("option").filter(has=page.get_by_text("Real Assets", exact=True)).click()
    expect(page.get_by_role("dialog").get_by_role("table")).to_be_visible()


def _results(page: Page) -> None:
    page.get_by_label("Addresses to check").fill("a@mail.example broken@@mail.example " * 2)
    expect(page.get_by_role("row").nth(1)).to_be_visible()


def _key(page: Page) -> None:
    page.get_by_role("button", name="New key").first.click()
    page.get_by_label("wallets:write").click()
    expect(page.get_by_text("Writing does not include reading")).to_be_visible()


def _settle(page: Page) -> None:
    expect(page.get_by_role("status", name="Loading")).to_have_count(0)


STATES: list[tuple[str, Callable[[Page], None]]] = [
    ("overview", _settle), ("organizations", _settle), ("organizations", _move), ("members", _settle),
    ("eligibility", _settle), ("eligibility", _results), ("api-keys", _settle), ("api-keys", _key),
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
