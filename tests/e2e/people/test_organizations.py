"""The hierarchy: find, open by keyboard, preview a move, move, undo it; and a tree of many."""

import re
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.conftest import Console, Signum


def _family(signum: Signum, name: str, levels: dict[str, list[str]]) -> dict[str, str]:
    """A hierarchy for this test: root, its children and grandchildren; name to id."""
    root = signum.call("POST", "/orgs", {"name": name})
    ids = {name: root["id"]}
    for child, below in levels.items():
        ids[child] = signum.call("POST", f"/orgs/{root['id']}/sub-orgs", {"name": child})["id"]
        for leaf in below:
            ids[leaf] = signum.call("POST", f"/orgs/{ids[child]}/sub-orgs", {"name": leaf})["id"]
    return ids


def _row(page: Page, name: str) -> Locator:
    return page.get_by_role("treeitem").filter(has=page.get_by_text(name, exact=True))


def _keys(tree: Locator, *keys: str) -> None:
    for key in keys:
        tree.press(key)


def test_organization_tree_is_navigated_by_keyboard(console: Console) -> None:
    page = console.sign_in(path="organizations").heading("Organizations").page
    tree = page.get_by_role("tree", name="Organizations")
    root = page.get_by_role("treeitem", level=1)
    expect(root).to_have_attribute("aria-expanded", "true")
    expect(_row(page, "Real Assets")).to_have_attribute("aria-level", "2")
    tree.focus()
    _keys(tree, "End", "ArrowUp")
    expect(_row(page, "Real Assets")).to_have_attribute("data-active", "true")
    _keys(tree, "ArrowRight", "ArrowRight")
    expect(_row(page, "Farmland and Timber")).to_have_attribute("data-active", "true")
    _keys(tree, "ArrowLeft", "ArrowLeft")
    expect(_row(page, "Real Assets")).to_have_attribute("aria-expanded", "false")
    tree.press("Home")
    expect(root).to_have_attribute("data-active", "true")
    tree.press_sequentially("priv")
    expect(_row(page, "Private Credit")).to_have_attribute("data-active", "true")
    tree.press("Enter")
    expect(page.get_by_role("heading", level=2, name="Private Credit")).to_be_visible()
    tree.press("Tab")
    expect(tree).not_to_be_focused()


@pytest.mark.long
def test_organization_is_moved_and_moved_back(console: Console, signum: Signum) -> None:
    ids = _family(signum, "Ardent Group", {"Ardent North": ["Harbor One", "Harbor Two"], "Ardent South": []})
    signum.call("POST", f"/orgs/{ids['Harbor One']}/sub-orgs", {"name": "Berth Seven"})
    console.sign_in().goto("organizations", ids["Ardent Group"]).heading("Organizations")
    page = console.page
    page.keyboard.press("/")
    page.keyboard.type("Harbor One")
    page.get_by_role("option", name="Harbor One").wait_for()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=2, name="Harbor One")).to_be_visible()
    expect(_row(page, "Harbor One")).to_have_attribute("aria-selected", "true")

    page.get_by_role("button", name="Move").click()
    dialog = page.get_by_role("dialog", name="Move Harbor One")
    expect(dialog.get_by_role("button", name="Move organization")).to_be_disabled()
    dialog.get_by_role("combobox").press_sequentially("Ardent")
    expect(dialog.get_by_role("option", name="Ardent North It is already here")).to_have_attribute(
        "aria-disabled", "true"
    )
    dialog.get_by_role("option", name="Ardent South").click()
    preview = dialog.get_by_role("table")
    expect(preview.get_by_role("row").nth(1)).to_contain_text("Ardent Group / Ardent South / Harbor One")
    expect(preview.get_by_role("row").nth(2)).to_contain_text("Berth Seven")
    expect(dialog).to_contain_text("No one gains or loses access")
    dialog.get_by_role("button", name="Move 2 organizations").click()
    expect(dialog).to_be_hidden()

    assert _parent(signum, ids["Harbor One"]) == ids["Ardent South"]
    expect(_row(page, "Harbor One")).to_have_attribute("aria-level", "3")
    said = page.get_by_role("status").filter(has_text="Harbor One was moved")
    expect(said).to_contain_text("From Ardent North to Ardent South")
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("status").filter(has_text="Harbor One is back")).to_be_visible()
    assert _parent(signum, ids["Harbor One"]) == ids["Ardent North"]


def _parent(signum: Signum, id: str) -> Any:
    return signum.call("GET", f"/orgs/{id}")["parent_id"]


def test_move_below_the_organization_itself_is_not_offered(console: Console, signum: Signum) -> None:
    ids = _family(signum, "Brook Group", {"Brook Upper": ["Brook Lower"]})
    console.sign_in().goto(f"organizations?id={ids['Brook Upper']}", ids["Brook Group"])
    page = console.page
    page.get_by_role("button", name="Move").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("combobox").press_sequentially("Brook")
    for name in ("Brook Upper This is the organization itself", "Brook Lower It is below Brook Upper"):
        expect(dialog.get_by_role("option", name=name)).to_have_attribute("aria-disabled", "true")
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()


def test_organization_is_created_and_edited(console: Console, signum: Signum) -> None:
    ids = _family(signum, "Cedar Group", {"Cedar Funds": []})
    console.sign_in().goto("organizations", ids["Cedar Group"]).heading("Organizations")
    page = console.page
    page.get_by_role("button", name="New organization").click()
    dialog = page.get_by_role("dialog", name="New organization")
    dialog.get_by_label("Name").fill("<img src=x onerror=alert(1)>")
    dialog.get_by_role("button", name="Create organization").click()
    expect(dialog.get_by_label("Name")).to_have_attribute("aria-invalid", "true")
    dialog.get_by_label("Name").fill("Cedar Loans")
    dialog.get_by_label("Jurisdiction").fill("LUX")
    dialog.get_by_role("button", name="Create organization").click()
    expect(dialog).to_be_hidden()
    expect(_row(page, "Cedar Loans")).to_have_attribute("aria-selected", "true")
    expect(page.get_by_text("Luxembourg (LUX)")).to_be_visible()

    page.get_by_role("button", name="Edit").click()
    dialog = page.get_by_role("dialog", name="Edit Cedar Loans")
    dialog.get_by_label("Website").fill("not a web address")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_label("Website")).to_have_attribute("aria-invalid", "true")
    dialog.get_by_label("Website").fill("https://cedar.example")
    dialog.get_by_label("Name").fill("Cedar Credit")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_be_hidden()
    expect(page.get_by_role("heading", level=2, name="Cedar Credit")).to_be_visible()
    expect(_row(page, "Cedar Credit")).to_be_visible()

    page.get_by_role("button", name="Undo").last.click()
    expect(page.get_by_text("Cedar Loans has its earlier values again")).to_be_visible()
    expect(_row(page, "Cedar Loans")).to_be_visible()
    expect(_row(page, "Cedar Credit")).to_have_count(0)
    page.get_by_role("button", name="Edit").click()
    expect(page.get_by_role("dialog", name="Edit Cedar Loans").get_by_label("Website")).to_have_value("")


@pytest.mark.long
def test_large_branch_is_loaded_by_page_and_rendered_by_window(console: Console, signum: Signum) -> None:
    root = signum.call("POST", "/orgs", {"name": "Many Group"})["id"]
    for number in range(130):
        signum.call("POST", f"/orgs/{root}/sub-orgs", {"name": f"Many {number:03}"})
    console.sign_in().goto("organizations", root).heading("Organizations")
    page = console.page
    tree, rows = page.get_by_role("tree"), page.get_by_role("treeitem")
    expect(_row(page, "Many 000")).to_be_visible()
    assert rows.count() <= 80
    tree.focus()
    tree.press("End")
    more = page.get_by_role("treeitem", name="Show 30 more of 30")
    expect(more).to_have_attribute("data-active", "true")
    tree.press("Enter")
    expect(_row(page, "Many 100")).to_have_attribute("data-active", "true")
    tree.press("End")
    expect(_row(page, "Many 129")).to_be_in_viewport()
    assert rows.count() <= 80
    tree.evaluate("tree => { tree.scrollTop = 0 }")
    expect(_row(page, "Many 000")).to_be_in_viewport()


def test_organization_on_a_phone_has_its_own_view(console: Console) -> None:
    console.page.set_viewport_size({"width": 390, "height": 844})
    page = console.sign_in(path="organizations").page
    expect(page.get_by_role("tree")).to_be_visible()
    expect(page.get_by_role("heading", level=2, name="Northwind Capital Group")).to_be_hidden()
    _row(page, "Private Credit").click()
    expect(page.get_by_role("heading", level=2, name="Private Credit")).to_be_visible()
    expect(page.get_by_role("tree")).to_be_hidden()
    page.get_by_role("button", name="All organizations").click()
    expect(page.get_by_role("tree")).to_be_visible()


def test_unknown_organization_is_reported(console: Console) -> None:
    console.sign_in().goto("organizations", "00000000-0000-7000-8000-000000000000")
    expect(console.page.get_by_role("alert")).to_contain_text("cannot be shown")
    expect(console.page.get_by_role("link", name=re.compile("Your organization"))).to_be_visible()
