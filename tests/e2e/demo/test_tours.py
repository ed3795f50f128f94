"""The guided tours, to their end: each step outlines its control and waits until it has really happened."""

import re
import secrets
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.conftest import Console, Signum
from tests.e2e.oversight.test_attestations import party, withdraw

CHAIN_TIME = 60_000
SEPOLIA, BASE, HYPEREVM = "Sepolia Devnet", "Base Sepolia Devnet", "HyperEVM Devnet"


def test_tour_is_offered_left_resumed_and_ended(console: Console) -> None:
    page = console.sign_in(path="overview").heading("Overview").page
    page.get_by_role("button", name="Start tour").click()
    console.heading("New asset")
    card = _card(page)
    expect(card.get_by_text("Step 1 of 8")).to_be_visible()
    expect(_outlined(page)).to_have_text("Create asset")

    card.get_by_role("button", name="Leave").click()
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


def test_tour_is_offered_to_people_who_can_take_it(console: Console, signum: Signum) -> None:
    console.begin_session(signum.person("viewer"))
    console.goto("overview").heading("Overview")
    expect(console.page.get_by_role("button", name="Start tour")).to_have_count(0)


@pytest.mark.long
def test_issuers_tour(console: Console, signum: Signum) -> None:
    page, symbol = console.page, f"T{secrets.token_hex(2)}".upper()
    made = party(signum, f"Ada Tour {secrets.token_hex(3)}", wallet_address="0x" + secrets.token_hex(20))
    console.sign_in(path="overview").heading("Overview")
    page.get_by_role("button", name="Start tour").click()

    console.heading("New asset")
    _fund(page, symbol)
    _step(page, 2, "Parties")
    _verified(page, made["name"])
    _step(page, 3, "Attest")
    for chain in (SEPOLIA, BASE):
        _attested(console, made["name"], chain)
    _step(page, 4)
    asset = next(
        a["id"] for a in signum.call("GET", "/orgs/{org}/assets", limit=100)["assets"] if a["symbol"] == symbol
    )
    _minted(console, signum, asset)
    _step(page, 5)
    _market(console, asset)
    _step(page, 6)
    _traded(console, signum)
    _step(page, 7)
    _rule(console, asset)
    _step(page, 8)
    page.get_by_role("link", name="Evidence").click()
    console.heading("Evidence")
    page.get_by_role("button", name="Create evidence pack").click()
    expect(_card(page).get_by_text("You have seen it all happen")).to_be_visible(timeout=CHAIN_TIME)
    _card(page).get_by_role("link", name="Try to break it").click()
    console.heading("Try to break it")
    withdraw(signum, made["id"])


@pytest.mark.long
def test_officers_tour(console: Console, signum: Signum) -> None:
    page = console.page
    made = party(signum, f"Olu Tour {secrets.token_hex(3)}", wallet_address="0x" + secrets.token_hex(20))
    console.sign_in(signum.person("compliance_officer"), "overview").heading("Overview")
    page.get_by_role("button", name="Start tour").click()

    console.heading("Parties")
    _verified(page, made["name"])
    _step(page, 2, "Attest")
    _attested(console, made["name"], SEPOLIA)
    _step(page, 3)
    console.goto("attestations?show=active").heading("Attestations")
    page.get_by_role("row").filter(has_text=made["name"]).get_by_role("button").first.click()
    page.get_by_role("button", name="Revoke", exact=True).click()
    dialog = page.get_by_role("dialog", name="Revoke the attestation")
    dialog.get_by_label("Reason").fill("The tour shows a revocation.")
    dialog.get_by_role("button", name="Revoke", exact=True).click()
    _step(page, 4)
    _forced_transfer(console, signum)
    _step(page, 5)
    _card(page).get_by_role("link", name="Show me").click()
    console.heading("Audit log")
    expect(_outlined(page)).to_have_text("Verify")
    page.get_by_role("button", name="Verify", exact=True).click()
    expect(_card(page).get_by_text("You have seen it all happen")).to_be_visible()
    withdraw(signum, made["id"])


def _card(page: Page) -> Locator:
    return page.get_by_role("complementary", name="Guided tour")


def _outlined(page: Page) -> Locator:
    return page.locator("[data-tour]")


def _step(page: Page, number: int, outlined: str = "") -> None:
    """Wait for a step; the control that the page has for it is outlined."""
    expect(_card(page).get_by_text(f"Step {number} of")).to_be_visible(timeout=CHAIN_TIME)
    if outlined:
        expect(_outlined(page)).to_have_text(re.compile(f"^{outlined}"))


def _pick(box: Locator, words: str) -> None:
    box.select_option(value=box.locator("option", has_text=words).first.get_attribute("value"))


def _fund(page: Page, symbol: str) -> None:
    page.get_by_label("Name").fill(f"Tour Fund {symbol}")
    page.get_by_label("Symbol").fill(symbol)
    _pick(page.get_by_label("Chain"), SEPOLIA)
    page.get_by_label("Initial supply").fill("1000")
    page.get_by_role("button", name="Create asset").click()


def _verified(page: Page, name: str) -> None:
    if page.get_by_role("heading", level=1, name="Parties").count() == 0:
        _card(page).get_by_role("link", name="Show me").click()
    page.get_by_role("button", name=name, exact=True).click()
    case = page.get_by_role("complementary", name=name)
    case.get_by_label("KYC level").select_option("2")
    expect(_outlined(page)).to_have_text("Verify")
    case.get_by_role("button", name="Verify", exact=True).click()


def _attested(console: Console, name: str, chain: str) -> None:
    page = console.goto("parties").heading("Parties").page
    page.get_by_role("button", name=name, exact=True).click()
    page.get_by_role("complementary", name=name).get_by_role("button", name="Attest", exact=True).click()
    dialog = page.get_by_role("dialog", name="Issue an attestation")
    _pick(dialog.get_by_label("Chain"), chain)
    expect(_outlined(page)).to_have_text("Issue attestation")
    dialog.get_by_role("button", name="Issue attestation").click()
    expect(dialog).to_have_count(0)


def _minted(console: Console, signum: Signum, asset: str) -> None:
    page = console.page
    wallets = signum.call("GET", "/orgs/{org}/wallets", limit=100)["wallets"]
    treasury = next(wallet["address"] for wallet in wallets if wallet["is_default"])
    console.goto(f"assets/{asset}?tab=controls")
    expect(_outlined(page)).to_have_text("Mint")
    page.get_by_role("button", name="Mint", exact=True).click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Receiver").fill(treasury)
    dialog.get_by_label("Amount").fill("25")
    dialog.get_by_label("Reason").fill("A second closing.")
    dialog.get_by_role("button", name="Mint tokens").click()


def _market(console: Console, asset: str) -> None:
    page = console.page
    console.goto(f"markets/new?asset={asset}")
    page.get_by_role("radio", name=re.compile(f"^{HYPEREVM}")).click()
    for _ in range(3):
        page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Review").click()
    expect(_outlined(page)).to_have_text("Deploy market")
    page.get_by_role("button", name="Deploy market").click()
    page.wait_for_url(re.compile(r"/markets/[0-9a-f-]{36}"), timeout=CHAIN_TIME)


def _traded(console: Console, signum: Signum) -> None:
    page = console.page
    markets: list[dict[str, Any]] = signum.call("GET", "/orgs/{org}/markets", limit=100)["markets"]
    market = next(m for m in markets if m["chain_eid"] == 40161 and m["status"] == "active")
    console.goto(f"markets/{market['id']}")
    for side, wallet in (("Sell", "Treasury"), ("Buy", "Kestrel")):
        page.get_by_role("button", name="Place order").click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_role("group", name="Side").get_by_role("button", name=side).click()
        _pick(dialog.get_by_label("Wallet"), wallet)
        dialog.get_by_label("Price").fill("102.75")
        dialog.get_by_label("Amount").fill("3")
        dialog.get_by_role("button", name=f"Place {side.lower()} order").click()
        expect(dialog).to_have_count(0)
        progress = page.get_by_role("region", name="Progress")
        expect(progress.get_by_text("Done", exact=True)).to_be_visible(timeout=CHAIN_TIME)
        page.get_by_role("button", name="Dismiss", exact=True).click()


def _rule(console: Console, asset: str) -> None:
    page = console.page
    console.goto(f"assets/{asset}?tab=compliance")
    page.get_by_role("textbox", name="Maximum holders").fill("150")
    page.get_by_role("button", name="Review and save").click()
    expect(_outlined(page)).to_have_text("Save rules")
    page.get_by_role("dialog", name="Save these rules?").get_by_role("button", name="Save rules").click()


def _forced_transfer(console: Console, signum: Signum) -> None:
    """Move a token from one investor to another."""
    page = console.page
    assets = signum.call("GET", "/orgs/{org}/assets", limit=100)["assets"]
    asset = next(asset["id"] for asset in assets if asset["symbol"] == "NREF")
    wallets = {w["label"]: w["address"] for w in signum.call("GET", "/orgs/{org}/wallets", limit=100)["wallets"]}
    console.goto(f"assets/{asset}?tab=controls")
    page.get_by_role("button", name="Force transfer").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("From").fill(wallets["Kestrel Pension Trust custody"])
    dialog.get_by_label("To", exact=True).fill(wallets["Alder Family Office custody"])
    dialog.get_by_label("Amount").fill("1")
    dialog.get_by_label("Reason").fill("Court order 15/2026.")
    symbol = dialog.get_by_label("Type NREF to confirm")
    if symbol.count():
        symbol.fill("NREF")
    dialog.get_by_role("button", name="Force the transfer").click()
