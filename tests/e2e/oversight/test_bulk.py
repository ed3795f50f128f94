"""Actions on several rows: marked and sent by keyboard only, with the outcome of each."""

import secrets
import time
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.conftest import Console, Signum
from tests.e2e.oversight.test_attestations import CHAIN, party, wallet, withdraw

BAR = "Actions on selected rows"


def _outcome(page: Page, title: str, name: str) -> Locator:
    return page.get_by_role("dialog", name=title).get_by_role("row").filter(has_text=name)


def _verified(signum: Signum, name: str) -> dict[str, Any]:
    made = party(signum, name, wallet_address=wallet())
    signum.call("POST", f"/identity/parties/{made['id']}/verify", {"kyc_level": 2})
    return made


def test_parties_are_attested_together_by_keyboard(console: Console, signum: Signum) -> None:
    """Two parties are marked and attested on a chain without the mouse; one that cannot be attested is shown
    with its reason, and does not stop the others."""
    run = secrets.token_hex(3)
    names = [f"Bulk {run} {n}" for n in ("one", "two")]
    without_wallet = party(signum, f"Bulk {run} none")
    signum.call("POST", f"/identity/parties/{without_wallet['id']}/verify", {"kyc_level": 1})
    made = [_verified(signum, name) for name in names]
    console.sign_in(signum.person("compliance_officer"), "parties").heading("Parties")
    page, keys = console.page, console.page.keyboard
    page.get_by_role("searchbox", name="Find a party").fill(f"Bulk {run}")
    rows = page.get_by_role("table", name="Parties").locator("tbody").get_by_role("row")
    expect(rows).to_have_count(3)
    page.get_by_role("searchbox", name="Find a party").blur()

    keys.press("j")
    expect(rows.first).to_have_attribute("aria-selected", "true")
    keys.press("Space")
    bar = page.get_by_role("toolbar", name=BAR)
    expect(bar).to_contain_text("1 selected")
    keys.press("Shift+J")
    expect(bar).to_contain_text("2 selected")
    keys.press("Shift+J")
    expect(bar).to_contain_text("3 selected")
    keys.press("a")
    expect(bar.get_by_role("button", name="Attest")).to_be_focused()
    keys.press("Enter")
    asked = page.get_by_role("dialog", name="Attest 3 parties")
    asked.get_by_role("checkbox", name="Sepolia Devnet", exact=True).focus()
    keys.press("Space")
    keys.press("Enter")
    for name in names:
        expect(_outcome(page, "Attestations", name)).to_contain_text("Accepted", timeout=CHAIN)
    expect(_outcome(page, "Attestations", "none")).to_contain_text("The party has no wallet")
    expect(page.get_by_role("button", name="Retry 1 refused")).to_be_visible()
    keys.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    for one in made:
        _attested(signum, one)
    for one in (*made, without_wallet):
        withdraw(signum, one["id"])


def _attested(signum: Signum, of: dict[str, Any]) -> None:
    """Wait until a party's only attestation is active."""
    deadline, path, status = time.monotonic() + 60, f"/orgs/{signum.organization}/attestations", ""
    while status != "active":
        assert time.monotonic() < deadline, status
        (found,) = signum.call("GET", path, party_id=of["id"])["attestations"]
        status = found["status"]


@pytest.mark.long
def test_parties_are_verified_and_rejected_together(console: Console, signum: Signum) -> None:
    run = secrets.token_hex(3)
    made = [party(signum, f"Batch {run} {n}") for n in range(3)]
    console.sign_in(signum.person("compliance_officer"), "parties").heading("Parties")
    page = console.page
    page.get_by_role("searchbox", name="Find a party").fill(f"Batch {run}")
    for one in made[:2]:
        console.choose(page.get_by_role("checkbox", name=f"Select {one['name']}"))
    page.get_by_role("toolbar", name=BAR).get_by_role("button", name="Verify").click()
    asked = page.get_by_role("dialog", name="Verify 2 parties")
    asked.get_by_label("KYC level").select_option("2")
    asked.get_by_role("button", name="Verify").click()
    for one in made[:2]:
        expect(_outcome(page, "Verifications", one["name"])).to_contain_text("Verified")
    page.get_by_role("dialog").get_by_role("button", name="Close", exact=True).first.click()

    console.choose(page.get_by_role("checkbox", name=f"Select {made[2]['name']}"))
    page.get_by_role("button", name="Select all 3 on this page").click()
    page.get_by_role("toolbar", name=BAR).get_by_role("button", name="Reject").click()
    page.get_by_role("dialog", name="Reject 3 parties").get_by_label("Reason").fill("Documents withdrawn")
    page.get_by_role("dialog").get_by_role("button", name="Reject").click()
    for one in made:
        expect(_outcome(page, "Rejections", one["name"])).to_contain_text("Rejected")
    statuses = {signum.call("GET", f"/identity/parties/{one['id']}")["status"] for one in made}
    assert statuses == {"rejected"}


def test_parties_are_imported_with_a_preview(console: Console, signum: Signum) -> None:
    """A list with a wrong line is refused as a whole, and says which; the corrected one is imported."""
    run = secrets.token_hex(3)
    console.sign_in(signum.person("compliance_officer"), "parties").heading("Parties")
    page = console.page
    page.get_by_role("button", name="Import parties").click()
    dialog = page.get_by_role("dialog", name="Import parties")
    good = f"name,country,email\nImport {run} one,SWE,{run}@example.com\nImport {run} two,DEU,\n"
    dialog.get_by_label("Parties", exact=True).fill(good + f"Import {run} three,Atlantis,\n")
    dialog.get_by_role("button", name="Check the list").click()
    expect(dialog.get_by_text("1 line must be corrected.")).to_be_visible()
    lines = dialog.get_by_role("table", name="Preview").locator("tbody").get_by_role("row")
    expect(lines).to_have_count(3)
    expect(lines.first).to_contain_text("is not a country code. Use one such as SWE.")
    expect(dialog.get_by_role("button", name="Import parties")).to_be_disabled()

    dialog.get_by_label("Parties", exact=True).fill(good)
    dialog.get_by_role("button", name="Check the list").click()
    expect(dialog.get_by_text("2 parties can be imported.")).to_be_visible()
    dialog.get_by_role("button", name="Import parties").click()
    expect(dialog).to_be_hidden()
    for n in ("one", "two"):
        expect(page.get_by_role("button", name=f"Import {run} {n}", exact=True)).to_be_visible()

    page.get_by_role("button", name="Import parties").click()
    again = f"name,country,email\nImport {run} first,SWE,{run}@example.com\n"
    dialog.get_by_label("Parties", exact=True).fill(again)
    console.choose(dialog.get_by_role("radio", name="Update them"))
    dialog.get_by_role("button", name="Check the list").click()
    expect(dialog.get_by_text("1 party will be updated.")).to_be_visible()
    expect(lines.first).to_contain_text(f"Name: Import {run} one → Import {run} first")
    dialog.get_by_role("button", name="Import parties").click()
    expect(dialog).to_be_hidden()
    expect(page.get_by_role("button", name=f"Import {run} first", exact=True)).to_be_visible()


@pytest.mark.long
def test_preview_that_is_too_large_says_so(console: Console, signum: Signum) -> None:
    line = {"name": "Ada", "country": "SWE", "email": None, "wallet_address": None, "outcome": "created"}
    lines = [{"line": n, **line, "detail": "x" * 3_000} for n in range(200)]
    plan = {"created": 200, "updated": 0, "skipped": 0, "refused": 0, "lines": lines}
    page = console.sign_in(signum.person("compliance_officer"), "parties").heading("Parties").page
    page.route("**/identity/parties/import**", lambda route: route.fulfill(json=plan))
    page.get_by_role("button", name="Import parties").click()
    dialog = page.get_by_role("dialog", name="Import parties")
    dialog.get_by_label("Parties", exact=True).fill("name,country\nAda,SWE\n")
    dialog.get_by_role("button", name="Check the list").click()
    expect(dialog.get_by_role("alert")).to_contain_text("The preview cannot be shown.")
    expect(dialog.get_by_role("button", name="Import parties")).to_be_disabled()
