"""The pictures of the README: seven pages at 1280 by 800 pixels, in light, as the admin, of the demo with its year."""

import re
from functools import partial
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.e2e import states
from tests.e2e.conftest import Console, Signum
from tests.e2e.places import settled
from tests.screenshots.camera import launched, opened, save
from tests.screenshots.catalog import wizard

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "pictures"
WIDTH, HEIGHT = 1280, 800
CHAIN = 60_000
"""Milliseconds that a deployment may take on a busy machine."""
ADDRESSES = """Marta <marta.lindqvist@lindqvist.example>, desk@alder.example; elin.halvorsen@northwind.example,
d.moreau@kestrel.example, v.hale@mailbox.example, new.investor@example.org, not-an-address@"""


def moved(page: Page) -> None:
    """Open the preview of a move by which a person loses access."""
    page.get_by_role("combobox", name="Find an organization").press_sequentially("Harbor Log")
    page.get_by_role("option").filter(has_text="Harbor Logistics Properties").click()
    states.move(page, "Harbor Logistics Properties", "Northwind Infrastructure")


def stricter(page: Page) -> None:
    """Raise the required KYC level, and wait for the holder that becomes ineligible."""
    page.get_by_role("group", name="Required KYC level").get_by_role("button", name="3").click()
    expect(page.get_by_role("region", name="Unsaved changes")).to_contain_text("1 unsaved change")
    expect(page.get_by_role("region", name="Impact")).to_contain_text("Alder Family Office")


def proven(page: Page) -> None:
    """Open an attestation, and wait until the chain agrees."""
    page.get_by_role("row").get_by_role("button", name="Kestrel Pension Trust", exact=True).first.click()
    expect(page.get_by_text("The chain agrees.")).to_be_visible()


def deployed(page: Page) -> None:
    """Deploy a market on a chain without the asset's token, and follow it to its end."""
    wizard(5, page)
    for limit in page.get_by_role("checkbox", name=re.compile("^Change the limits on")).all():
        limit.click()
        expect(limit).to_be_checked()  # the server keeps it
    page.get_by_role("button", name="Deploy market").click()
    page.wait_for_url(re.compile(r"/markets/[0-9a-f-]{36}"))
    page.get_by_role("tab", name="Deployment").click(timeout=CHAIN)
    expect(page.get_by_role("region", name="Progress").get_by_text("Done", exact=True)).to_be_visible(timeout=CHAIN)


def tried(page: Page) -> None:
    """Make an attempt that the rules and the contract refuse."""
    attempt = page.get_by_role("listitem", name="A holder exceeds the maximum")
    attempt.get_by_role("button").click()
    expect(attempt.get_by_text("Refused", exact=True)).to_be_visible(timeout=CHAIN)
    attempt.scroll_into_view_if_needed()


SHOTS: dict[str, tuple[str, states.Reach]] = {
    "overview": ("overview", states.settle),
    "move": ("organizations", moved),
    "compliance": ("assets/{asset}?tab=compliance", stricter),
    "attestation": ("attestations?show=active", proven),
    "eligibility": ("eligibility", partial(states.results, addresses=ADDRESSES)),
    "attempts": ("attempts", tried),
    "deployment": ("markets/new?asset={asset}", deployed),
}
"""Page and state by picture. The last two change data."""


def take(signum: Signum) -> list[Path]:
    """Save the pictures, and return their paths."""
    with signum.known() as ids, launched() as browser, opened(browser, signum, "admin") as console:
        page = console.page
        page.set_viewport_size({"width": WIDTH, "height": HEIGHT})
        console.goto("overview").heading("Overview")
        if (later := page.get_by_role("button", name="Later")).is_visible():  # advice on a second factor
            later.click()
        return [_save(console, name, path.format(**ids), reach) for name, (path, reach) in SHOTS.items()]


def _save(console: Console, name: str, path: str, reach: states.Reach) -> Path:
    console.goto(path)
    reach(settled(console))
    save(console.page, FOLDER / f"{name}.png", HEIGHT)
    return FOLDER / f"{name}.png"
