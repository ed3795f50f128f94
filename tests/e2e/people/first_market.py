"""The first market of an empty organization, from the card of its overview to the wizard."""

from playwright.sync_api import Locator, Page, expect

from tests.e2e.conftest import LOAD

WALLET = "0x8617E340B3D01FA5F11F306F4090FD50E238070D"
CHAIN_TIME = 6 * LOAD


def reach_wizard(page: Page, chain: str) -> None:
    """Enable a chain, create the treasury, register, attest an investor, issue an asset and invite the team, all from
    the overview; then open the wizard of a market."""
    card = page.get_by_role("region", name="Getting started")
    expect(card).to_contain_text("8 steps to a complete setup")

    def step(title: str) -> Locator:
        return card.get_by_role("listitem").filter(has=page.get_by_text(title, exact=True))

    def done(title: str) -> None:
        expect(step(title)).to_contain_text("Done", timeout=CHAIN_TIME)

    expect(step("Open a market")).to_contain_text('After "Issue an asset".')
    step("Enable a chain").get_by_role("button", name="Choose a chain").click()
    card.get_by_label("Chain", exact=True).select_option(label=chain)
    card.get_by_role("button", name="Enable chain").click()
    done("Enable a chain")
    step("Create the treasury").get_by_role("button", name="Create wallet").click()
    done("Create the treasury")

    step("Register as an issuer").get_by_role("button", name="Register").click()
    expect(card.get_by_label("I agree to a one-time API key")).to_be_visible()
    card.get_by_role("button", name="Register").last.click()
    expect(card).to_contain_text("The console creates the key only with your consent")
    card.get_by_label("I agree to a one-time API key").check()
    card.get_by_role("button", name="Register").last.click()
    done("Register as an issuer")

    step("Verify an investor").get_by_role("button", name="Add an investor").click()
    card.get_by_label("Name").fill("Marta Oliveira")
    card.get_by_label("Country").fill("Portugal")
    card.get_by_label("Wallet address").fill(WALLET)
    card.get_by_role("button", name="Add investor").click()
    step("Verify an investor").get_by_role("button", name="Verify identity").click()
    expect(card).to_contain_text("the identity of Marta Oliveira")
    card.get_by_role("button", name="Verify", exact=True).click()
    done("Verify an investor")
    step("Attest the investor").get_by_role("button", name="Attest").click()
    expect(card).to_contain_text("Attest Marta Oliveira for a year.")
    card.get_by_role("button", name="Attest").last.click()
    expect(card.get_by_label("Chain", exact=True)).to_have_count(0)

    step("Issue an asset").get_by_role("button", name="Create asset").click()
    card.get_by_label("Name").fill("Fresh Field Notes")
    card.get_by_label("Symbol").fill("FFN")
    card.get_by_label("Initial supply").fill("a lot")
    card.get_by_role("button", name="Create asset").last.click()
    expect(card.get_by_label("Initial supply")).to_have_attribute("aria-invalid", "true")
    card.get_by_label("Initial supply").fill("1000")
    card.get_by_role("button", name="Create asset").last.click()
    done("Attest the investor")
    done("Issue an asset")

    step("Invite your team").get_by_role("button", name="Invite").click()
    card.get_by_label("Email").fill("officer@example.com")
    card.get_by_role("button", name="Send invitation").click()
    done("Invite your team")
    expect(card).to_contain_text("One step to a complete setup")
    step("Open a market").get_by_role("link", name="Open the wizard").click()
    page.wait_for_url("**/markets/new")
    expect(page.get_by_text("FFN").first).to_be_visible()
