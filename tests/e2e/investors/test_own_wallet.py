"""An investor with a wallet of their own: links it, buys, cancels, claims; and what happens when the wallet refuses."""

import re
import time
from dataclasses import dataclass
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.auth.test_wallet_sign_in import signed, text_of
from tests.e2e.accounts.test_factors import PASSWORD, accessible, newcomer
from tests.e2e.conftest import Console, Person, Signum
from tests.support.browser_wallet import BrowserWallet
from tests.support.own_wallet import FAUCET, OwnWallet

SEPOLIA = 40161
UNIT = 10**18


@dataclass
class Investor:
    """An investor of the demo's organization: verified and attested, with 100 NREF, test money and gas."""

    person: Person
    wallet: OwnWallet
    market: dict[str, Any]

    @classmethod
    def made(cls, signum: Signum, *, linked: bool = True) -> "Investor":
        """Create one."""
        url = next(chain["rpc_url"] for chain in signum.demo["chains"] if chain["eid"] == SEPOLIA)
        person, wallet = newcomer(signum, role="client"), OwnWallet(url)
        body = {
            "organization_id": signum.organization, "name": "Fay Factor", "country": "SWE", "email": person.email,
            "wallet_address": wallet.address,
        }  # fmt: skip
        party = signum.call("POST", "/identity/parties", body)["id"]
        signum.call("POST", f"/identity/parties/{party}/verify", {"kyc_level": 2})
        attested = signum.call("POST", "/orgs/{org}/attestations", {"party_id": party, "chain_eid": SEPOLIA})
        settled(signum, attested["requestId"])
        markets = signum.call("GET", "/orgs/{org}/markets", limit=100)["markets"]
        market = next(m for m in markets if m["chain_eid"] == SEPOLIA and m["asset_symbol"] == "NREF")
        wallets = signum.call("GET", "/orgs/{org}/wallets", limit=100)["wallets"]
        sent = {
            "asset_id": market["asset_id"], "chain_eid": SEPOLIA, "to_address": wallet.address,
            "from_wallet_id": next(w["id"] for w in wallets if w["is_default"]), "amount": str(100 * UNIT),
        }  # fmt: skip
        settled(signum, signum.call("POST", "/orgs/{org}/transfers", sent)["requestId"])
        wallet.fund()
        wallet.send(market["quote_token_address"], FAUCET)
        made = cls(person, wallet, market)
        if linked:
            link(signum, person, wallet)
        return made

    def arrives(self, console: Console) -> Page:
        """Sign in, and open the investor's home."""
        console.sign_in_as_client(self.person).heading("Your investments")
        return console.page


def link(signum: Signum, person: Person, wallet: OwnWallet) -> None:
    """Link a wallet to a person's account."""
    begun = signum.call("POST", "/auth/siwe/nonce", person=person)
    body = signed(wallet.account, text_of(begun, wallet.address)) | {"link": True, "password": PASSWORD}
    signum.call("POST", "/auth/siwe/verify", body, person=person)


def settled(signum: Signum, request_id: str) -> None:
    """Wait until a request has succeeded."""
    deadline = time.monotonic() + 60
    while (status := signum.call("GET", f"/orgs/{{org}}/requests/{request_id}")["status"]) != "succeeded":
        assert status in ("accepted", "running"), status
        assert time.monotonic() < deadline, "the request takes too long"
        time.sleep(0.2)


def enter(page: Page, side: str, price: str, amount: str) -> Locator:
    """Enter an order on the page Trade, and return the region with the verdict."""
    page.get_by_role("group", name="Side").get_by_role("button", name=side).click()
    page.get_by_label("Price,").fill(price)
    page.get_by_label("Amount,").fill(amount)
    return page.get_by_role("region", name="Result")


@pytest.mark.long
def test_investor_links_a_wallet_buys_and_cancels(console: Console, signum: Signum) -> None:
    investor = Investor.made(signum, linked=False)
    browser = BrowserWallet(console.page, investor.wallet)
    page = investor.arrives(console)
    page.set_viewport_size({"width": 390, "height": 844})
    page.get_by_role("link", name="Trade").click()
    expect(page.get_by_text("Link your wallet to trade")).to_be_visible()
    accessible(console)
    page.get_by_role("link", name="Link wallet").click()
    console.heading("Account")
    page.get_by_role("button", name="Link wallet").click()
    dialog = page.get_by_role("dialog", name="Link a wallet")
    accessible(console)
    browser.refuses = True
    dialog.get_by_role("button", name="Sign with wallet").click()
    expect(dialog.get_by_role("alert")).to_contain_text("Nothing was signed")
    browser.refuses = False
    dialog.get_by_role("button", name="Sign with wallet").click()
    asks = page.get_by_role("dialog", name="Confirm your identity")
    asks.get_by_label("Password").fill("wrong")
    asks.get_by_role("button", name="Link wallet").click()
    expect(asks.get_by_role("alert")).to_be_visible()
    asks.get_by_label("Password").fill(PASSWORD)
    asks.get_by_role("button", name="Link wallet").click()
    expect(page.get_by_role("list", name="Linked wallets").get_by_role("listitem")).to_have_count(1)

    page.get_by_role("link", name="Trade").click()
    verdict = enter(page, "Buy", "101.5", "2")
    expect(verdict).to_contain_text("You may place this order.")
    expect(verdict).to_contain_text("You pay about 203.609 tUSD, fees included")
    accessible(console)
    page.get_by_role("button", name="Review order").click()
    sheet = page.get_by_role("dialog", name="What you will sign")
    expect(sheet.get_by_role("listitem")).to_have_count(2)
    expect(sheet.get_by_role("listitem").first).to_contain_text(re.compile(r"Allow the market to take 203\.60\d+ tUSD"))
    expect(sheet.get_by_role("listitem").last).to_contain_text("Buy 2 NREF at 101.50 tUSD")
    accessible(console)
    browser.chain_id, browser.knows_chain = "0x1", False
    sheet.get_by_role("button", name="Sign with your wallet").click()
    expect(sheet).to_be_hidden(timeout=30_000)
    assert browser.asked.count("eth_sendTransaction") == 2
    assert "wallet_addEthereumChain" in browser.asked

    page.get_by_role("link", name="Home").click()
    order = page.get_by_role("listitem").filter(has_text="Buy 2 NREF at 101.50 tUSD")
    expect(order).to_be_visible()
    accessible(console)
    order.get_by_role("button", name="Cancel").click()
    expect(sheet).to_contain_text("Cancel your order to buy 2 NREF at 101.50 tUSD")
    sheet.get_by_role("button", name="Sign with your wallet").click()
    expect(sheet).to_be_hidden(timeout=30_000)
    expect(order).to_have_count(0, timeout=30_000)


@pytest.mark.long
def test_refusal_in_the_wallet_keeps_the_form(console: Console, signum: Signum) -> None:
    investor = Investor.made(signum)
    browser = BrowserWallet(console.page, investor.wallet)
    page = investor.arrives(console)
    page.get_by_role("link", name="Trade").click()
    expect(page.get_by_text(re.compile("^You have "))).to_contain_text("10,000 tUSD")
    page.get_by_role("group", name="Side").get_by_role("button", name="Sell").click()
    expect(page.get_by_text(re.compile("^You have "))).to_contain_text("100 NREF")
    page.get_by_label("Price,").fill("140")
    page.get_by_role("button", name="25%").click()
    expect(page.get_by_label("Amount,")).to_have_value("25")
    expect(page.get_by_label("Price,")).to_have_value("140")
    expect(page.get_by_role("region", name="Result")).to_contain_text("You may place this order.")
    page.get_by_role("button", name="Review order").click()
    sheet = page.get_by_role("dialog", name="What you will sign")
    sign, said = sheet.get_by_role("button", name="Sign with your wallet"), sheet.get_by_role("alert")
    browser.account = OwnWallet(investor.wallet.url).address
    sign.click()
    expect(said).to_contain_text("Your wallet uses another account.")
    browser.account, browser.refuses = investor.wallet.address, True
    sign.click()
    expect(said).to_contain_text("You refused in your wallet")
    assert browser.asked.count("eth_sendTransaction") == 1
    page.keyboard.press("Escape")
    expect(sheet).to_be_hidden()
    expect(page.get_by_label("Amount,")).to_have_value("25")
    expect(page.get_by_label("Price,")).to_have_value("140")

    verdict = enter(page, "Sell", "140", "1000")
    expect(verdict).to_contain_text("You cannot place this order. Your wallet holds less than this order needs.")
    page.get_by_role("button", name="Review order").click()
    said = page.locator("form").get_by_role("alert").filter(has_text="Your wallet holds less than this order needs.")
    expect(said).to_be_visible()
    expect(page.get_by_text("Your wallet holds less than this order needs.")).to_have_count(1)
    expect(sheet).to_be_hidden()


@pytest.mark.long
def test_investor_without_a_wallet_in_the_browser_is_told_what_to_do(console: Console, signum: Signum) -> None:
    investor = Investor.made(signum)
    page = investor.arrives(console)
    page.get_by_role("link", name="Trade").click()
    amount = page.get_by_label("Amount,")
    for invalid in ("1e3", "0"):
        enter(page, "Buy", "101.5", invalid)
        amount.press("Tab")
        expect(amount).to_have_attribute("aria-invalid", "true")
    expect(enter(page, "Buy", "101.5", "1")).to_contain_text("You may place this order.")
    expect(amount).to_have_attribute("aria-invalid", "false")
    page.get_by_role("button", name="Review order").click()
    sheet = page.get_by_role("dialog", name="What you will sign")
    sheet.get_by_role("button", name="Sign with your wallet").click()
    expect(sheet.get_by_role("alert")).to_contain_text("This browser has no wallet. Open this page in the browser of")


@pytest.mark.long
def test_investor_claims_a_distribution(console: Console, signum: Signum) -> None:
    investor = Investor.made(signum)
    path = f"/orgs/{{org}}/assets/{investor.market['asset_id']}/distributions"
    recipients = [{"address": investor.wallet.address, "amount": str(3 * UNIT)}]
    made = signum.call("POST", path, {"name": "Income for Fay", "chain_eid": SEPOLIA, "recipients": recipients})
    terms = {"chainEid": SEPOLIA, "merkleRoot": made["merkle_root"], "totalRecipients": 1}
    signum.call("POST", f"{path}/{made['id']}/activate", terms)
    settled(signum, signum.call("GET", f"{path}/{made['id']}")["request_id"])
    BrowserWallet(console.page, investor.wallet)
    page = investor.arrives(console)
    page.get_by_role("button", name="Claim Income for Fay").click()
    sheet = page.get_by_role("dialog", name="What you will sign")
    expect(sheet.get_by_role("listitem")).to_contain_text("Claim 3 NREF of Income for Fay")
    sheet.get_by_role("button", name="Sign with your wallet").click()
    expect(sheet).to_be_hidden(timeout=30_000)
    expect(page.get_by_text("You hold").locator("..")).to_contain_text(re.compile(r"103\s*NREF"), timeout=30_000)
    expect(page.get_by_role("button", name="Claim Income for Fay")).to_have_count(0)
