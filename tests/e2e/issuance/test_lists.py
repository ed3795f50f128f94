"""What lists of issuance say at a glance: prices, volumes, claimed amounts and counts of each status."""

import re

from playwright.sync_api import expect

from tests.e2e.conftest import Console, Signum


def test_markets_show_last_price_and_volume(console: Console, signum: Signum) -> None:
    markets = signum.call("GET", "/orgs/{org}/markets", limit=100)["markets"]
    traded = next(market for market in markets if market["last_price"] is not None)
    assert traded["quote_decimals"] == 6
    console.sign_in(path="markets").heading("Markets")
    pair = f"{traded['asset_symbol']} / {traded['quote_symbol']}"
    rows = console.page.get_by_role("table", name="Markets").locator("tbody").get_by_role("row")
    chain = console.page.get_by_role("cell", name=traded["chain_name"], exact=True)
    row = rows.filter(has_text=pair).filter(has=chain)
    price = f"{int(traded['last_price']) / 10**6:,.6f}".rstrip("0").rstrip(".")
    expect(row).to_contain_text(re.compile(rf"{re.escape(price)}(\.?0*)\s*{traded['quote_symbol']}"))
    expect(row).to_contain_text(re.compile(rf"[\d,.]+\s*{traded['asset_symbol']}"))
    assert not re.search(r"\.\d{7}", row.text_content() or "")
    active = sum(market["status"] == "active" for market in markets)
    status = console.page.get_by_role("group", name="Status")
    expect(status.get_by_role("button", name=re.compile("^Active"))).to_have_text(f"Active{active}")


def test_distributions_show_claimed_amounts(console: Console, signum: Signum) -> None:
    found = signum.call("GET", "/orgs/{org}/distributions", limit=100)["distributions"]
    paying = next(one for one in found if one["status"] == "active" and one["claimed_recipients"] > 0)
    console.sign_in(path="distributions").heading("Distributions")
    row = console.page.get_by_role("row").filter(has_text=paying["name"]).first
    decimals = paying["currency_decimals"] if paying["currency_address"] else paying["asset_decimals"]
    claimed = re.escape(f"{int(paying['claimed_amount']) // 10**decimals:,}")
    total = re.escape(f"{int(paying['total_amount']) // 10**decimals:,}")
    expect(row).to_contain_text(re.compile(rf"{claimed}(\.\d\d?\D*)? of {total}(\.\d\d?)?"))
    expect(row).to_contain_text(f"{paying['claimed_recipients']} of {paying['total_recipients']}")


def test_bridges_are_counted_by_status(console: Console, signum: Signum) -> None:
    def count(**params: str) -> int:
        answer = signum.call("GET", "/orgs/{org}/bridges", limit=1, count="estimated", **params)
        return int(answer["estimatedCount"])

    console.sign_in(path="bridges").heading("Bridges")
    status = console.page.get_by_role("group", name="Status")
    for word, params in (("All", {}), ("Confirmed", {"status": "confirmed"}), ("Failed", {"status": "failed"})):
        expect(status.get_by_role("button", name=re.compile(f"^{word}"))).to_have_text(f"{word}{count(**params)}")
    asset = signum.call("GET", "/orgs/{org}/bridges", limit=1)["bridges"][0]
    console.page.get_by_label("Asset").select_option(value=asset["asset_id"])
    total = count(asset_id=asset["asset_id"])
    expect(status.get_by_role("button", name=re.compile("^All"))).to_have_text(f"All{total}")
