"""Documents of a party: an officer reads and adds them, then decides."""

import re
import secrets
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import Console, Signum
from tests.e2e.oversight.test_attestations import drawer, party, queue_row
from tests.support.specimens import pdf, picture


def add(page: Page, kind: str, name: str, media_type: str, content: bytes) -> None:
    """Choose a file and send it."""
    form = page.get_by_role("form", name="Add a document")
    form.get_by_label("What it proves").select_option(label=kind)
    form.get_by_label("File").set_input_files({"name": name, "mimeType": media_type, "buffer": content})
    form.get_by_role("button", name="Upload").click()


def test_documents_start_a_review_and_download_unchanged(console: Console, signum: Signum) -> None:
    """The first document starts the review; it is downloaded whole, and the decision follows."""
    name, passport = f"Sigrid Aas {secrets.token_hex(3)}", pdf(["Sigrid Aas", secrets.token_hex(8)])
    party(signum, name)
    console.sign_in(signum.person("compliance_officer"), "parties").heading("Parties")
    page = console.page
    page.get_by_role("button", name=name, exact=True).click()
    case = drawer(page, name)
    expect(case.get_by_text("The first upload starts the review.")).to_be_visible()
    expect(case.get_by_text("To review")).to_be_visible()
    add(page, "Passport", "aas.pdf", "application/pdf", passport)
    listed = case.get_by_role("list", name="Documents").get_by_role("listitem")
    expect(listed).to_have_count(1)
    expect(listed.first).to_contain_text("Passport")
    expect(listed.first).to_contain_text(re.compile(r"by Priya Shah"))
    expect(case.get_by_text("In review")).to_be_visible()
    expect(queue_row(page, name).get_by_text("In review").last).to_be_visible()
    add(page, "Proof of address", "bill.png", "image/png", picture(name))
    expect(listed).to_have_count(2)

    with page.expect_download() as waiting:
        case.get_by_role("link", name="aas.pdf").click()
    assert waiting.value.suggested_filename == "aas.pdf"
    assert Path(waiting.value.path()).read_bytes() == passport
    case.get_by_role("button", name="Verify", exact=True).click()
    expect(case.get_by_text("Verified").first).to_be_visible()
    expect(listed).to_have_count(2)


@pytest.mark.long
def test_oversized_file_is_rejected_before_the_upload(console: Console, signum: Signum) -> None:
    """The message is at the form, and nothing was added."""
    name = f"Tor Vik {secrets.token_hex(3)}"
    party(signum, name)
    console.sign_in(signum.person("compliance_officer"), "parties").heading("Parties")
    console.page.get_by_role("button", name=name, exact=True).click()
    add(console.page, "Other", "large.pdf", "application/pdf", b"%PDF-" + bytes(10_485_760))
    expect(drawer(console.page, name).get_by_role("alert")).to_have_text("The file is larger than 10 MB.")
    expect(drawer(console.page, name).get_by_text("To review")).to_be_visible()


def test_demo_has_a_party_in_each_state(console: Console, signum: Signum) -> None:
    """Created, in review with its documents, verified, rejected; a viewer reads and adds nothing."""
    console.sign_in(signum.person("viewer"), "parties").heading("Parties")
    page = console.page
    shown = {
        "Marta Lindqvist": "To review",
        "Noor van Dijk": "In review",
        "James Okafor": "Verified",
        "Viktor Hale": "Rejected",
    }
    for name, words in shown.items():
        expect(queue_row(page, name).get_by_text(words).last).to_be_visible()
    page.get_by_role("button", name="Noor van Dijk", exact=True).click()
    case = drawer(page, "Noor van Dijk")
    expect(case.get_by_role("list", name="Documents").get_by_role("listitem")).to_have_count(2)
    expect(case.get_by_role("form", name="Add a document")).to_have_count(0)
