"""The demo's year: overview, audit log, trades and statements agree about the time, and the chains with them."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.e2e.conftest import Console, Signum, _forget_person, serving

pytestmark = [pytest.mark.long, pytest.mark.nightly]


@pytest.fixture(scope="module")
def signum(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Signum]:
    """A server whose demo begins a year ago."""
    with serving(tmp_path_factory.mktemp("year"), SIGNUM_DEMO_HISTORY="1") as started:
        yield started


@pytest.fixture
def console(shared_context: BrowserContext, signum: Signum) -> Iterator[Console]:
    """A console of this server."""
    console = Console(shared_context.new_page(), signum)
    yield console
    _forget_person(shared_context, signum.url)
    assert console.errors == []


def months(times: list[str]) -> set[str]:
    return {time[:7] for time in times}


def test_year_is_what_people_see(console: Console, signum: Signum) -> None:
    """Elin sees the present's tasks, and what happened last spring."""
    market = signum.records()["market"]
    page = console.sign_in(path="overview").heading("Overview").page
    expect(page.get_by_role("region", name="Needs attention")).to_contain_text("6 parties wait for identity review")
    console.goto("audit").heading("Audit log")
    last_winter = (datetime.now(UTC) - timedelta(days=322)).date()
    page.get_by_label("Until", exact=True).fill(last_winter.isoformat())
    expect(page.get_by_role("row").filter(has_text="Party verified").first).to_contain_text("Alder Family Office")
    page.get_by_label("Until", exact=True).fill("")
    page.get_by_role("button", name="Verify").click()
    expect(page.get_by_role("status").filter(has_text="The hash chain is intact.")).to_be_visible()
    console.goto(f"markets/{market}")
    check_trades(page)


def dates(trades: Locator) -> list[str]:
    """Return the times of the trades on a page of the list."""
    expect(trades.get_by_role("row").nth(1)).to_be_visible()
    return trades.locator("time").evaluate_all("all => all.map(one => one.dateTime)")


def check_trades(page: Page) -> None:
    """The trades are spread over eight months, around a slowly rising price."""
    trades = page.get_by_role("region", name="Trades", exact=True)
    times = dates(trades)
    older = trades.get_by_role("button", name="Older")
    while older.is_enabled():
        first = trades.get_by_role("row").nth(1).get_by_role("button", name="Copy transaction")
        shown = first.get_attribute("aria-label") or ""
        older.click()
        expect(first).not_to_have_attribute("aria-label", shown)
        times += dates(trades)
    # The two who bought first did so at the same time.
    first_buyers = re.compile("Meridian Endowment|Alder Family Office")
    expect(trades.get_by_role("row").filter(has_text=first_buyers).last).to_be_visible()
    assert len(months(times)) >= 8
    assert times == sorted(times, reverse=True)


def test_investor_has_a_statement_of_each_month(console: Console, signum: Signum) -> None:
    console.sign_in_as_client(signum.person("client"))
    page = console.page
    page.get_by_role("link", name="Documents").first.click()
    statements = page.get_by_role("region", name="Statements").get_by_role("listitem")
    expect(statements.nth(7)).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("link", name=re.compile("Download the statement of .* as CSV")).nth(1).click()
    assert "NREF" in download.value.path().read_text()


def test_records_and_blocks_agree_about_the_time(signum: Signum) -> None:
    """Requests and the log have the times of their blocks; the chains' clocks and sessions are the present's."""
    devnet = signum.call("GET", "/devnet")
    assert devnet["clock_offset_seconds"] == 0
    now = datetime.now(UTC)
    assert all(datetime.fromisoformat(chain["time"]) <= now + timedelta(seconds=5) for chain in devnet["chains"])
    requests = listed(signum, "/orgs/{org}/requests", "requests")
    assert len(months([one["created_at"] for one in requests])) >= 11
    assert {one["status"] for one in requests} == {"succeeded", "failed", "awaiting_approval"}
    retried = [
        one for one in requests if one["kind"] == "bridge.send" and one["created_at"] < str(now - timedelta(days=40))
    ]
    assert [one["status"] for one in retried] == ["succeeded"]
    entries = listed(signum, "/orgs/{org}/audit", "audit")
    times = [entry["at"] for entry in entries]
    assert times == sorted(times, reverse=True)
    assert len(months(times)) >= 11
    assert {entry["action"] for entry in entries} >= {
        "attestation.revoked", "asset.updated", "request.retried", "control.confirmed", "distribution.activated",
    }  # fmt: skip
    sessions = signum.call("GET", "/auth/sessions")["sessions"]
    assert all(datetime.fromisoformat(one["created_at"]) > now - timedelta(hours=2) for one in sessions)


def test_cap_table_of_an_earlier_day_lists_who_held_then(console: Console, signum: Signum) -> None:
    asset = next(one["id"] for one in listed(signum, "/orgs/{org}/assets", "assets") if one["symbol"] == "NREF")
    day = (datetime.now(UTC) - timedelta(days=270)).date().isoformat()
    page = console.sign_in(path=f"assets/{asset}?tab=cap-table&as_of={day}").page
    table = page.get_by_role("table", name="Cap table")
    expect(table).to_contain_text("Solveig Aas")
    expect(table).not_to_contain_text("Brightwater LP")
    expect(
        page.get_by_role("region", name="Reconciliation").get_by_text("equals the supply on the chain")
    ).to_be_visible()
    page.get_by_role("group", name="Time of the cap table").get_by_label("As of, date").fill(
        datetime.now(UTC).date().isoformat()
    )
    expect(table).to_contain_text("Brightwater LP")
    page.get_by_role("button", name="Compare").click()
    expect(page.get_by_role("group", name="Change").get_by_role("button", name="Joined")).to_be_visible()


def listed(signum: Signum, path: str, name: str) -> list[dict[str, Any]]:
    """Return every record of a list."""
    found: list[dict[str, Any]] = []
    cursor = None
    while True:
        page = signum.call("GET", path, limit=100, **({"cursor": cursor} if cursor else {}))
        found += page[name]
        if not (cursor := page["nextCursor"]):
            return found


def test_chains_and_tables_agree(signum: Signum) -> None:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SIGNUM_")}
    run = [sys.executable, "-m", "backend.cli", "reconcile"]
    done = subprocess.run(
        run, env=kept | {"SIGNUM_HOME": str(signum.home)}, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 differences" in done.stdout


def test_present_is_that_of_a_demo_without_a_year(signum: Signum) -> None:
    """The same people, assets, applicants and pending approval."""
    assets = listed(signum, "/orgs/{org}/assets", "assets")
    assert sorted((one["symbol"], one["status"]) for one in assets) == [
        ("NHLT", "active"), ("NIB31", "active"), ("NREF", "active"),
    ]  # fmt: skip
    supply = next(one["total_supply"] for one in assets if one["symbol"] == "NREF")
    assert supply == str(2_500_000 * 10**18)
    approvals = signum.call("GET", "/orgs/{org}/approvals", status="pending")["approvals"]
    assert [one["action"] for one in approvals] == ["token.forced_transfer"]
    parties = signum.call("GET", "/identity/parties", organization_id=signum.organization, limit=100)["parties"]
    states = {one["name"]: one["status"] for one in parties}
    assert (states["Marta Lindqvist"], states["Harbor Point Advisors"]) == ("created", "verifying")
    assert (states["Viktor Hale"], states["James Okafor"]) == ("rejected", "verified")
    bridges = signum.call("GET", "/orgs/{org}/bridges")["bridges"]
    assert sorted(one["status"] for one in bridges) == ["confirmed", "confirmed", "failed"]


def test_lost_wallet_lost_its_attestation_too(console: Console, signum: Signum) -> None:
    """The recovery revoked it, so that the thief of the key cannot trade; the order dialog says so before a choice."""
    found = signum.call("GET", "/orgs/{org}/attestations", q="Solveig Aas", limit=100)["attestations"]
    new, lost = (one for one in found if one["chain_eid"] == 40161)
    assert (new["status"], lost["status"]) == ("active", "revoked")
    assert lost["revocation_reason"] == f"Wallet recovered: tokens moved to {new['wallet_address']}"

    market = signum.records()["market"]
    page = console.sign_in(path=f"markets/{market}").page
    page.get_by_role("button", name="Place order").click()
    wallets = page.get_by_role("dialog").get_by_label("Wallet").locator("option")
    expect(wallets.filter(has_text="Solveig Aas custody").filter(has_text="not eligible")).to_have_count(1)
    expect(wallets.filter(has_text="Solveig Aas custody, new").filter(has_text="not eligible")).to_have_count(0)
