"""The guided tours, to their end: each step outlines its control and waits until it has really happened."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.conftest import Console, Signum
from tests.e2e.demo.presenter import CHAIN_TIME, Presenter
from tests.e2e.oversight.test_attestations import withdraw

SEPOLIA = "Sepolia Devnet"


@pytest.fixture(autouse=True)
def no_draft(signum: Signum) -> None:
    """Delete the draft of an asset that an earlier test has left: the tour would lead to it first."""
    signum.call("DELETE", "/orgs/{org}/drafts/asset")


def test_tour_is_offered_left_resumed_and_ended(console: Console) -> None:
    page = console.sign_in(path="overview").heading("Overview").page
    page.get_by_role("button", name="Start tour").click()
    console.heading("New asset")
    card = _card(page)
    expect(card.get_by_text("Step 1 of 8")).to_be_visible()
    expect(_outlined(page)).to_contain_text("Name")
    page.get_by_label("Name", exact=True).fill("Harbor Income Fund")
    page.get_by_label("Symbol").fill("HIF")
    expect(_outlined(page)).to_contain_text("Chain")
    page.get_by_label("Chain").select_option(index=1)
    expect(_outlined(page)).to_contain_text("Reg D")
    page.get_by_role("radio", name=re.compile("^MiCA|^Reg S")).first.click()  # any framework is a choice
    expect(_outlined(page)).to_have_text("Create asset")

    card.get_by_role("button", name="Pause").click()
    expect(_outlined(page)).to_have_count(0)
    page.reload()
    page.get_by_role("button", name="Resume tour").click()
    expect(card.get_by_text("Step 1 of 8")).to_be_visible()
    console.goto("wallets").heading("Wallets")
    expect(_outlined(page)).to_have_text(re.compile("^Assets"))

    card.get_by_role("button", name="End tour").click()
    expect(card).to_have_count(0)
    page.reload()
    console.heading("Wallets")
    expect(card).to_have_count(0)
    console.goto("overview").heading("Overview")
    expect(page.get_by_role("button", name="Start tour")).to_be_visible()


def test_tour_that_was_left_continues_from_the_overview(console: Console) -> None:
    page = console.sign_in(path="overview").heading("Overview").page
    page.get_by_role("button", name="Start tour").click()
    console.heading("New asset")
    _card(page).get_by_role("button", name="Pause").click()
    expect(page.get_by_role("button", name="Resume tour")).to_be_visible()
    console.goto("overview").heading("Overview")
    left = page.get_by_role("region", name="The tour you left")
    expect(left).to_contain_text("Step 1 of 8")
    left.get_by_role("button", name="Continue the tour").click()
    expect(_card(page).get_by_text("Step 1 of 8")).to_be_visible()
    expect(left).to_have_count(0)


def test_tour_outlines_the_offered_draft_before_the_empty_form(console: Console) -> None:
    page = console.sign_in(path="overview").heading("Overview").page
    page.get_by_role("button", name="Start tour").click()
    console.heading("New asset")
    expect(_outlined(page)).to_contain_text("Name")
    page.get_by_label("Name", exact=True).fill("Harbor Income Fund")
    page.keyboard.press("Tab")
    page.wait_for_url("**/assets/new?draft=1")
    console.goto("assets/new").heading("New asset")
    draft = page.get_by_role("region", name="Draft")
    expect(_outlined(page)).to_have_text("Resume draft")
    draft.get_by_role("button", name="Resume draft").click()
    expect(page.get_by_label("Name", exact=True)).to_have_value("Harbor Income Fund")
    expect(_outlined(page)).to_contain_text("Symbol")
    console.goto("assets/new").heading("New asset")
    draft.get_by_role("button", name="Start over").click()
    expect(_outlined(page)).to_contain_text("Name")


def test_show_me_leads_to_a_box_under_the_footer_of_a_drawer(console: Console) -> None:
    page = console.sign_in(path="overview").heading("Overview").page
    page.set_viewport_size({"width": 1280, "height": 800})
    page.get_by_role("button", name="Start tour").click()
    console.heading("New asset")
    page.evaluate(SECOND_STEP)
    page.reload()
    link = _card(page).get_by_role("link", name="Show me")
    expect(_card(page).get_by_text("Step 2 of")).to_be_visible()
    link.click()
    box = page.get_by_role("checkbox", name="Accredited investor")
    expect(_outlined(page)).to_contain_text("Accredited investor")
    expect(box).to_be_in_viewport(ratio=1)
    expect(link).not_to_have_attribute("data-tour-too", "")
    box.hover()
    page.mouse.wheel(0, -5_000)
    expect(link).to_have_attribute("data-tour-too", "")
    link.click()
    expect(link).not_to_have_attribute("data-tour-too", "")


def test_show_me_keeps_what_was_entered(console: Console) -> None:
    page = console.sign_in(path="overview").heading("Overview").page
    page.get_by_role("button", name="Start tour").click()
    console.heading("New asset")
    page.get_by_label("Name", exact=True).fill("Harbor Income Fund")
    page.get_by_label("Symbol").fill("HIF")
    expect(_outlined(page)).to_contain_text("Chain")
    page.evaluate("window.samePage = true")
    _card(page).get_by_role("link", name="Show me").click()
    expect(page.locator("[data-tour-now]")).to_contain_text("Chain")
    expect(page.locator("[data-tour-now]")).to_have_count(0)
    expect(page.get_by_label("Chain")).to_be_in_viewport()
    page.get_by_label("Chain").select_option(index=1)  # the form still responds, and still has what was entered
    expect(_outlined(page)).to_contain_text("Reg D")
    expect(page.get_by_label("Name", exact=True)).to_have_value("Harbor Income Fund")
    assert page.evaluate("window.samePage")


def test_page_that_show_me_led_to_does_not_scroll_against_the_keyboard(console: Console) -> None:
    page = console.sign_in(path="overview").heading("Overview").page
    page.set_viewport_size({"width": 1280, "height": 700})
    page.get_by_role("button", name="Start tour").click()
    console.heading("New asset")
    link = _card(page).get_by_role("link", name="Show me")
    expect(_outlined(page)).to_contain_text("Name")
    link.click()
    expect(page.locator("[data-tour-now]")).to_contain_text("Name")
    page.keyboard.press("End")
    expect(link).to_have_attribute("data-tour-too", "")
    expect(page.get_by_label("Name", exact=True)).not_to_be_in_viewport()


def test_card_stays_where_it_is_beside_a_drawer_and_below_a_dialog(console: Console, signum: Signum) -> None:
    page = console.sign_in(signum.person("compliance_officer"), "overview").heading("Overview").page
    Presenter(page).begin()
    drawer = page.locator(".drawer")
    expect(drawer).to_be_visible()
    beside = _card(page).bounding_box()
    foot = drawer.bounding_box()
    assert beside
    assert foot
    assert foot["y"] + foot["height"] < beside["y"]
    console.goto("parties").heading("Parties")
    expect(_card(page)).to_be_visible()
    assert _card(page).bounding_box() == beside
    page.get_by_role("button", name="Register party").click()
    expect(page.get_by_role("dialog", name="Register a party")).to_be_visible()
    assert _card(page).bounding_box() == beside


@pytest.mark.parametrize("size", [(1280, 720), (390, 844)])
def test_every_button_can_be_scrolled_above_the_tours_card(console: Console, size: tuple[int, int]) -> None:
    """The page of attempts has its buttons at the right edge, where the card once lay over them."""
    page = console.sign_in(path="overview").heading("Overview").page
    page.get_by_role("button", name="Start tour").click()
    expect(_card(page)).to_be_visible()
    page.set_viewport_size({"width": size[0], "height": size[1]})
    console.goto("attempts").heading("Try to break it")
    expect(_card(page)).to_be_visible()
    buttons = page.get_by_role("button", name=re.compile("^Try: "))
    expect(buttons.first).to_be_visible()
    for button in buttons.all():
        button.focus()
        own, card = button.bounding_box(), _card(page).bounding_box()
        assert own
        assert card
        assert own["y"] + own["height"] <= card["y"]


def test_tour_is_offered_to_people_who_can_take_it(console: Console, signum: Signum) -> None:
    console.begin_session(signum.person("viewer"))
    console.goto("overview").heading("Overview")
    expect(console.page.get_by_role("button", name="Start tour")).to_have_count(0)


def test_admins_tour_is_not_shown_to_the_officer(console: Console, signum: Signum) -> None:
    """In the same browser, the officer is offered their own tour."""
    page = console.sign_in(path="overview").heading("Overview").page
    page.get_by_role("button", name="Start tour").click()
    expect(_card(page).get_by_text("Step 1 of 8")).to_be_visible()
    console.begin_session(signum.person("compliance_officer"))
    console.goto("overview").heading("Overview")
    page.get_by_role("button", name="Start tour").click()
    expect(_card(page).get_by_text("Step 1 of 6")).to_be_visible()


def test_tour_leads_to_a_party_that_waits_or_says_how_to_register_one(console: Console, signum: Signum) -> None:
    """The second step of the issuer, also where no party waits."""
    page = console.sign_in(signum.person("compliance_officer"), "overview").heading("Overview").page
    presenter = Presenter(page)
    presenter.begin()
    (name,) = presenter.said("Open (.+?), read the documents")
    expect(page.get_by_role("complementary", name=name)).to_be_visible()
    presenter.outlined("Verify")
    with _without_wallets(signum):
        expect(presenter.card).to_contain_text("No party with a wallet waits now. Choose Register party")
        presenter.show_me()
        presenter.press("Register party")
        page.get_by_role("dialog", name="Register a party").get_by_label("Wallet address").click()
        expect(page.get_by_role("option").filter(has_text="Custody of a new investor")).to_have_count(2)
        expect(page.get_by_role("option").filter(has_text=re.compile("Kestrel|Treasury"))).to_have_count(0)
    page.reload()
    expect(presenter.card).to_contain_text(f"Open {name}")


@contextmanager
def _without_wallets(signum: Signum) -> Iterator[None]:
    """Take the wallets of all parties that wait."""
    waiting = [party for status in ("created", "verifying") for party in _parties(signum, status)]
    paths = {f"/identity/parties/{one['id']}": one["wallet_address"] for one in waiting}
    for path in paths:
        signum.call("PATCH", path, {"wallet_address": None})
    yield
    for path, address in paths.items():
        signum.call("PATCH", path, {"wallet_address": address})


@pytest.mark.long
def test_issuers_tour(console: Console, signum: Signum) -> None:
    """Given as the card says: the market that was opened on the way is where the investor buys."""
    page = console.sign_in(path="overview").heading("Overview").page
    presenter = Presenter(page)
    presenter.begin()
    presenter.issue_fund()
    presenter.at_step(2)
    name = presenter.verify()
    presenter.at_step(3)
    first, second = presenter.said(rf"Attest {name} on (.+?), then on (.+?):")
    presenter.attest(name, first, second)
    presenter.at_step(4)
    presenter.mint()
    presenter.at_step(5)
    presenter.open_market(second)
    presenter.at_step(6)
    presenter.trade()
    presenter.at_step(7)
    presenter.change_rule()
    presenter.at_step(8)
    presenter.take_evidence()
    expect(presenter.card.get_by_text("You have seen it all happen")).to_be_visible(timeout=CHAIN_TIME)
    presenter.card.get_by_role("link", name="Try to break it").click()
    console.heading("Try to break it")
    expect(presenter.card).to_have_count(0)
    _withdraw(signum, name)


@pytest.mark.long
def test_officers_tour(console: Console, signum: Signum) -> None:
    """Given as the card says, by two people in one browser: the officer, and the admin who decides."""
    officer = signum.person("compliance_officer")
    page = console.sign_in(officer, "overview").heading("Overview").page
    presenter = Presenter(page)
    presenter.begin()
    name = presenter.verify()
    presenter.at_step(2)
    presenter.attest(name, SEPOLIA)
    presenter.at_step(3)
    holder = presenter.revoke()
    presenter.at_step(4)
    presenter.force_transfer()
    presenter.at_step(5)
    presenter.sign_in_as_colleague()
    presenter.approve()
    presenter.at_step(6)
    presenter.verify_log()
    expect(presenter.card.get_by_text("You have seen it all happen")).to_be_visible()
    expect(presenter.card).to_contain_text("You are signed in as Elin Halvorsen, the second person.")
    _withdraw(signum, name)
    _attest_again(signum, holder)


def _parties(signum: Signum, status: str) -> list[dict[str, Any]]:
    parties: list[dict[str, Any]] = signum.call(
        "GET", "/identity/parties", organization_id=signum.organization, status=status, limit=100
    )["parties"]
    return parties


def _withdraw(signum: Signum, name: str) -> None:
    """Withdraw the party, because other tests count the verified ones. The next presenter reviews another one."""
    party = next(one for one in _parties(signum, "verified") if one["name"] == name)
    withdraw(signum, party["id"])


def _attest_again(signum: Signum, name: str) -> None:
    """Attest a holder of the demo again, with whom other tests trade."""
    party = next(one for one in _parties(signum, "verified") if one["name"] == name)
    body = {"party_id": party["id"], "chain_eid": 40161, "expires_at": None}
    signum.wait_for(signum.call("POST", "/orgs/{org}/attestations", body)["requestId"])


SECOND_STEP = """() => {
  const kept = JSON.parse(localStorage.getItem("signum_tour"));
  localStorage.setItem("signum_tour", JSON.stringify({...kept, at: 1, facts: {accredited: "yes"}}));
}"""
"""A tour whose fund wants accredited investors."""


def _card(page: Page) -> Locator:
    return page.get_by_role("complementary", name="Guided tour")


def _outlined(page: Page) -> Locator:
    return page.locator("[data-tour]")
