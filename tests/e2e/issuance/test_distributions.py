"""A distribution: a list is checked, stored as a draft, funded and activated live, inspected, and closed."""

import re
import secrets
import time
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

from tests.e2e.conftest import Console, Signum
from tests.e2e.oversight.test_attestations import party, wallet

STRANGER = "0x" + "11" * 20


def _choose(field: Locator, words: str) -> None:
    option = field.locator("option", has_text=words)
    field.select_option(value=option.first.get_attribute("value"))


def investors(signum: Signum) -> list[str]:
    """Return the wallets of two parties that hold NREF, which its rules allow."""
    assets = signum.call("GET", "/orgs/{org}/assets")["assets"]
    nref = next(asset["id"] for asset in assets if asset["symbol"] == "NREF")
    holders = signum.call("GET", f"/orgs/{{org}}/assets/{nref}/holders")["holders"]
    chain = holders[0]["chain_eid"]
    theirs = [one["address"] for one in holders if one["kind"] == "party" and one["chain_eid"] == chain]
    body = {"name": "Check", "chain_eid": chain, "recipients": [{"address": at, "amount": "1"} for at in theirs]}
    plan = signum.call("POST", f"/orgs/{{org}}/assets/{nref}/distributions", body, dry_run=True)
    return [one["address"] for one in plan["check"]["recipients"] if one["eligible"]][:2]


@pytest.mark.long
def test_distribution_from_a_list_is_claimed_and_cancelled(console: Console, tmp_path: Path) -> None:
    console.sign_in(path="distributions").heading("Distributions")
    page = console.page
    page.get_by_role("link", name="New distribution").first.click()
    console.heading("New distribution")
    outcome = page.get_by_role("region", name="Result")
    one, two = investors(console.signum)
    page.get_by_role("textbox", name="Recipients").fill(f"{one},3.5\n")
    page.get_by_role("button", name="Check the list").click()
    expect(page.get_by_text("Name it and choose an asset first.")).to_be_visible()

    # The click counts, even if the server learns the name later.
    page.get_by_label("Name").fill("Third quarter")
    expect(outcome.get_by_text("3.5")).to_be_visible()
    _choose(page.get_by_label("Asset"), "NREF")
    expect(page.get_by_label("Amounts are").locator("option").first).to_have_text("NREF, such as 12.5")
    page.get_by_role("textbox", name="Recipients").fill(f"address,amount\n{one},12.5\n{two},7\n")
    page.get_by_role("button", name="Check the list").click()
    expect(outcome.get_by_text("19.5")).to_be_visible()
    # A file replaces the text, and the earlier check no longer counts.
    file = tmp_path / "recipients.csv"
    file.write_text(f"{one},1\n{STRANGER},4\n{two},0.25\n")
    page.get_by_label("Or a CSV file").set_input_files(file)
    page.get_by_role("button", name="Check the list").click()
    expect(outcome.get_by_text("1.25")).to_be_visible()
    expect(outcome.get_by_text("1 recipient, 4")).to_be_visible()
    checked = page.get_by_role("region", name="Checked recipients", exact=True)
    expect(checked.get_by_role("row")).to_have_count(4)
    with page.expect_download() as file_:
        checked.get_by_role("button", name="Download CSV").click()
    saved = file_.value.path().read_text().splitlines()
    assert saved[0] == "index,address,name,amount,eligible,reasons"
    assert saved[2].startswith(f"1,{STRANGER},")
    assert saved[2].endswith(",4000000000000000000,false,The receiver has no valid attestation.")
    checked.get_by_role("button", name="Blocked 1").click()
    expect(checked.get_by_role("row")).to_have_count(2)
    expect(checked.get_by_text("The receiver has no valid attestation.")).to_be_visible()
    console.choose(outcome.get_by_role("radio", name="Exclude"))
    console.choose(outcome.get_by_role("radio", name="Hold"))
    page.get_by_role("button", name="Create draft").click()

    console.heading("Third quarter")
    listed = page.get_by_role("table", name="Recipients", exact=True)
    expect(listed.get_by_text("Eligible")).to_have_count(2)
    page.get_by_role("tab", name="Held back 1").click()
    held = page.get_by_role("region", name="Held recipients", exact=True)
    expect(held.get_by_text("The receiver has no valid attestation.")).to_be_visible()
    expect(held.get_by_role("button", name="Release")).to_have_count(0)
    page.get_by_role("tab", name="Proof").click()
    page.get_by_label("Recipient", exact=True).fill(one)
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
    page.get_by_role("tab", name="Recipients").click()
    expect(listed.get_by_text("Can claim now")).to_have_count(2)
    page.get_by_role("tab", name="Held back 1").click()
    held.get_by_role("button", name="Release").click()
    dialog = page.get_by_role("dialog", name="Release held recipients")
    expect(dialog.get_by_text("The asset's rules refuse every recipient.")).to_be_visible()
    dialog.get_by_role("button", name="Cancel").click()

    page.get_by_role("button", name="Cancel distribution", exact=True).click()
    dialog = page.get_by_role("dialog", name="Cancel distribution “Third quarter”?")
    named = r"The 2 recipients who have not claimed can no longer do so: [A-Z]\w+ .+, [A-Z]\w+ .+\."
    expect(dialog.get_by_text(re.compile(named))).to_be_visible()
    expect(dialog.get_by_text("This cannot be undone.")).to_be_visible()
    expect(dialog.get_by_role("button", name="Keep distribution")).to_be_visible()
    dialog.get_by_role("button", name="Cancel distribution").click()
    expect(page.get_by_text("Cancelled", exact=True)).to_be_visible(timeout=60_000)
    console.goto("distributions").heading("Distributions")
    page.get_by_role("group", name="Status").get_by_role("button", name="Cancelled").click()
    expect(page.get_by_role("link", name="Third quarter", exact=True)).to_be_visible()


@pytest.mark.long
def test_held_recipient_who_became_eligible_is_released_and_another_cannot_claim_now(
    console: Console, signum: Signum
) -> None:
    """A held recipient is attested and released. Later their attestation is revoked: the page says that they cannot
    claim now, and why."""
    assets = signum.call("GET", "/orgs/{org}/assets")["assets"]
    nref = next(asset["id"] for asset in assets if asset["symbol"] == "NREF")
    chain = signum.call("GET", f"/orgs/{{org}}/assets/{nref}/holders")["holders"][0]["chain_eid"]
    late = party(signum, f"Late {secrets.token_hex(3)}", wallet_address=wallet())
    people = [{"address": investors(signum)[0], "amount": "5"}, {"address": late["wallet_address"], "amount": "7"}]
    body = {"name": "Fourth quarter", "chain_eid": chain, "recipients": people, "blocked": "hold"}
    made = signum.call("POST", f"/orgs/{{org}}/assets/{nref}/distributions", body)
    terms = {"chainEid": chain, "merkleRoot": made["merkle_root"], "totalRecipients": 1}
    path = f"/orgs/{{org}}/assets/{nref}/distributions/{made['id']}"
    signum.call("POST", f"{path}/activate", terms)
    signum.call("POST", f"/identity/parties/{late['id']}/verify", {"kyc_level": 2})
    attested = signum.call("POST", "/orgs/{org}/attestations", {"party_id": late["id"], "chain_eid": chain})
    _finished(signum, attested["requestId"])
    _finished(signum, signum.call("GET", path)["request_id"])

    console.sign_in(path=f"distributions/{made['id']}?asset={nref}&tab=held").heading("Fourth quarter")
    page = console.page
    held = page.get_by_role("region", name="Held recipients", exact=True)
    held.get_by_role("button", name="Release").click()
    dialog = page.get_by_role("dialog", name="Release held recipients")
    expect(dialog.get_by_text("1 recipient,")).to_be_visible()
    dialog.get_by_label("Name").fill("Fourth quarter, late")
    dialog.get_by_role("button", name="Create draft").click()
    console.heading("Fourth quarter, late")
    page.get_by_role("button", name="Activate", exact=True).click()
    page.get_by_role("dialog").get_by_role("button", name="Fund and activate").click()
    expect(page.get_by_text("Active", exact=True)).to_be_visible(timeout=60_000)
    listed = page.get_by_role("table", name="Recipients", exact=True)
    expect(listed.get_by_text("Can claim now")).to_be_visible()

    revoked = signum.call(
        "POST", f"/orgs/{{org}}/attestations/{attested['attestationId']}/revoke", {"reason": "Left the fund"}
    )
    _finished(signum, revoked["requestId"])
    page.get_by_role("button", name="Recheck eligibility").click()
    expect(listed.get_by_text("Cannot claim now: The receiver has no valid attestation.")).to_be_visible()
    console.goto(f"distributions/{made['id']}?asset={nref}&tab=held")
    expect(held.get_by_role("link", name="Released to another distribution")).to_be_visible()


def _finished(signum: Signum, request_id: str) -> None:
    """Wait until a request has succeeded."""
    deadline, status = time.monotonic() + 60, ""
    while status != "succeeded":
        assert time.monotonic() < deadline, status
        status = signum.call("GET", f"/orgs/{{org}}/requests/{request_id}")["status"]
        time.sleep(0.1)


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
    expect(outcome.get_by_text("Nothing is sent yet.")).to_be_visible()
    outcome.get_by_role("button", name="Create draft").click()
    console.heading("To the holders")
    expect(page.get_by_text("Draft", exact=True)).to_be_visible()
    expect(page.get_by_text("Signum deletes this draft after")).to_be_visible()
    page.get_by_role("button", name="Delete draft").click()
    dialog = page.get_by_role("dialog", name="Delete draft “To the holders”?")
    expect(dialog.get_by_text("Nothing has been paid out")).to_be_visible()
    dialog.get_by_role("button", name="Delete draft").click()
    console.heading("Distributions")
    expect(page.get_by_role("link", name="To the holders", exact=True)).to_have_count(0)


def test_viewer_sees_distributions_without_create_button(console: Console, signum: Signum) -> None:
    console.sign_in(signum.person("viewer"), "distributions").heading("Distributions")
    expect(console.page.get_by_role("group", name="Status")).to_be_visible()
    expect(console.page.get_by_role("link", name="New distribution")).to_have_count(0)


@pytest.mark.long
def test_recipient_is_named_before_its_wallet(console: Console, signum: Signum) -> None:
    made = signum.call("GET", "/orgs/{org}/distributions")["distributions"][-1]  # the demo's
    page = console.sign_in(path=f"distributions/{made['id']}").heading(made["name"]).page
    rows = page.get_by_role("table", name="Recipients").locator("tbody").get_by_role("row")
    expect(rows.filter(has_text="Kestrel Pension Trust").first).to_contain_text(re.compile("^Kestrel Pension Trust0x"))
