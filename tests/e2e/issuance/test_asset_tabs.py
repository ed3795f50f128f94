"""An asset's tabs: its chains, its distributions, everything that happened to it, and an address that names no tab."""

import csv
import io
import re

from playwright.sync_api import expect

from tests.e2e.conftest import Console, Signum


def test_activity_shows_every_kind_filters_and_exports(console: Console, signum: Signum, ids: dict[str, str]) -> None:
    page = console.sign_in(path=f"assets/{ids['asset']}?tab=activity").page
    panel = page.get_by_role("region", name="Activity", exact=True)
    rows = panel.get_by_role("table", name="Activity of this asset").locator("tbody").get_by_role("row")
    expect(rows.first).to_be_visible()
    panel.get_by_role("button", name="Trades", exact=True).click()
    expect(rows.first).to_contain_text(re.compile(r"Trade of [\d,.]+…? NREF at "))
    expect(rows.filter(has_text="Transfer of")).to_have_count(0)
    answer = page.context.request.get(signum.url + str(panel.get_by_role("link", name="CSV").get_attribute("href")))
    exported = list(csv.DictReader(io.StringIO(answer.text())))
    assert {row["kind"] for row in exported} == {"trade"}
    expect(rows).to_have_count(min(len(exported), 50))
    rows.first.get_by_role("link", name=re.compile("^Trade of")).click()
    page.wait_for_url(re.compile(r"/markets/[0-9a-f-]{36}"))


def test_chains_and_distributions_of_an_asset_have_tabs(console: Console, signum: Signum, ids: dict[str, str]) -> None:
    page = console.sign_in(path=f"assets/{ids['asset']}").page
    page.get_by_role("tab", name="Chains").click()
    expect(page.get_by_role("table", name="Tokens by chain")).to_contain_text("Sepolia Devnet")
    expect(page).to_have_url(re.compile(r"tab=chains"))
    page.get_by_role("tab", name="Distributions").click()
    records = signum.call("GET", f"/orgs/{{org}}/assets/{ids['asset']}/distributions")["distributions"]
    table = page.get_by_role("table", name="Distributions of this asset")
    expect(table.locator("tbody").get_by_role("row")).to_have_count(len(records))
    expect(table).to_contain_text(records[0]["name"])


def test_unknown_tab_says_so_and_leads_to_the_overview(console: Console, ids: dict[str, str]) -> None:
    page = console.sign_in(path=f"assets/{ids['asset']}?tab=nonsense").page
    expect(page.get_by_text("This tab does not exist")).to_be_visible()
    expect(page.get_by_role("tab", selected=True)).to_have_count(0)
    page.get_by_role("main").get_by_role("button", name="Overview").click()
    expect(page.get_by_role("tab", name="Overview")).to_have_attribute("aria-selected", "true")


def test_lists_of_distributions_and_webhooks_export_csv(console: Console, signum: Signum, ids: dict[str, str]) -> None:
    page = console.sign_in(path="distributions").page
    heads = {"distributions": "total_amount", "webhooks": "url", f"webhooks/{ids['webhook']}": "event_id"}
    for path, column in heads.items():
        console.goto(path)
        answer = page.context.request.get(signum.url + str(page.get_by_role("link", name="CSV").get_attribute("href")))
        assert column in answer.text().splitlines()[0].split(","), path
