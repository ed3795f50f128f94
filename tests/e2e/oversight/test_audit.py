"""A change is found in the log with before and after, exported, and the chain verified."""

import re

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import Console, Signum


def test_audit_entry_is_found_and_the_chain_verified(console: Console, signum: Signum) -> None:
    signum.call("PATCH", "/orgs/{org}", {"description": "Before the story"})
    signum.call("PATCH", "/orgs/{org}", {"description": "After the story"})
    page = console.sign_in(path="audit").heading("Audit log").page
    page.get_by_label("Kind").select_option("Organization")
    newest = page.get_by_role("row").filter(has_text="Organization updated").first
    expect(newest).to_contain_text("Before the story → After the story")
    newest.get_by_role("button", name="Organization updated").click()
    details = page.get_by_role("complementary", name="Organization updated")
    expect(details.locator("del")).to_have_text("Before the story")
    expect(details.locator("ins")).to_have_text("After the story")
    expect(details).to_contain_text("127.0.0.1")
    expect(details).to_contain_text("Northwind Capital Group")
    expect(details).to_contain_text("via access token")
    expect(details.get_by_role("heading")).to_have_text([re.compile("Organization updated"), "Before and after"])
    details.get_by_role("button", name="Close").click()
    expect(details).to_be_hidden()

    page.get_by_label("Kind").select_option("Bridge")
    row = page.get_by_role("row").filter(has_text="50,000 NIB31").first
    row.get_by_text("Then: Bridge packet being sent, Bridge delivered").click()
    row.get_by_role("button", name="Bridge delivered").click()
    last = page.get_by_role("complementary", name="Bridge delivered")
    expect(last.get_by_role("button", name="Copy hash", exact=False)).to_be_visible()
    last.get_by_role("button", name="Close").click()

    page.get_by_label("Kind").select_option("Organization")
    page.get_by_role("button", name="Verify").click()
    expect(page.get_by_role("status").filter(has_text="The hash chain is intact.")).to_contain_text(
        "entries match the recorded hashes"
    )
    with page.expect_download() as download:
        page.get_by_role("link", name="Export CSV").click()
    lines = download.value.path().read_text().splitlines()
    assert lines[0].startswith("seq,at,actor,")
    assert "After the story" in lines[1]
    assert all(",organization." in line for line in lines[1:])


def test_viewer_reads_the_audit_log_with_hidden_keys(console: Console, signum: Signum) -> None:
    page = console.sign_in(signum.person("viewer"), "audit").heading("Audit log").page
    page.get_by_label("Kind").select_option("API key")
    created = page.get_by_role("row").filter(has_text="API key created").first
    expect(created).to_contain_text("Hidden for your role")


@pytest.mark.long
def test_entry_of_a_later_page_opens_by_its_url_beside_the_list(console: Console) -> None:
    page = console.sign_in(path="audit?entry=1").heading("Audit log").page
    details = page.get_by_role("complementary").filter(has_text="Entry 1")
    expect(details.get_by_text("Entry 1", exact=True)).to_be_visible()
    rows = page.get_by_role("table", name="Audit log").locator("tbody tr")
    newest = rows.first.inner_text()
    page.get_by_role("button", name="Older").click()
    expect(rows.first).not_to_contain_text(newest)
    expect(details).to_be_visible()
    details.get_by_role("button", name="Close").click()
    expect(details).to_be_hidden()
    expect(page).to_have_url(re.compile(r"/audit$"))
    console.goto("audit?entry=999999999")
    expect(page.get_by_text("Entry 999999999 does not exist")).to_be_visible()
