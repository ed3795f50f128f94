"""Pages for people who have not signed in: each leads on."""

import re

from playwright.sync_api import expect

from tests.e2e.accounts.test_factors import accessible
from tests.e2e.conftest import Console, Signum


def test_unknown_page_leads_a_visitor_to_sign_in_and_a_user_to_their_page(console: Console, signum: Signum) -> None:
    page = console.page
    page.goto(f"{signum.url}/no-such-page")
    console.hydrated().heading("Page not found")
    accessible(console)
    page.get_by_role("link", name="Go to sign in").click()
    page.wait_for_url("**/sign-in")
    console.sign_in()
    page.goto(f"{signum.url}/no-such-page")
    console.hydrated().page.get_by_role("link", name="Go to your page").click()
    page.wait_for_url(re.compile("/o/.+/overview$"))
    assert all("404" in error for error in console.errors), "an unknown page is reported, and nothing else"
    console.errors.clear()


def test_requested_reset_link_names_the_address_and_can_be_sent_again(console: Console, signum: Signum) -> None:
    page = console.page
    page.goto(f"{signum.url}/forgot-password")
    console.hydrated().page.get_by_label("Email").fill("typo@northwind.example")
    page.get_by_role("button", name="Send link").click()
    said = page.get_by_role("status")
    expect(said).to_contain_text("typo@northwind.example")
    accessible(console)
    page.get_by_role("button", name="Send again").click()
    expect(said).to_contain_text("Sent again.")
    page.get_by_role("button", name="Use another address").click()
    expect(page.get_by_label("Email")).to_be_visible()
