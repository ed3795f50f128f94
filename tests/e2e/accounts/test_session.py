"""Signing in and out, and a session that was revoked elsewhere."""

import re
from contextlib import suppress

import pytest
from playwright.sync_api import Browser, Error, Page, expect

from tests.e2e.accounts.test_factors import accessible
from tests.e2e.conftest import Console, Signum


def test_sign_in_with_a_wrong_password_shows_an_error(console: Console, signum: Signum) -> None:
    page = console.page
    page.goto(f"{signum.url}/o/{signum.organization}/members")
    page.wait_for_url("**/sign-in?next=**")
    page.get_by_label("Email").fill(signum.person().email)
    page.get_by_label("Password").fill("wrong")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_contain_text("Email or password is wrong")
    expect(page.get_by_label("Email")).to_have_value(signum.person().email)
    expect(page.get_by_label("Password")).to_be_focused()
    assert signum.person().email not in page.url
    page.keyboard.type(signum.person().password)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/members")
    console.heading("Members")
    assert {cookie["name"] for cookie in page.context.cookies()} == {"signum_session", "signum_device"}


def test_sign_in_without_an_email_says_so_at_the_field(console: Console, signum: Signum) -> None:
    page = console.page
    page.goto(f"{signum.url}/sign-in")
    console.hydrated()
    page.get_by_role("button", name="Sign in").click()
    email = page.get_by_label("Email")
    expect(email).to_be_focused()
    expect(email).to_have_accessible_description("Required")
    email.fill("elin")
    page.get_by_label("Password").fill("a password")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_have_text("Enter an email address such as ana@firm.example")
    email.fill("elin@firm.example")
    expect(page.get_by_role("alert")).to_have_count(0)
    expect(email).not_to_have_attribute("aria-invalid", "true")


def test_sign_out_ends_the_session(console: Console, signum: Signum) -> None:
    page = console.sign_in(path="overview").heading("Overview").page
    cookies = page.context.cookies()
    page.get_by_role("button", name=re.compile("^Account")).click()
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_url("**/sign-in")
    assert [cookie["name"] for cookie in page.context.cookies()] == ["signum_device"]
    page.context.add_cookies(cookies)  # type: ignore[arg-type]
    page.goto(f"{signum.url}/o/{signum.organization}/overview")
    page.wait_for_url("**/sign-in?next=**")


def call_the_server(page: Page) -> None:
    """Click on a filter, unless the tab leaves the page: its own calls may find the end of its session first."""
    with suppress(Error):  # of a page that is being left
        page.evaluate("[...document.querySelectorAll('button')].find((one) => one.textContent === 'Admin')?.click()")


def test_revoked_session_ends_at_the_next_click(console: Console, signum: Signum) -> None:
    page = console.sign_in(path="members").heading("Members").page
    cookie = "; ".join(f"{c['name']}={c['value']}" for c in page.context.cookies())
    with page.expect_event("load"):
        answer = page.request.post(
            f"{signum.url}/session/end", headers={"cookie": cookie, "origin": signum.url}, max_redirects=0
        )
        assert answer.status == 303
        call_the_server(page)
    page.wait_for_url("**/sign-in?next=**")
    expect(page.get_by_role("button", name="Sign in")).to_be_visible()
    expect(page.get_by_role("status")).to_have_text("Your session has ended. Sign in again.")
    expect(page.get_by_role("link", name="Continue")).to_have_count(0)


def test_tab_whose_session_was_replaced_continues_where_it_was(console: Console, signum: Signum) -> None:
    """What the earlier session began may end after the page of the next one has opened, and lead to the sign-in."""
    console.sign_in(path="members").heading("Members")
    console.begin_session(signum.person("compliance_officer"))
    console.goto("attestations").heading("Attestations")
    console.page.goto(f"{signum.url}/sign-in?next=/o/{signum.organization}/attestations")
    console.page.wait_for_url("**/attestations")
    console.heading("Attestations")
    expect(console.page.get_by_role("button", name="Account: Priya Shah")).to_be_visible()


def test_tab_says_that_another_person_has_signed_in(console: Console, signum: Signum) -> None:
    page = console.sign_in(path="members").heading("Members").page
    expect(page.get_by_role("button", name="Account: Elin Halvorsen")).to_be_visible()
    console.begin_session(signum.person("compliance_officer"))
    call_the_server(page)
    said = page.get_by_role("region", name="Signed in")
    expect(said).to_contain_text("Another person has signed in. This browser is now signed in as Priya Shah.")
    expect(page.get_by_label("Email")).to_be_visible()
    accessible(console)
    said.get_by_role("link", name="Continue as Priya Shah").click()
    page.wait_for_url("**/members")
    console.heading("Members")
    expect(page.get_by_role("button", name="Account: Priya Shah")).to_be_visible()


def test_tab_continues_after_its_person_has_signed_in_elsewhere(console: Console, signum: Signum) -> None:
    page = console.sign_in(path="members").heading("Members").page
    with page.expect_event("load"):
        console.begin_session(signum.person())
        call_the_server(page)
    page.wait_for_url("**/members")
    console.heading("Members")
    expect(page.get_by_role("button", name="Account: Elin Halvorsen")).to_be_visible()


def test_sign_in_page_offers_a_signed_in_browser_to_continue(console: Console, signum: Signum) -> None:
    page = console.sign_in(path="members").heading("Members").page
    page.goto(f"{signum.url}/sign-in")
    said = page.get_by_role("region", name="Signed in")
    expect(said).to_contain_text("You are signed in as Elin Halvorsen.")
    form, offer = page.get_by_role("button", name="Sign in").bounding_box(), said.bounding_box()
    assert form is not None
    assert offer is not None
    assert form["y"] + form["height"] < offer["y"], "it arrives late, and moves no form"
    accessible(console)
    officer = signum.person("compliance_officer")
    page.get_by_label("Email").fill(officer.email)
    page.get_by_label("Password").fill(officer.password)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/overview")
    expect(page.get_by_role("button", name="Account: Priya Shah")).to_be_visible()
    page.goto(f"{signum.url}/sign-in")
    page.get_by_role("link", name="Continue as Priya Shah").click()
    page.wait_for_url("**/overview")


def test_client_signs_in_and_arrives_on_their_own_page(console: Console, signum: Signum) -> None:
    client = signum.person("client")
    page = console.page
    page.goto(f"{signum.url}/sign-in")
    page.get_by_label("Email").fill(client.email)
    page.get_by_label("Password").fill(client.password)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(re.compile(r"/i/[0-9a-f-]{36}$"))
    console.heading("Your investments")
    expect(page.get_by_role("region", name="Holdings")).to_contain_text(re.compile(r"240\s*NREF"))
    expect(page.get_by_role("region", name="Eligibility")).to_contain_text("Verified until")
    expect(page.get_by_role("region", name="Waiting for you")).to_contain_text("Income in units, third quarter 2026")
    accessible(console)
    expect(page.get_by_role("complementary", name="Sidebar")).to_have_count(0)
    home = page.url
    for path in ("overview", "members"):
        page.goto(f"{signum.url}/o/{signum.organization}/{path}")
        page.wait_for_url(home)
        console.heading("Your investments")
    page.goto(f"{signum.url}/account")
    page.wait_for_url(f"{home}/account")
    console.heading("Account")
    expect(page.get_by_role("heading", name="Linked wallets")).to_be_visible()
    accessible(console)


def test_investors_page_of_another_person_is_not_shown(console: Console, signum: Signum) -> None:
    page = console.sign_in(path="members").heading("Members").page
    record = next(m for m in signum.call("GET", "/orgs/{org}/members", limit="100")["members"] if m["role"] == "client")
    page.goto(f"{signum.url}/i/{record['id']}")
    expect(page.get_by_text("You have no access here")).to_be_visible()
    page.get_by_role("link", name="Go to your page").click()
    page.wait_for_url("**/o/**")


@pytest.mark.long
def test_sign_out_everywhere_ends_other_browsers(console: Console, shared_browser: Browser, signum: Signum) -> None:
    person = signum.person("member")
    elsewhere = shared_browser.new_context()
    try:
        other = Console(elsewhere.new_page(), signum).sign_in(person, "members").heading("Members").page
        page = console.sign_in(person, "account").heading("Account").page
        page.get_by_role("button", name="Sign out everywhere").click()
        question = page.get_by_role("dialog", name="Sign out everywhere")
        question.get_by_role("button", name="Sign out everywhere").click()
        page.wait_for_url("**/sign-in")
        other.reload()
        other.wait_for_url("**/sign-in?next=**")
    finally:
        elsewhere.close()
