"""Browser tests of chains, wallets, the issuer and requests."""

import re
import secrets

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import Console, Signum

CHAIN = 30_000
"""Milliseconds that a transaction and its read-back may take on a busy machine."""


@pytest.mark.long
def test_new_organization_becomes_an_issuer(console: Console, signum: Signum) -> None:
    """A new organization enables a chain, creates a wallet and becomes an issuer; the console's key is revoked."""
    made = signum.call("POST", "/orgs/{org}/sub-orgs", {"name": f"Issuing Vehicle {secrets.token_hex(3)}"})
    console.sign_in().goto("issuer", made["id"]).heading("Issuer")
    page = console.page
    expect(page.get_by_role("button", name="Register as issuer")).to_be_disabled()

    console.goto("chains", made["id"]).heading("Chains")
    page.get_by_label("Environment").select_option("devnet")
    page.get_by_role("button", name="Enable Sepolia Devnet").click()
    expect(page.get_by_role("button", name="Disable Sepolia Devnet")).to_be_visible()
    page.get_by_label("Use", exact=True).select_option("yes")
    expect(page.get_by_text("1 chain", exact=True)).to_be_visible()

    console.goto("wallets", made["id"]).heading("Wallets")
    page.get_by_role("button", name="New wallet").first.click()
    form = page.get_by_role("dialog", name="New server wallet")
    form.get_by_label("Label").fill("Treasury")
    form.get_by_role("button", name="Create wallet").click()
    card = page.get_by_role("region", name="Wallet", exact=True)
    expect(card.get_by_role("heading", name="Sepolia Devnet", exact=True)).to_be_visible(timeout=CHAIN)
    expect(card.get_by_text("Default")).to_be_visible()

    console.goto("issuer", made["id"]).heading("Issuer")
    page.get_by_role("button", name="Register as issuer").click()
    form = page.get_by_role("dialog", name="Register as an issuer")
    form.get_by_role("button", name="Register as issuer").click()
    expect(form.get_by_text("only with your consent")).to_be_visible()
    form.get_by_label("I agree to a one-time API key").check()
    form.get_by_role("button", name="Register as issuer").click()
    expect(page.get_by_role("row").filter(has_text="Sepolia Devnet").get_by_text("Registered")).to_be_visible(
        timeout=CHAIN
    )
    keys = signum.call("GET", f"/orgs/{made['id']}/api-keys")["api_keys"]
    assert [key["scopes"] for key in keys] == [["attestations:write"]]
    assert all(key["revoked_at"] for key in keys)


def test_wallet_is_linked_only_with_an_address(console: Console, signum: Signum) -> None:
    """A wrong address shows an error at its field; a right one is linked, shown with its balances, and can be
    removed."""
    label = f"Custodian {secrets.token_hex(3)}"
    console.sign_in(path="wallets").heading("Wallets")
    page = console.page
    page.get_by_role("button", name="Link wallet").click()
    form = page.get_by_role("dialog", name="Link a wallet")
    form.get_by_label("Label").fill(label)
    form.get_by_label("Address").fill("0x123")
    form.get_by_role("button", name="Link wallet").click()
    expect(form.get_by_role("alert")).to_contain_text("EVM address")
    form.get_by_label("Address").fill("0x" + secrets.token_hex(20))
    form.get_by_role("button", name="Link wallet").click()
    card = page.get_by_role("region", name="Wallet", exact=True)
    expect(card.get_by_role("heading", name=label)).to_be_visible()
    card.get_by_role("button", name="Remove").click()
    page.get_by_role("dialog", name=f"Remove {label}").get_by_role("button", name="Remove").click()
    expect(page.get_by_role("button", name=label, exact=True)).to_have_count(0)


def test_wallet_on_a_phone_opens_above_the_list(console: Console, signum: Signum) -> None:
    """A phone shows the list first; a tap opens the wallet with its balances in view, and Close returns to the list."""
    console.sign_in(path="wallets").heading("Wallets")
    page = console.page
    page.set_viewport_size({"width": 390, "height": 844})
    card = page.get_by_role("region", name="Wallet", exact=True)
    expect(card).to_be_hidden()
    page.get_by_role("button", name="Treasury", exact=True).click()
    expect(card.get_by_role("heading", name="Treasury", exact=True)).to_be_in_viewport()
    expect(card.get_by_role("heading", name="Sepolia Devnet", exact=True)).to_be_in_viewport(timeout=CHAIN)
    card.get_by_role("button", name="Close").click()
    expect(card).to_be_hidden()


def test_chains_page_distinguishes_devnet_and_mainnet(console: Console, signum: Signum) -> None:
    """A devnet is marked as such and its contracts are listed; a mainnet shows why it cannot be used here."""
    console.sign_in(signum.person("viewer"), "chains").heading("Chains")
    page = console.page
    expect(page.get_by_role("button", name=re.compile("^(Enable|Disable) "))).to_have_count(0)
    page.get_by_role("button", name="Sepolia Devnet", exact=True).click()
    drawer = page.get_by_role("complementary", name="Sepolia Devnet", exact=True)
    expect(drawer.get_by_text("Embedded devnet.")).to_be_visible()
    expect(drawer.get_by_text("Requests succeed as soon as their transactions are in a block.")).to_be_visible()
    expect(drawer.get_by_text("Attestation registry")).to_be_visible()
    expect(drawer.get_by_role("button", name="Check nodes")).to_have_count(0)
    ethereum = page.get_by_role("button", name="Ethereum", exact=True)
    expect(ethereum).to_have_count(0)
    page.get_by_role("button", name=re.compile(r"^\d+ chains are not available here$")).click()
    ethereum.click()
    drawer = page.get_by_role("complementary", name="Ethereum", exact=True)
    expect(drawer.get_by_text("A mainnet chain; this organization uses")).to_be_visible()


def test_admin_checks_the_nodes_of_a_chain(console: Console) -> None:
    """Every line of the check has its level; another chain's drawer does not show the result."""
    console.sign_in(path="chains").heading("Chains")
    page = console.page
    page.get_by_role("button", name="HyperEVM Devnet", exact=True).click()
    nodes = page.get_by_role("complementary", name="HyperEVM Devnet").get_by_role("region", name="Nodes")
    nodes.get_by_role("button", name="Check nodes").click()
    expect(nodes.get_by_text("Suitable")).to_be_visible()
    lines = nodes.get_by_role("list", name="Node 1").get_by_role("listitem")
    expect(lines.filter(has_text="Chain ID")).to_contain_text("1340362, as expected.")
    expect(lines.filter(has_text="Log range")).to_be_visible()
    page.get_by_role("button", name="Base Sepolia Devnet", exact=True).click()
    other = page.get_by_role("complementary", name="Base Sepolia Devnet").get_by_role("region", name="Nodes")
    expect(other.get_by_role("button", name="Check nodes")).to_be_visible()
    expect(other.get_by_role("list")).to_have_count(0)


def test_failed_request_shows_its_reason(console: Console, signum: Signum) -> None:
    """The failed bridge of the demo is found by its status, with the failed step and the reason."""
    console.sign_in(path="requests").heading("Requests")
    page = console.page
    page.get_by_role("button", name="Failed", exact=True).click()
    expect(page.get_by_role("row").filter(has_text="Done")).to_have_count(0)
    row = page.get_by_role("row").filter(has_text="Bridge 1,000 NIB31").first
    row.get_by_role("button").first.click()
    drawer = page.get_by_role("complementary", name=re.compile("Bridge 1,000 NIB31"))
    expect(drawer.get_by_text("The request failed.")).to_be_visible()
    expect(drawer.get_by_text("The receiver has no valid attestation.").first).to_be_visible()
