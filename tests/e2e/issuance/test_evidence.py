"""The evidence of an asset: a pack is read, verified, downloaded, printed, changed, and opened again."""

import io
import json
import zipfile
from pathlib import Path

from playwright.sync_api import Page, expect
from pypdf import PdfReader

from tests.e2e.conftest import Console, Signum


def test_pack_is_read_verified_downloaded_and_a_changed_one_is_found_out(
    console: Console, signum: Signum, tmp_path: Path
) -> None:
    """A viewer reads the pack of an asset, verifies and downloads it. The same pack with another rule is opened as a
    received file, and its verification names the file."""
    asset = next(a for a in signum.call("GET", "/orgs/{org}/assets")["assets"] if a["symbol"] == "NREF")
    page = console.sign_in(signum.person("viewer"), f"assets/{asset['id']}").heading(asset["name"]).page
    page.get_by_role("link", name="Evidence").click()
    page.wait_for_url(f"**/assets/{asset['id']}/evidence")
    console.heading("Evidence")
    page.get_by_role("button", name="Create evidence pack").click()
    holders = page.get_by_role("table", name="Holders on Sepolia Devnet")
    expect(holders.get_by_role("row").filter(has_text="Kestrel Pension Trust")).to_be_visible()
    rules = page.get_by_role("region", name="Rules", exact=True).get_by_role("row").filter(has_text="Framework")
    expect(rules).to_contain_text("Reg A+ Tier 2")
    places = [cell.bounding_box() for cell in rules.get_by_role("cell").all()]
    assert len({box and box["y"] for box in places}) == 1, "the cells of a row are side by side"
    page.set_viewport_size({"width": 390, "height": 844})
    places = [cell.bounding_box() for cell in rules.locator("td").all()]
    assert all(box and box["width"] > 250 for box in places), "on a phone each cell has a line of its own"
    page.set_viewport_size({"width": 1440, "height": 900})
    files = page.get_by_role("list", name="Files of the pack").get_by_role("listitem")
    expect(files.filter(has_text="rules.json")).to_contain_text("equals its hash in the pack")

    page.get_by_role("button", name="Verify").click()
    checks = page.get_by_role("region", name="Verification", exact=True)
    expect(checks.get_by_role("status")).to_contain_text("The pack is unchanged and agrees with the chains.")
    expect(checks.get_by_role("row").filter(has_text="Balances of the holders").first).to_contain_text("OK")

    archive = downloaded(page, "Download archive")
    with zipfile.ZipFile(io.BytesIO(archive)) as pack:
        content = {name: pack.read(name) for name in pack.namelist()}
    manifest = json.loads(content["manifest.json"])
    assert {file["path"] for file in manifest["files"]} | {"manifest.json", "SHA256SUMS"} == set(content)
    assert manifest["left_out"] == []
    text = "".join(sheet.extract_text() for sheet in PdfReader(io.BytesIO(downloaded(page, "Download PDF"))).pages)
    assert "Evidence of NREF" in text
    assert "Kestrel Pension Trust" in text

    rules_file = json.loads(content["rules.json"])
    rules_file["chains"][0]["in_force"]["max_holders"] = 12_345
    changed = tmp_path / "received.zip"
    with zipfile.ZipFile(changed, "w") as pack:
        for name, data in (content | {"rules.json": json.dumps(rules_file).encode()}).items():
            pack.writestr(name, data)
    opened(page, changed)
    note = page.get_by_text("You opened a received pack").locator("..")
    expect(note).to_contain_text("received.zip")
    expect(files.filter(has_text="rules.json")).to_contain_text("differs from its hash in the pack")
    page.get_by_role("button", name="Verify").click()
    expect(checks.get_by_role("status")).to_contain_text("Parts of the pack differ.")
    expect(checks.get_by_role("row").filter(has_text="rules.json")).to_contain_text("Differs")
    expect(checks.get_by_role("row").filter(has_text="Compliance rules").first).to_contain_text("12,345")

    broken = tmp_path / "broken.zip"
    broken.write_bytes(b"not a zip")
    opened(page, broken)
    expect(page.get_by_role("alert")).to_contain_text("it is not a zip archive")
    expect(note).to_contain_text("received.zip")
    console.errors.clear()  # the browser reports the refused file


def test_page_makes_a_pack_only_when_it_is_asked_for(console: Console, signum: Signum) -> None:
    """Opening the page writes nothing. A pack that was made is shown again with its age, also after other pages; its
    fields have no column names on a phone."""
    asset = next(a for a in signum.call("GET", "/orgs/{org}/assets")["assets"] if a["symbol"] == "NIB31")
    evidence = f"assets/{asset['id']}/evidence"

    def made() -> int:
        found = signum.call("GET", "/orgs/{org}/audit", subject=asset["id"], action="asset.evidence_exported")
        return len(found["audit"])

    before = made()
    page = console.sign_in(signum.person("viewer"), evidence).heading("Evidence").page
    create = page.get_by_role("button", name="Create evidence pack")
    expect(create).to_be_visible()
    expect(page.get_by_text("Create an evidence pack")).to_be_visible()
    expect(page.get_by_role("button", name="Verify")).to_have_count(0)
    assert made() == before
    create.click()
    facts = page.get_by_role("region", name="Asset", exact=True)
    expect(facts.get_by_role("row").filter(has_text="Symbol")).to_contain_text("NIB31")
    age = page.get_by_role("note", name="Age of the pack")
    expect(age).to_contain_text("ago")
    assert made() == before + 1

    page.get_by_role("main").get_by_role("link", name="NIB31", exact=True).click()
    console.heading(asset["name"])
    page.get_by_role("link", name="Evidence").click()
    expect(age).to_be_visible()
    expect(facts.get_by_role("row").filter(has_text="Symbol")).to_contain_text("NIB31")
    assert made() == before + 1

    page.set_viewport_size({"width": 390, "height": 844})
    expect(facts.locator("td[data-label='']").first).to_be_visible()
    expect(facts.locator("td:not([data-label=''])")).to_have_count(0)
    page.reload()
    expect(create).to_be_visible()
    expect(page.get_by_text("The last pack was made")).to_contain_text("by Marc Dubois")
    assert made() == before + 1


def downloaded(page: Page, button: str) -> bytes:
    with page.expect_download() as waiting:
        page.get_by_role("button", name=button).click()
    return Path(waiting.value.path()).read_bytes()


def opened(page: Page, file: Path) -> None:
    with page.expect_file_chooser() as waiting:
        page.get_by_role("button", name="Open received pack").click()
    waiting.value.set_files(file)
