"""An asset's tabs: its chains, its distributions, everything that happened to it, and an address that names no tab."""

import csv
import io
import re

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import Console, Signum
from tests.e2e.places import faults_on_every_screen, show


def test_overview_figures_open_their_lists(console: Console, signum: Signum, ids: dict[str, str]) -> None:
    path = f"/orgs/{{org}}/assets/{ids['asset']}"
    holders = signum.call("GET", f"{path}/cap-table")["investors"]
    (market,) = signum.call("GET", f"{path}/markets")["markets"]
    price = int(market["last_price"]) / 10 ** market["quote_decimals"]
    supply = int(signum.call("GET", path)["total_supply"]) // 10**18
    page = console.sign_in(path=f"assets/{ids['asset']}").page
    figures = page.get_by_role("group", name="Figures")
    assert holders > 0
    expect(figures).to_contain_text(f"Investors{holders}with tokens on any chain")
    expect(figures).to_contain_text(f"Value of the supply{price * supply:,.0f}tUSDat the last price")
    expect(figures).to_contain_text("Chains1 chainSepolia Devnet")
    expect(figures).to_contain_text("1 active")
    listed = page.get_by_role("table", name="Markets by chain").locator("tbody").get_by_role("row")
    expect(listed).to_have_count(1)
    expect(listed).to_contain_text(f"{price:,g}")

    figures.get_by_role("link", name=str(holders), exact=True).click()
    expect(page.get_by_role("tabpanel", name="Cap table")).to_contain_text(f"Investors{holders}")
    page.get_by_role("tab", name="Overview").click()
    figures.get_by_role("link").filter(has_text=f"{int(market['volume']) // 10**18:,}").click()
    filters = page.get_by_role("region", name="Activity", exact=True).get_by_role("group", name="Kind")
    expect(filters.get_by_role("button", name="Trades")).to_have_attribute("aria-pressed", "true")
    page.go_back()
    figures.get_by_role("link", name=f"{price:g}").click()
    console.heading("NREF / tUSD")
    expect(page.get_by_text("Volume of all trades")).to_be_visible()


def test_overview_shows_prices_and_volume_of_all_markets(console: Console, signum: Signum, ids: dict[str, str]) -> None:
    found = signum.call("GET", f"/orgs/{{org}}/assets/{ids['asset']}/prices", step="month")
    trades = sum(one["trades"] for one in found["periods"])
    page = console.sign_in(path=f"assets/{ids['asset']}").page
    prices = page.get_by_role("region", name="Price and volume")
    expect(prices.get_by_role("img")).to_have_accessible_name(
        re.compile(r"Price in tUSD from .+, last [\d.,]+; volume")
    )
    prices.get_by_role("button", name="All time").click()
    page.wait_for_url("**period=all**")
    expect(prices).to_contain_text(f"Trades{trades}since the first trade")
    prices.get_by_text("Show as table").click()
    rows = prices.get_by_role("table", name="Prices by month").locator("tbody").get_by_role("row")
    expect(rows).to_have_count(len(found["periods"]))
    assert faults_on_every_screen(page, "prices of an asset") == []
    show(page)
    prices.get_by_role("link", name=str(trades), exact=True).click()
    filters = page.get_by_role("region", name="Activity", exact=True).get_by_role("group", name="Kind")
    expect(filters.get_by_role("button", name="Trades")).to_have_attribute("aria-pressed", "true")

    assets = signum.call("GET", "/orgs/{org}/assets", limit=100)["assets"]
    listed = {market["asset_id"] for market in signum.call("GET", "/orgs/{org}/markets", limit=100)["markets"]}
    without = next(one["id"] for one in assets if one["id"] not in listed and one["status"] == "active")
    console.goto(f"assets/{without}")
    expect(prices.get_by_text("Deploy a market, so that the asset gets a price.")).to_be_visible()
    prices.get_by_role("link", name="Deploy market").click()
    page.wait_for_url(f"**/markets/new?asset={without}")


@pytest.mark.long
def test_overview_of_an_asset_without_a_trade_says_so(console: Console, signum: Signum) -> None:
    assets = signum.call("GET", "/orgs/{org}/assets", limit=100)["assets"]
    traded = {m["asset_id"] for m in signum.call("GET", "/orgs/{org}/markets", limit=100)["markets"] if m["last_price"]}
    asset = next(asset for asset in assets if asset["id"] not in traded and asset["status"] == "active")
    page = console.sign_in(path=f"assets/{asset['id']}").page
    figures = page.get_by_role("group", name="Figures")
    expect(figures).to_contain_text("Last pricenoneno trade yet")
    expect(figures).to_contain_text("Value of the supplynoneneeds a price")


def test_activity_shows_every_kind_filters_and_exports(console: Console, signum: Signum, ids: dict[str, str]) -> None:
    page = console.sign_in(path=f"assets/{ids['asset']}?tab=activity").page
    panel = page.get_by_role("region", name="Activity", exact=True)
    rows = panel.get_by_role("table", name="Activity of this asset").locator("tbody").get_by_role("row")
    expect(rows.first).to_be_visible()
    expect(rows.first.get_by_role("cell").last.locator("time")).to_be_in_viewport(ratio=1)
    assets = signum.call("GET", "/orgs/{org}/assets")["assets"]
    bridged = next(asset["id"] for asset in assets if asset["symbol"] == "NIB31")
    for asset, kind, words in (
        (ids["asset"], "Markets", "Deployment of a market for NREF"),
        (bridged, "Bridges", r"Bridge of [\d,]+ NIB31 to Sepolia"),
    ):  # fmt: skip
        console.goto(f"assets/{asset}?tab=activity")
        panel.get_by_role("button", name=kind, exact=True).click()
        page.wait_for_url(f"**kind={kind.lower().removesuffix('s')}**")
        expect(rows.first).to_contain_text(re.compile(words))
    console.goto(f"assets/{ids['asset']}?tab=activity")
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


@pytest.mark.long
def test_cap_table_adds_up_and_is_printed(console: Console, signum: Signum, ids: dict[str, str]) -> None:
    page = console.sign_in(path=f"assets/{ids['asset']}?tab=cap-table").page
    holders = page.get_by_role("region", name="Holders")
    expect(holders.get_by_role("table", name="Cap table")).to_contain_text("Alder Family Office")
    expect(
        page.get_by_role("region", name="Reconciliation").get_by_text("equals the supply on the chain").first
    ).to_be_visible()
    expect(page.get_by_text("agrees with every chain")).to_be_attached()
    link = page.get_by_role("group", name="Time of the cap table").get_by_role("link", name="PDF")
    made = page.context.request.get(signum.url + str(link.get_attribute("href")))
    assert made.body().startswith(b"%PDF-")
    console.goto(f"assets/{ids['asset']}?tab=cap-table&as_of=2020-01-01")
    expect(page.get_by_text("No one held this asset at that time")).to_be_visible()


def test_selected_tab_stays_in_view_in_a_narrower_window(console: Console, ids: dict[str, str]) -> None:
    page = console.sign_in(path=f"assets/{ids['asset']}").page
    page.get_by_role("tab", name="Activity").click()
    page.set_viewport_size({"width": 390, "height": 900})
    expect(page.get_by_role("tab", name="Activity")).to_be_in_viewport(ratio=1)
    expect(page.get_by_role("tab", name="Overview")).not_to_be_in_viewport()


def test_unknown_tab_says_so_and_leads_to_the_overview(console: Console, ids: dict[str, str]) -> None:
    page = console.sign_in(path=f"assets/{ids['asset']}?tab=nonsense").page
    expect(page.get_by_text("This tab does not exist")).to_be_visible()
    expect(page.get_by_role("tab", selected=True)).to_have_count(0)
    page.get_by_role("main").get_by_role("button", name="Overview").click()
    expect(page.get_by_role("tab", name="Overview")).to_have_attribute("aria-selected", "true")


@pytest.mark.long
def test_lists_of_distributions_and_webhooks_export_csv(console: Console, signum: Signum, ids: dict[str, str]) -> None:
    page = console.sign_in(path="distributions").page
    heads = {"distributions": "total_amount", "webhooks": "url", f"webhooks/{ids['webhook']}": "event_id"}
    for path, column in heads.items():
        console.goto(path)
        answer = page.context.request.get(signum.url + str(page.get_by_role("link", name="CSV").get_attribute("href")))
        assert column in answer.text().splitlines()[0].split(","), path
