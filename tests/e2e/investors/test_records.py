"""An investor's documents, the download of their data, what they agreed to, and how they leave."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.accounts.test_factors import accessible, newcomer
from tests.e2e.conftest import Console, Person, Signum
from tests.support.specimens import pdf

ORGANIZATION = "Northwind Capital Group"


def recorded(signum: Signum) -> tuple[Person, dict[str, Any]]:
    """Return a new investor, and the party that the organization recorded for them."""
    person = newcomer(signum, role="client")
    body = {"organization_id": signum.organization, "name": "Fay Factor", "country": "SWE", "email": person.email}
    return person, signum.call("POST", "/identity/parties", body)


def place(page: Page, name: str) -> None:
    """Open a page of the investor."""
    page.get_by_role("navigation", name="Pages").get_by_role("link", name=name).click()


@pytest.mark.long
def test_investor_uploads_a_document_that_the_officer_reads(console: Console, signum: Signum, tmp_path: Path) -> None:
    person, party = recorded(signum)
    passport = tmp_path / "passport.pdf"
    passport.write_bytes(pdf(["Fay Factor", "Passport"]))
    page = console.sign_in_as_client(person).heading("Your investments").page
    page.set_viewport_size({"width": 390, "height": 844})
    expect(page.get_by_text(f"{ORGANIZATION} has to verify you.")).to_be_visible()
    accessible(console)
    page.get_by_role("link", name="Upload documents").click()
    console.heading("Documents")
    form = page.get_by_role("form", name="Upload a document")
    form.get_by_label("What it proves").select_option("Passport")
    form.get_by_label("File").set_input_files(passport)
    form.get_by_role("button", name="Upload").click()
    [row] = [page.get_by_role("list", name="Documents").get_by_role("listitem")]
    expect(row).to_contain_text("passport.pdf")
    expect(row).to_contain_text("Uploaded by you")
    accessible(console)
    with page.expect_download() as file:
        row.get_by_role("link", name="Download passport.pdf").click()
    assert file.value.path().read_bytes() == passport.read_bytes()
    form.get_by_label("What it proves").select_option("Passport")
    form.get_by_label("File").set_input_files(passport)
    form.get_by_role("button", name="Upload").click()
    expect(form.get_by_role("alert")).to_contain_text("already has this file, as passport")
    assert "409" in console.errors.pop(), "the browser logs the refusal"
    with page.expect_download() as file:
        page.get_by_role("link", name="Download your data").click()
    data = json.loads(file.value.path().read_text())
    assert (data["account"]["email"], data["documents"][0]["name"]) == (person.email, "passport.pdf")
    assert re.fullmatch(r"my-data-northwind-capital-group-\d{4}-\d\d-\d\d\.json", file.value.suggested_filename)

    place(page, "Home")
    expect(page.get_by_text(f"{ORGANIZATION} is reviewing your documents.")).to_be_visible()
    page.context.clear_cookies()
    page.set_viewport_size({"width": 1440, "height": 960})
    console.sign_in(signum.person("compliance_officer"), path=f"parties?id={party['id']}")
    documents = page.get_by_role("list", name="Documents")
    expect(documents).to_contain_text("passport.pdf")
    expect(documents).to_contain_text("by Fay Factor, the investor")
    expect(page.get_by_text("The investor can read every document here.")).to_be_visible()


@pytest.mark.long
def test_investor_reads_what_they_agreed_to_and_leaves(
    console: Console, shared_browser: Browser, signum: Signum
) -> None:
    person, party = recorded(signum)
    page = console.sign_in_as_client(person).heading("Your investments").page
    page.set_viewport_size({"width": 390, "height": 844})
    elsewhere = shared_browser.new_context()
    try:
        second = Console(elsewhere.new_page(), signum).sign_in_as_client(person).heading("Your investments").page
        place(page, "Account")
        agreed = page.get_by_role("region", name="What you agreed to")
        expect(agreed).to_contain_text(re.compile(r"You agreed on \d{1,2} \w+ \d{4}\. Since then, " + ORGANIZATION))
        accessible(console)
        agreed.get_by_role("button", name=f"Leave {ORGANIZATION}").click()
        dialog = page.get_by_role("dialog", name=f"Leave {ORGANIZATION}")
        expect(dialog).to_contain_text("Your tokens stay in your wallet.")
        accessible(console)
        dialog.get_by_role("button", name="Cancel").click()
        expect(dialog).to_be_hidden()
        agreed.get_by_role("button", name=f"Leave {ORGANIZATION}").click()
        dialog.get_by_role("button", name="Leave", exact=True).click()
        page.wait_for_url(re.compile("/i$"))
        expect(page.get_by_text("You are not an investor of any organization.")).to_be_visible()
        accessible(console)
        second.reload()
        expect(second.get_by_text("You have no access here")).to_be_visible()
    finally:
        elsewhere.close()
    kept = signum.call("GET", f"/identity/parties/{party['id']}", organization_id=signum.organization)
    assert kept["email"] == person.email


@pytest.mark.long
def test_investor_without_party_wallet_or_holdings_reads_the_next_step(console: Console, signum: Signum) -> None:
    person = newcomer(signum, role="client")
    page = console.sign_in_as_client(person).heading("Your investments").page
    expect(page.get_by_text(f"{ORGANIZATION} has not added you as an investor yet.")).to_be_visible()
    expect(page.get_by_text(f"Ask them to add you with the email {person.email}.")).to_be_visible()
    expect(page.get_by_role("region", name="Holdings").get_by_role("link", name="Link wallet")).to_be_visible()
    accessible(console)
    place(page, "Documents")
    expect(page.get_by_text("has to add you as an investor before you can upload documents")).to_be_visible()
    expect(page.get_by_role("form", name="Upload a document")).to_have_count(0)
    accessible(console)
    body = {
        "organization_id": signum.organization, "name": "Fay Factor", "country": "SWE", "email": person.email,
        "wallet_address": "0x00000000000000000000000000000000000f0a01",
    }  # fmt: skip
    party = signum.call("POST", "/identity/parties", body)
    signum.call("POST", f"/identity/parties/{party['id']}/reject", {"reason": "Blurred"})
    place(page, "Home")
    expect(page.get_by_text(f"{ORGANIZATION} could not verify you.")).to_be_visible()
    expect(page.get_by_role("region", name="Holdings").get_by_role("link", name="View the market")).to_be_visible()
    eligibility = page.get_by_role("region", name="Eligibility").get_by_role("listitem").first
    expect(eligibility).to_contain_text(f"now, because {ORGANIZATION} has not verified you yet.")
    accessible(console)
