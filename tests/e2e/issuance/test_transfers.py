"""A transfer: every rule is checked while it is written, then it is sent and followed to its transaction."""

import re
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from tests.e2e.answers import Answers
from tests.e2e.conftest import Console, Signum

STRANGER = "0x8617e340b3d01fa5f11f306f4090fd50e238070d"


def _choose(field: Locator, words: str) -> None:
    option = field.locator("option", has_text=words)
    field.select_option(value=option.first.get_attribute("value"))


def _addresses(signum: Signum) -> dict[str, str]:
    wallets = signum.call("GET", "/orgs/{org}/wallets", limit=100)["wallets"]
    return {wallet["label"]: wallet["address"] for wallet in wallets}


def _sellable(signum: Signum) -> dict[str, Any]:
    """An asset that the treasury can send to an attested wallet."""
    assets = signum.call("GET", "/orgs/{org}/assets", limit=100)["assets"]
    return dict(next(asset for asset in assets if asset["symbol"] == "NREF"))


@pytest.mark.long
def test_transfer_is_checked_and_sent(console: Console, signum: Signum) -> None:
    asset, addresses = _sellable(signum), _addresses(signum)
    console.sign_in(path="transfers").heading("Transfers")
    page = console.page
    page.get_by_role("button", name="New transfer").first.click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text("No result yet")).to_be_visible()
    _choose(dialog.get_by_label("Asset"), asset["symbol"])
    _choose(dialog.get_by_label("From"), "Treasury")
    dialog.get_by_label("To", exact=True).fill(addresses["Unverified broker"])
    dialog.get_by_label("Amount").fill("12.5")
    answer = dialog.get_by_role("region", name="Result")
    expect(answer.get_by_text("This transfer is refused.")).to_be_visible()
    first = answer.get_by_role("list", name="Rules").get_by_role("listitem").first
    expect(first).to_contain_text("no valid attestation")
    expect(first.get_by_role("link", name="Fix: Attestation")).to_be_visible()

    dialog.get_by_role("button", name="Send transfer").click()
    expect(dialog.get_by_text("The rules refuse this transfer. Nothing was sent.")).to_be_visible()

    receiver = dialog.get_by_label("To", exact=True)
    receiver.fill(STRANGER)
    dialog.get_by_role("button", name="Use this address").click()
    expect(dialog.get_by_text("Not known here")).to_be_visible()
    expect(answer.get_by_text("This transfer is refused.")).to_be_visible()

    receiver.fill("kestrel")
    offered = dialog.get_by_role("listbox", name="Accounts").get_by_role("option")
    expect(offered).to_have_count(1)
    expect(offered).to_contain_text(f"{asset['symbol']}Eligible")
    receiver.press("Enter")
    expect(answer.get_by_text("This transfer is allowed.")).to_be_visible()
    dialog.get_by_role("button", name="Send transfer").click()
    expect(dialog).to_have_count(0)
    story = page.get_by_role("complementary", name="Treasury to Kestrel Pension Trust")
    expect(story.get_by_role("region", name="Progress").get_by_text("Done", exact=True)).to_be_visible(timeout=30_000)
    expect(story.get_by_text("Confirmed", exact=True)).to_be_visible()
    expect(story.locator("dt", has_text="Requested by").locator("xpath=following-sibling::dd[1]")).to_have_text(
        "Elin Halvorsen"
    )
    expect(story.get_by_role("link", name="View request")).to_be_visible()
    row = page.get_by_role("table", name="Transfers").locator("tbody").get_by_role("row").first
    expect(row.get_by_text("Confirmed", exact=True)).to_be_visible()
    expect(row.get_by_text("12.5")).to_be_visible()
    page.get_by_role("group", name="Status").get_by_role("button", name="Failed").click()
    expect(page.get_by_text("No transfers match these filters")).to_be_visible()


def test_transfer_form_reports_missing_fields(console: Console) -> None:
    console.sign_in(path="transfers")
    page = console.page
    page.get_by_role("button", name="New transfer").first.click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("To", exact=True).fill("0x12")
    dialog.get_by_label("Amount").fill("-4")
    dialog.locator("form").evaluate("form => form.noValidate = true")
    dialog.get_by_role("button", name="Send transfer").click()
    expect(dialog.get_by_text("Choose an asset", exact=True).last).to_be_visible()
    expect(dialog.get_by_text("An address is 0x and 40 hexadecimal digits")).to_be_visible()
    expect(dialog.get_by_text("Enter a number, such as 1250.5")).to_be_visible()


def test_invalid_amount_of_a_transfer_is_reported_before_it_is_sent(console: Console, signum: Signum) -> None:
    console.sign_in(path="transfers").heading("Transfers")
    page = console.page
    page.get_by_role("button", name="New transfer").first.click()
    dialog = page.get_by_role("dialog")
    _choose(dialog.get_by_label("Asset"), _sellable(signum)["symbol"])
    _choose(dialog.get_by_label("From"), "Treasury")
    dialog.get_by_label("To", exact=True).fill(_addresses(signum)["Unverified broker"])
    amount, answer = dialog.get_by_label("Amount"), dialog.get_by_role("region", name="Result")
    for invalid in ("1.0000000000000000001", "1e3", "٣", "0", "0.0"):
        amount.fill(invalid)
        amount.press("Tab")
        expect(dialog.get_by_role("alert")).to_be_visible()
        expect(amount).to_have_attribute("aria-invalid", "true")
        expect(answer.get_by_text("The amount is invalid.")).to_be_visible()
        amount.fill("12.5")
        expect(answer.get_by_text("This transfer is refused.")).to_be_visible()
        expect(dialog.get_by_role("alert")).to_have_count(0)
    amount.fill("0")
    dialog.get_by_role("button", name="Send transfer").click()
    expect(dialog.get_by_role("alert")).to_have_text("Enter a number above 0")


def test_viewer_sees_transfers_without_send_button(console: Console, signum: Signum) -> None:
    console.sign_in(signum.person("viewer"), "transfers").heading("Transfers")
    expect(console.page.get_by_role("group", name="Status")).to_be_visible()
    expect(console.page.get_by_role("button", name=re.compile("New transfer"))).to_have_count(0)


def test_receiver_is_chosen_from_the_results_of_the_typed_name(console: Console, signum: Signum) -> None:
    """Enter before they have arrived waits for them. It takes no earlier result and does not send the form."""
    answers, page = Answers(console.page), console.page
    console.sign_in(path="transfers").heading("Transfers")
    page.get_by_role("button", name="New transfer").first.click()
    dialog = page.get_by_role("dialog")
    receiver = dialog.get_by_label("To", exact=True)
    receiver.fill("alder")
    offered = dialog.get_by_role("listbox", name="Accounts").get_by_role("option")
    expect(offered.first).to_contain_text("Alder Family Office")
    with answers.held():
        receiver.fill("kestrel")
        receiver.press("Enter")
        expect(offered.first).to_have_attribute("data-old", "true")
        expect(receiver).to_have_value("kestrel")
    expect(receiver).to_have_value(re.compile("^Kestrel Pension Trust"))
    expect(dialog.locator("input[name=to_address]")).to_have_value(re.compile("^0x"))
    receiver.press("ArrowDown")
    expect(offered.first).to_contain_text("Kestrel Pension Trust")
    expect(offered.first).not_to_have_attribute("data-old", "true")
