"""Drawers, forms, wizard steps and dialogs: axe finds nothing, light, dark and on a phone, and none is too wide.

`test_walk.py` opens every page as each role.
"""

import re

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import Console
from tests.e2e.places import faults_on_every_screen, settled, show, violations
from tests.e2e.states import CASES, DIALOGS, ISSUANCE, ORGANIZATION, State, settle


@pytest.mark.long
@pytest.mark.nightly
@pytest.mark.parametrize("states", [ORGANIZATION, CASES, ISSUANCE], ids=["organization", "cases", "issuance"])
def test_states_of_pages_pass_axe(console: Console, states: list[State]) -> None:
    page, found = console.page, []
    console.sign_in()
    for path, reach in states:
        show(page)
        console.goto(path)
        expect(page.get_by_role("heading", level=1)).to_be_attached()
        reach(page)
        found += faults_on_every_screen(page, f"{path} {reach.__name__}")
    assert found == [], "\n".join(found)


@pytest.mark.long
def test_dialogs_pass_axe(console: Console, ids: dict[str, str]) -> None:
    page, found = console.page, []
    console.sign_in()
    for path, names in DIALOGS:
        for name in names:
            show(page)
            console.goto(path.format(**ids))
            settled(console)
            button = page.get_by_role("main").get_by_role("button", name=re.compile(f"^{name}$"))
            button.first.click()
            expect(page.get_by_role("dialog").get_by_role("heading").first).to_be_visible()
            settle(page)
            found += faults_on_every_screen(page, f"dialog {path} {name}")
    assert found == [], "\n".join(found)


@pytest.mark.long
def test_shell_passes_axe_where_it_opens(console: Console) -> None:
    page = console.sign_in(path="overview").heading("Overview").page
    found = []
    for name in ("Switch organization", "Requests", "Account: Elin Halvorsen"):
        show(page)
        page.get_by_role("button", name=name).first.click()
        expect(page.get_by_role("dialog")).to_be_visible()
        found += faults_on_every_screen(page, f"shell {name}")
        page.keyboard.press("Escape")
    for key in ("ControlOrMeta+k", "?"):
        show(page)
        page.keyboard.press(key)
        expect(page.get_by_role("dialog")).to_be_visible()
        found += faults_on_every_screen(page, f"shell {key}")
        page.keyboard.press("Escape")
    page.set_viewport_size({"width": 390, "height": 900})
    page.get_by_role("button", name="Navigation").click()
    expect(page.get_by_role("dialog", name="Navigation")).to_be_visible()
    found += violations(page)
    assert found == [], "\n".join(found)
