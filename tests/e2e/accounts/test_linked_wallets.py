"""Linked wallets on the account page, and the notes about them at a new password and "Sign out everywhere"."""

import re
import time
from typing import Any

import pytest
from eth_account import Account
from playwright.sync_api import Locator, Page, expect

from tests.auth.test_wallet_sign_in import signed, text_of
from tests.e2e.accounts.test_factors import PASSWORD, accessible, newcomer
from tests.e2e.conftest import Console, Person, Signum

pytestmark = pytest.mark.long


def link(signum: Signum, person: Person) -> Any:
    """Link a wallet to a person's account and return it."""
    account = Account.create()
    body = signed(account, text_of(signum.call("POST", "/auth/siwe/nonce", person=person), account.address))
    signum.call("POST", "/auth/siwe/verify", body | {"link": True, "password": PASSWORD}, person=person)
    return account


def wallets(page: Page) -> Locator:
    """The list on the account page."""
    return page.get_by_role("list", name="Linked wallets").get_by_role("listitem")


def reset_link(signum: Signum, person: Person) -> str:
    """The token of an emailed link. The email is written after the response, so the outbox is read until it is
    there."""
    signum.call("POST", "/auth/password/forgot", {"email": person.email})
    deadline = time.monotonic() + 60
    while (found := re.search(r"/reset-password\?token=(\S+)", signum.mail(person.email))) is None:
        assert time.monotonic() < deadline, "no link was emailed"
    return found.group(1)


def test_linked_wallet_is_unlinked_on_the_account_page(console: Console, signum: Signum) -> None:
    fay = newcomer(signum)
    kept, gone = link(signum, fay), link(signum, fay)
    page = console.sign_in(fay, "account").heading("Account").page
    expect(wallets(page)).to_have_count(2)
    accessible(console)
    page.get_by_role("button", name="Sign out everywhere").click()
    leave = page.get_by_role("dialog", name="Sign out everywhere")
    expect(leave).to_contain_text("Linked wallets can still sign in.")
    leave.get_by_role("button", name="Cancel").click()

    page.get_by_role("button", name=f"Unlink {gone.address}").click()
    dialog = page.get_by_role("dialog", name="Unlink wallet")
    expect(dialog).to_contain_text(gone.address)
    accessible(console)
    dialog.get_by_role("button", name="Unlink").click()
    expect(wallets(page)).to_have_count(1)
    expect(page.get_by_role("button", name=f"Unlink {kept.address}")).to_be_visible()


def test_page_after_a_password_reset_links_to_the_linked_wallets(console: Console, signum: Signum) -> None:
    fay, page = newcomer(signum), console.page
    link(signum, fay)
    sent = f"{signum.url}/reset-password?token={reset_link(signum, fay)}"
    page.goto(sent)
    console.hydrated()
    page.get_by_label("New password").fill("another long password")
    page.get_by_role("button", name="Change password").click()
    expect(page.get_by_text("Linked wallets can still sign in.")).to_be_visible()
    accessible(console)
    page.get_by_role("link", name="Review linked wallets").click()
    page.get_by_label("Email").fill(fay.email)
    page.get_by_label("Password").fill("another long password")
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/account")
    expect(wallets(page)).to_have_count(1)
    for address in (sent, f"{signum.url}/reset-password"):
        page.goto(address)
        expect(page.get_by_role("alert")).to_contain_text("This link cannot be used.")
        expect(page.get_by_label("New password")).to_have_count(0)
    page.get_by_role("link", name="Request a new link").click()
    page.wait_for_url("**/forgot-password")
