"""Lists exported as CSV with their filters."""

import csv
import io
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import Console, Signum


def downloaded(console: Console, region: str = "") -> list[dict[str, str]]:
    """Return the records of the visible list, or of the one in a region."""
    place = console.page.get_by_role("region", name=region, exact=True) if region else console.page
    with console.page.expect_download() as waiting:
        place.get_by_role("link", name="Download CSV").click()
    assert waiting.value.suggested_filename.endswith(".csv")
    return list(csv.DictReader(io.StringIO(Path(waiting.value.path()).read_text("utf-8"))))


@pytest.mark.long
def test_filtered_list_is_exported_as_csv(console: Console, signum: Signum) -> None:
    """Parties, all and then by status and search; a market's orders and trades; a viewer can export too."""
    console.sign_in(signum.person("viewer"), "parties").heading("Parties")
    names = {row["name"] for row in downloaded(console)}
    assert {"Viktor Hale", "Alder Family Office"} <= names
    console.page.get_by_role("button", name="Verified").click()
    expect(console.page.get_by_role("row").filter(has_text="Viktor Hale")).to_have_count(0)
    console.page.get_by_label("Find a party").fill("okafor")
    expect(console.page.get_by_role("row").filter(has_text="Alder Family Office")).to_have_count(0)
    assert [row["name"] for row in downloaded(console)] == ["James Okafor"]
    market = signum.call("GET", "/orgs/{org}/markets", status="active")["markets"][0]
    console.goto(f"markets/{market['id']}")
    assert {row["market_id"] for row in downloaded(console, "Orders")} == {market["id"]}
    assert {row["market_id"] for row in downloaded(console, "Trades")} == {market["id"]}
    console.goto("assets").heading("Assets")
    assert {"NREF", "NIB31"} <= {row["symbol"] for row in downloaded(console)}
