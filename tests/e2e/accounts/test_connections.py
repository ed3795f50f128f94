"""A person sees the applications with access in their name, and disconnects one."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from tests.e2e.accounts.test_consent import CALLBACK, Application, sign_in
from tests.e2e.conftest import Console, Signum


@pytest.mark.long
def test_connected_application_is_listed_and_disconnected(console: Console, signum: Signum) -> None:
    page, person = console.page, signum.person("viewer")
    desk = Application.registered(console)
    desk.ask("openid", "assets:read")
    sign_in(page, person)
    page.get_by_role("button", name="Allow").click()
    tokens = desk.tokens(desk.response()["code"]).json()

    console.goto("account").heading("Account")
    page.get_by_role("link", name="Connected applications").click()
    console.heading("Connected applications")
    row = page.get_by_role("row").filter(has_text="Portfolio Desk")
    for words in ("See the organization's assets", "1 session"):
        expect(row.first).to_contain_text(words)
    assert Axe().run(page).violations_count == 0
    row.first.get_by_role("button", name="Disconnect Portfolio Desk").click()
    page.get_by_role("dialog", name="Disconnect Portfolio Desk").get_by_role("button", name="Disconnect").click()
    expect(page.get_by_role("status").filter(has_text="Portfolio Desk is disconnected")).to_be_visible()
    form = {"grant_type": "refresh_token", "refresh_token": tokens["refresh_token"]}
    assert desk.token(form).json()["error"] == "invalid_grant"
    console.errors[:] = [e for e in console.errors if CALLBACK not in e]
