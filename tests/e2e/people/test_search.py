"""Search from any page, and the download of an asset's evidence."""

import io
import json
import re
import zipfile
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import Console, Signum


def look_for(page: Page, words: str) -> None:
    """Open the palette by its keys and type."""
    page.keyboard.press("Control+k")
    page.get_by_role("combobox", name="Search or jump to").fill(words)


@pytest.mark.long
def test_palette_finds_names_and_addresses(console: Console, signum: Signum) -> None:
    """A party by its name, an asset by its token's address, an organization anywhere. Choosing it goes there."""
    console.sign_in(path="overview")
    page = console.page
    look_for(page, "alder")
    expect(page.get_by_role("option", name=re.compile("Alder Family Office.*verified")).first).to_be_visible()
    page.get_by_role("option", name=re.compile("Alder Family Office.*verified")).first.click()
    page.wait_for_url("**/parties?id=*")
    expect(page.get_by_role("complementary", name="Alder Family Office")).to_be_visible()
    asset = next(a for a in signum.call("GET", "/orgs/{org}/assets")["assets"] if a["symbol"] == "NREF")
    look_for(page, asset["deployments"][0]["token_address"].lower())
    palette = page.get_by_role("dialog", name="Search or jump to")
    # Tokens on different chains may have the same address.
    palette.get_by_role("option", name=re.compile(asset["name"])).click()
    page.wait_for_url(f"**/assets/{asset['id']}")
    console.heading(asset["name"])
    look_for(page, "unmatched name")
    expect(page.get_by_text("Nothing of that name")).to_be_visible()


def test_evidence_is_downloaded_with_one_click_and_verifiable(console: Console, signum: Signum) -> None:
    """A viewer downloads the archive; its manifest lists its content."""
    asset = next(a for a in signum.call("GET", "/orgs/{org}/assets")["assets"] if a["symbol"] == "NREF")
    console.sign_in(signum.person("viewer"), f"assets/{asset['id']}")
    with console.page.expect_download() as waiting:
        console.page.get_by_role("link", name="Evidence").click()
    assert re.fullmatch(r"NREF-evidence-\d{4}-\d\d-\d\d\.zip", waiting.value.suggested_filename)
    archive = zipfile.ZipFile(io.BytesIO(Path(waiting.value.path()).read_bytes()))
    assert archive.testzip() is None
    manifest = json.loads(archive.read("manifest.json"))
    assert {file["path"] for file in manifest["files"]} | {"manifest.json", "SHA256SUMS"} == set(archive.namelist())
    assert manifest["left_out"] == []
    assert len(json.loads(archive.read("attestations.json"))) >= 3
