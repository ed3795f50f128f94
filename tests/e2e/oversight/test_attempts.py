"""Try to break it: every attempt on the page is made, and none succeeds.

The page is red, and these tests fail, if the rules in Python and a contract decide differently.
"""

import re

import pytest
from playwright.sync_api import Locator, expect

from tests.e2e.conftest import Console, Signum

AGAINST_RULES = (
    "A buyer from a blocked country",
    "A holder sends tokens during the lock-up",
    "A holder exceeds the maximum",
    "A sale with an expired attestation",
    "The issuer takes a buyer's cash",
)
AGAINST_MACHINERY = (
    "A chain stops during a bridge",
    "A chain refuses a packet",
    "A reorganization takes a block back",
)
KILLED = "The server is killed"
CHAIN_TIME = 60_000


def test_attempts_against_the_rules_are_refused_by_both(console: Console) -> None:
    page = console.sign_in(path="attempts").heading("Try to break it").page
    for title in AGAINST_RULES:
        attempt = _tried(console, title, "Refused")
        expect(attempt.get_by_text("Both refuse").first).to_be_visible()
        expect(attempt.get_by_text("They differ")).to_have_count(0)
        expect(attempt.get_by_text(", as before").first).to_be_visible()
    blocked = page.get_by_role("listitem", name=AGAINST_RULES[0])
    expect(blocked).to_contain_text(re.compile("A buyer from (Iran|North Korea), verified"))
    expect(blocked).to_contain_text(re.compile("Blocked: (Iran|North Korea)"))
    expect(page.get_by_text(re.compile("^Signum held against [0-9] of [0-9] attempts?"))).to_be_visible()

    page.reload()
    expect(page.get_by_role("listitem", name=AGAINST_RULES[0]).get_by_text("MarketRestricted(36)")).to_be_visible()


def test_only_admins_of_the_operator_can_try(console: Console, signum: Signum) -> None:
    local = next(person for person in signum.people if person.role == "admin" and person != signum.person())
    organization = signum.call("GET", "/auth/me", person=local)["org_id"]
    console.begin_session(local)
    page = console.goto("attempts", organization).page
    expect(page.get_by_text("Only admins of the operator's organization")).to_be_visible()
    expect(page.get_by_role("button", name="Try")).to_have_count(0)

    console.begin_session(signum.person("compliance_officer"))
    page = console.goto("attempts").page
    expect(page.get_by_text("You need the role Admin for this. Elin Halvorsen")).to_be_visible()
    expect(page.get_by_text("Every button makes")).to_have_count(0)
    expect(page.get_by_role("link", name="Back to overview")).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("^Try"))).to_have_count(0)
    expect(page.get_by_role("navigation", name="Main").get_by_role("link", name="Try to break it")).to_have_count(0)


@pytest.mark.long
def test_attempts_against_the_machinery_end_right(console: Console) -> None:
    console.sign_in(path="attempts").heading("Try to break it")
    for title in AGAINST_MACHINERY:
        attempt = _tried(console, title, "Repaired")
        expect(attempt.get_by_text("Everything works again.")).to_be_visible()
        expect(attempt.get_by_text("wrong", exact=True)).to_have_count(0)
        expect(attempt.get_by_role("link", name="View request")).to_be_visible()


@pytest.mark.long
def test_killed_server_continues_and_the_page_reconnects(console: Console) -> None:
    page = console.sign_in(path="attempts").heading("Try to break it").page
    page.set_viewport_size({"width": 1280, "height": 480})
    attempt = page.get_by_role("listitem", name=KILLED)
    attempt.get_by_role("button").click()
    scrolled = page.evaluate("window.scrollY")
    expect(page.get_by_text("Connection lost. Reconnecting.")).to_be_visible(timeout=CHAIN_TIME)
    expect(attempt.get_by_text("Everything works again.")).to_be_visible(timeout=CHAIN_TIME)
    expect(attempt.get_by_text("wrong", exact=True)).to_have_count(0)
    expect(attempt.get_by_role("button")).to_be_in_viewport()  # the page stays where it was
    assert page.evaluate("window.scrollY") == scrolled > 0
    assert all("WebSocket" in error for error in console.errors)
    console.errors.clear()


def _tried(console: Console, title: str, outcome: str) -> Locator:
    """Make an attempt; return its card once nothing broke."""
    attempt = console.page.get_by_role("listitem", name=title)
    attempt.get_by_role("button", name=re.compile("^Try")).click()
    expect(attempt.get_by_text(outcome, exact=True)).to_be_visible(timeout=CHAIN_TIME)
    return attempt
