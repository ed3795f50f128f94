"""The shell of every page: its buttons' names, the palette, and forms' own messages."""

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from tests.e2e.conftest import Console

NAMES = {"runOnly": ["label-content-name-mismatch"], "rules": {"label-content-name-mismatch": {"enabled": True}}}


def test_shell_button_names_contain_their_visible_text(console: Console) -> None:
    page = console.sign_in(path="overview").heading("Overview").page
    for width in (1440, 390):
        page.set_viewport_size({"width": width, "height": 900})
        found = Axe().run(page, options=NAMES).response["violations"]
        assert [node["target"] for rule in found for node in rule["nodes"]] == []
    page.set_viewport_size({"width": 1440, "height": 900})
    expect(page.get_by_role("button", name="Switch organization")).to_have_accessible_name(
        "Northwind Capital Group admin . Switch organization"
    )
    expect(page.get_by_role("button", name="Account: Elin Halvorsen")).to_be_visible()


def test_palette_tells_which_option_is_active(console: Console) -> None:
    page = console.sign_in(path="overview").heading("Overview").page
    page.keyboard.press("ControlOrMeta+k")
    field = page.get_by_role("combobox", name="Search or jump to")
    for name in ("Organizations", "Members"):
        page.keyboard.press("ArrowDown")
        chosen = page.get_by_role("dialog").get_by_role("option", selected=True)
        expect(chosen).to_have_count(1)
        expect(chosen).to_contain_text(name)
        assert field.get_attribute("aria-activedescendant") == chosen.get_attribute("id")


def test_dialog_is_closed_after_a_reload(console: Console) -> None:
    page = console.sign_in(path="members").heading("Members").page
    page.get_by_role("button", name="Add by wallet").click()
    expect(page.get_by_role("dialog", name="Add by wallet")).to_be_visible()
    page.reload()
    console.hydrated().heading("Members")
    expect(page.get_by_role("table")).to_be_visible()
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_form_in_a_dialog_says_at_its_fields_what_is_missing(console: Console) -> None:
    page = console.sign_in(path="parties").heading("Parties").page
    page.get_by_role("button", name="Register party").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Register", exact=False).last.click()
    name = dialog.get_by_role("textbox", name="Name")
    expect(name).to_be_focused()
    expect(name).to_have_accessible_description("Required As in the party's documents.")
    name.fill("Northgate")
    expect(name).to_have_accessible_description("As in the party's documents.")
    expect(dialog).to_be_visible()
