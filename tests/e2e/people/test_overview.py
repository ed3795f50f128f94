"""The overview: real counts, and each waiting row leads to where it is resolved."""

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import Console, Signum
from tests.e2e.places import faults_on_every_screen, show


def test_overview_counts_equal_the_summary(console: Console, signum: Signum) -> None:
    summary = signum.call("GET", "/orgs/{org}/summary")
    page = console.sign_in(path="overview").heading("Overview").page
    counts = page.get_by_role("group", name="Organization")
    for name, number in (("Members", summary["members"]["total"]), ("Assets", summary["assets"]["total"])):
        expect(counts.get_by_role("link", name=name)).to_contain_text(str(number))
    chains = page.get_by_role("region", name="Enabled chains").get_by_role("listitem")
    expect(chains).to_have_count(summary["enabled_chains"])


def test_overview_figures_equal_the_insight_and_open_their_lists(console: Console, signum: Signum) -> None:
    issuance = signum.call("GET", "/orgs/{org}/insight")["issuance"]
    page = console.sign_in(path="overview").heading("Overview").page
    main = page.get_by_role("main")
    expect(main.get_by_role("link", name="Holders")).to_contain_text(str(issuance["holders"]["now"]))
    expect(main.get_by_role("link", name="Trades in 30 days")).to_contain_text(str(issuance["trades"]["now"]))
    main.get_by_role("link", name="Issued value").click()
    table = page.get_by_role("table", name="Assets by value")
    expect(table).to_be_in_viewport()
    row = table.get_by_role("row").filter(has_text="NREF")
    (asset,) = (one for one in issuance["assets"] if one["symbol"] == "NREF")
    expect(row).to_contain_text("last trade")
    row.get_by_role("link", name=str(asset["holders"]["now"]), exact=True).first.click()
    page.wait_for_url("**?tab=holders")
    expect(page.get_by_role("table", name="Holders")).to_be_visible()
    console.goto("overview")
    main.get_by_role("link", name="Valid attestations").click()
    page.wait_for_url("**/attestations?show=active")


def test_overview_chart_shows_value_and_holders_also_as_a_table(console: Console, signum: Signum) -> None:
    insight = signum.call("GET", "/orgs/{org}/insight")
    page = console.sign_in(path="overview").heading("Overview").page
    year = page.get_by_role("region", name="Last 52 weeks")
    expect(year.get_by_role("img", name="Issued value in 52 weeks")).to_be_visible()
    year.get_by_text("Show as table").click()
    rows = year.get_by_role("table", name="Issued value by week").get_by_role("row")
    expect(rows).to_have_count(1 + len(insight["days"]))
    expect(rows.nth(1)).to_contain_text(insight["issuance"]["currency"]["symbol"])
    assert faults_on_every_screen(page, "overview with its table") == []
    show(page)
    year.get_by_role("button", name="Holders").click()
    expect(year.get_by_role("img", name="Holders by asset in 52 weeks")).to_be_visible()
    page.wait_for_url("**?chart=holders")
    rows = year.get_by_role("table", name="Holders by week").get_by_role("row")
    expect(rows.filter(has_text="NREF issued")).to_have_count(1)
    page.reload()
    expect(year.get_by_role("button", name="Holders")).to_have_attribute("aria-pressed", "true")


def test_overview_calendar_lists_what_ends_and_opens_it(console: Console, signum: Signum) -> None:
    upcoming = signum.call("GET", "/orgs/{org}/insight")["upcoming"]
    page = console.sign_in(path="overview").heading("Overview").page
    calendar = page.get_by_role("region", name="Next 90 days")
    entries = calendar.get_by_role("listitem")
    expect(entries).to_have_count(min(len(upcoming), 4))
    if len(upcoming) > 4:
        calendar.get_by_role("button", name=f"Show all {len(upcoming)}").click()
        expect(entries).to_have_count(len(upcoming))
    entries.get_by_role("link", name="lapses without an approval").click()
    page.wait_for_url("**/approvals?id=*")


@pytest.mark.long
def test_overview_attention_items_link_to_their_resolution(console: Console) -> None:
    page = console.sign_in(path="overview").page
    box = page.get_by_role("region", name="Needs attention")
    box.get_by_role("button", name="Invitations").click()
    expect(box.get_by_role("listitem")).to_have_count(1)
    box.get_by_role("listitem").get_by_role("link", name="View").click()
    page.wait_for_url("**/members?tab=invitations")
    expect(page.get_by_role("tab", name="Invitations")).to_have_attribute("aria-selected", "true")

    console.goto("overview")
    box.get_by_role("button", name="Approvals").click()
    asked = box.get_by_role("listitem").filter(
        has_text="Forced transfer of 120 NREF from Kestrel Pension Trust to Alder Family Office"
    )
    expect(asked).to_contain_text("Priya Shah requested this")
    asked.get_by_role("link", name="Decide").click()
    expect(page.get_by_role("button", name="Approve", exact=True)).to_be_visible()
    expect(page.locator("ins").first).to_contain_text(" NREF")
    expect(page.get_by_text("no longer requires a second person for this action")).to_have_count(0)


def test_overview_of_an_empty_organization_shows_nothing_to_do(console: Console, signum: Signum) -> None:
    fresh = signum.call("POST", "/orgs", {"name": "Fresh Start"})["id"]
    page = console.sign_in().goto("overview", fresh).page
    expect(page.get_by_text("Nothing waits for you")).to_be_visible()
    expect(page.get_by_text("Nothing issued yet", exact=True)).to_be_visible()
    expect(page.get_by_text("Nothing ends in 90 days")).to_be_visible()
    page.get_by_role("link", name="Issue an asset").click()
    page.wait_for_url("**/assets/new")
