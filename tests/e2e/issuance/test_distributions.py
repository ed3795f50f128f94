"""A distribution: a list is checked, stored as a draft, funded and activated live, inspected, and closed."""

from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

from tests.e2e.conftest import Console, Signum

ONE, TWO = "0x" + "11" * 20, "0x" + "22" * 20


def _choose(field: Locator, words: str) -> None:
    option = field.locator("option", has_text=words)
    field.select_option(value=option.first.get_attribute("value"))


@pytest.mark.long
def test_distribution_from_a_list_is_claimed_and_cancelled(console: Console, tmp_path: Path) -> None:
    console.sign_in(path="distributions").heading("Distributions")
    page = console.page
    page.get_by_role("link", name="New distribution").first.click()
    console.heading("New distribution")
    outcome = page.get_by_role("region", name="Result")
    page.get_by_role("textbox", name="Recipients").fill(f"{ONE},3.5\n")
    page.get_by_role("button", name="Check the list").click()
    expect(page.get_by_text("Name it and choose an asset first.")).to_be_visible()

    # The click counts, even if the server learns the name later.
    page.get_by_label("Name").fill("Third quarter")
    expect(outcome.get_by_text("3.5")).to_be_visible()
    _choose(page.get_by_label("Asset"), "NREF")
    expect(page.get_by_label("Amounts are").locator("option").first).to_have_text("Whole NREF, such as 12.5")
    page.get_by_role("textbox", name="Recipients").fill(f"address,amount\n{ONE},12.5\n{TWO},7\n")
    page.get_by_role("button", name="Check the list").click()
    expect(outcome.get_by_text("19.5")).to_be_visible()
    # A file replaces the text, and the earlier check no longer counts.
    file = tmp_path / "recipients.csv"
    file.write_text(f"{ONE},1\n{TWO},0.25\n")
    page.get_by_label("Or a CSV file").set_input_files(file)
    page.get_by_role("button", name="Check the list").click()
    expect(outcome.get_by_text("1.25")).to_be_visible()
    page.get_by_role("button", name="Create draft").click()

    console.heading("Third quarter")
    page.get_by_label("Address", exact=True).fill(ONE)
    page.get_by_role("button", name="Find proof").click()
    expect(page.get_by_label("Arguments of claim")).to_contain_text('"amount": "1000000000000000000"')
    page.get_by_role("button", name="Activate", exact=True).click()
    dialog = page.get_by_role("dialog", name="Activate Third quarter")
    expect(dialog.get_by_role("listitem")).to_have_count(4)
    dialog.get_by_role("button", name="Fund and activate").click()
    progress = page.get_by_role("region", name="Progress")
    expect(progress.get_by_text("Done", exact=True)).to_be_visible(timeout=60_000)
    expect(page.get_by_text("Active", exact=True)).to_be_visible()
    expect(page.get_by_text("0 of 2")).to_be_visible()

    page.get_by_role("button", name="Cancel", exact=True).click()
    dialog = page.get_by_role("dialog", name="Cancel Third quarter")
    expect(dialog.get_by_text("return to the wallet that owns the token")).to_be_visible()
    dialog.get_by_role("button", name="Cancel distribution").click()
    expect(page.get_by_text("Cancelled", exact=True)).to_be_visible(timeout=60_000)
    console.goto("distributions").heading("Distributions")
    page.get_by_role("group", name="Status").get_by_role("button", name="Cancelled").click()
    expect(page.get_by_role("link", name="Third quarter", exact=True)).to_be_visible()


def test_distribution_from_the_holders_at_a_block_is_created_and_deleted(console: Console) -> None:
    console.sign_in(path="distributions/new").heading("New distribution")
    page = console.page
    page.get_by_label("Name").fill("To the holders")
    _choose(page.get_by_label("Asset"), "NREF")
    page.get_by_role("radio", name="The holders").click()
    page.get_by_label("Total to share").fill("many")
    page.get_by_role("button", name="Check the holders").click()
    expect(page.get_by_text("Enter a number, such as 1250.5")).to_be_visible()
    page.get_by_label("Total to share").fill("30")
    page.get_by_role("button", name="Check the holders").click()
    outcome = page.get_by_role("region", name="Result")
    expect(outcome.get_by_text("Every line is valid.")).to_be_visible()
    outcome.get_by_role("button", name="Create draft").click()
    console.heading("To the holders")
    expect(page.get_by_text("Draft", exact=True)).to_be_visible()
    expect(page.get_by_text("Signum deletes this draft after")).to_be_visible()
    page.get_by_role("button", name="Delete draft").click()
    dialog = page.get_by_role("dialog", name="Delete To the holders")
    expect(dialog.get_by_text("Nothing has been paid out")).to_be_visible()
    dialog.get_by_role("button", name="Delete draft").click()
    console.heading("Distributions")
    expect(page.get_by_role("link", name="To the holders", exact=True)).to_have_count(0)


def test_viewer_sees_distributions_without_create_button(console: Console, signum: Signum) -> None:
    console.sign_in(signum.person("viewer"), "distributions").heading("Distributions")
    expect(console.page.get_by_role("group", name="Status")).to_be_visible()
    expect(console.page.get_by_role("link", name="New distribution")).to_have_count(0)
