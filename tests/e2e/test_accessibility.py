"""Drawers, forms, wizard steps and dialogs: axe finds nothing, light, dark and on a phone, and none is too wide.

`test_walk.py` opens every page as each role.
"""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import Console
from tests.e2e.places import faults_on_every_screen, settled, show, violations

State = tuple[str, Callable[[Page], None]]


def _settle(page: Page) -> None:
    expect(page.get_by_role("status", name="Loading")).to_have_count(0)


def _move(page: Page) -> None:
    page.get_by_role("tree").wait_for()
    page.get_by_role("treeitem", name="Private Credit").click()
    page.get_by_role("button", name="Move").click()
    page.get_by_role("combobox", name="Find the new parent").press_sequentially("Real Assets")
    page.get_by_role("option").filter(has=page.get_by_text("Real Assets", exact=True)).click()
    expect(page.get_by_role("dialog").get_by_role("table")).to_be_visible()


def _results(page: Page) -> None:
    page.get_by_label("Addresses to check").fill("a@mail.example broken@@mail.example " * 2)
    expect(page.get_by_role("row").nth(1)).to_be_visible()


def _key(page: Page) -> None:
    page.get_by_role("button", name="New key").first.click()
    page.get_by_label("wallets:write").click()
    expect(page.get_by_text("Write scopes do not include read access")).to_be_visible()


def _application(page: Page) -> None:
    page.get_by_role("button", name="New application").click()
    expect(page.get_by_role("dialog").get_by_label("Redirect URIs")).to_be_visible()


def _open(page: Page) -> None:
    """Open the first row's drawer."""
    expect(page.get_by_role("table")).to_be_visible()
    page.keyboard.press("j")
    expect(page.get_by_role("complementary").get_by_role("heading", level=2)).not_to_have_count(0)
    _settle(page)


def _check_nodes(page: Page) -> None:
    """Check the nodes of the first chain."""
    _open(page)
    page.get_by_role("button", name="Check nodes").click()
    expect(page.get_by_role("list", name="Node 1")).to_be_visible()


def _issue(page: Page) -> None:
    page.get_by_role("button", name="Issue attestation").click()
    page.get_by_role("option").filter(has_text="Kestrel").click()
    expect(page.get_by_role("dialog").get_by_label("Chain")).to_be_visible()


def _register(page: Page) -> None:
    page.get_by_role("button", name="Register party").click()
    expect(page.get_by_role("dialog").get_by_label("Country")).to_be_visible()


def _terms(page: Page) -> None:
    page.get_by_role("button", name="Change terms").click()
    expect(page.get_by_text("A temporary API key.")).to_be_visible()


def _asset(page: Page) -> None:
    page.get_by_role("table", name="Assets").get_by_role("link").first.click()
    expect(page.get_by_role("tab", name="Compliance")).to_be_visible()
    _settle(page)


def _compliance(page: Page) -> None:
    _asset(page)
    page.get_by_role("tab", name="Compliance").click()
    page.wait_for_url("**tab=compliance")
    _settle(page)


def _controls(page: Page) -> None:
    _asset(page)
    page.get_by_role("tab", name="Controls").click()
    page.wait_for_url("**tab=controls")
    expect(page.get_by_role("list", name="Transfers by chain").get_by_role("listitem").first).to_be_visible()


def _burn(page: Page) -> None:
    _controls(page)
    page.get_by_role("button", name="Burn", exact=True).click()
    expect(page.get_by_role("dialog").get_by_label("Reason")).to_be_visible()


def _market(page: Page) -> None:
    """Open the demo's market, the oldest: other tests deploy markets without orders."""
    page.get_by_role("table").get_by_role("row").last.get_by_role("link").first.click()
    expect(page.get_by_role("table", name="Orders")).to_be_visible()
    _settle(page)


def _transfer(page: Page) -> None:
    page.get_by_role("button", name="New transfer").first.click()
    expect(page.get_by_role("dialog").get_by_label("Asset").locator("option").nth(1)).to_be_attached()


def _story(page: Page) -> None:
    page.get_by_role("button", name="Show the confirmed transfer").first.click()
    expect(page.get_by_role("region", name="Progress").get_by_text("Done", exact=True)).to_be_visible()


def _endpoint(page: Page) -> None:
    page.get_by_role("button", name="New endpoint").first.click()
    page.get_by_role("dialog").get_by_label("URL").fill("http://localhost:1024/hooks")
    page.get_by_role("dialog").get_by_label("Selected events").click()
    page.get_by_role("dialog").get_by_label("asset.updated").click()
    expect(page.get_by_role("dialog")).to_contain_text("1 selected")


def _delivery(page: Page) -> None:
    _endpoint(page)
    page.get_by_role("button", name="Create endpoint").click()
    page.get_by_role("button", name="I have copied it").click()
    page.get_by_role("link", name="http://localhost:1024/hooks").first.click()
    page.get_by_role("button", name="Send test").click()
    page.get_by_role("button", name="Show the retrying delivery").first.click()
    expect(page.get_by_role("complementary")).to_contain_text(["The connection failed"])


def _checked_list(page: Page) -> None:
    page.get_by_label("Name").fill("To be looked at")
    asset = page.get_by_label("Asset")
    asset.select_option(value=asset.locator("option", has_text="NREF").get_attribute("value"))
    page.get_by_role("textbox", name="Recipients").fill(f"{_investor(page)},12.5\n0x{'11' * 20},3")
    page.get_by_role("button", name="Check the list").click()
    expect(page.get_by_role("region", name="Result").get_by_role("radio", name="Hold")).to_be_checked()
    expect(page.get_by_role("region", name="Checked recipients", exact=True)).to_be_visible()


def _investor(page: Page) -> str:
    """Return the wallet of a party that holds NREF."""
    base, _, rest = page.url.partition("/o/")
    path = f"{base}/v1/orgs/{rest.partition('/')[0]}/assets"
    assets = page.context.request.get(path).json()["assets"]
    nref = next(asset["id"] for asset in assets if asset["symbol"] == "NREF")
    holders = page.context.request.get(f"{path}/{nref}/holders").json()["holders"]
    return str(next(one["address"] for one in holders if one["kind"] == "party"))


def _draft(page: Page) -> None:
    _checked_list(page)
    investor = _investor(page)
    page.get_by_role("button", name="Create draft").click()
    page.get_by_role("tab", name="Held 1").click()
    expect(page.get_by_role("region", name="Held recipients", exact=True)).to_be_visible()
    page.get_by_role("tab", name="Proof").click()
    page.get_by_label("Recipient", exact=True).fill(investor)
    page.get_by_role("button", name="Find proof").click()
    expect(page.get_by_label("Arguments of claim")).to_be_visible()


def _activation(page: Page) -> None:
    _draft(page)
    page.get_by_role("button", name="Activate", exact=True).click()
    expect(page.get_by_role("dialog").get_by_role("listitem")).to_have_count(4)


ORGANIZATION: list[State] = [
    ("overview", _settle), ("organizations", _settle), ("organizations", _move), ("members", _settle),
    ("eligibility", _settle), ("eligibility", _results), ("api-keys", _settle), ("api-keys", _key),
    ("account", _settle), ("outbox", _settle), ("webhooks", _settle), ("webhooks", _endpoint), ("webhooks", _delivery),
    ("connections", _settle), ("approvals", _settle), ("settings", _settle),
    ("settings", _application),
]  # fmt: skip
CASES: list[State] = [
    ("attestations", _settle), ("attestations?show=active", _open), ("attestations", _issue), ("parties", _open),
    ("parties", _register), ("issuer", _settle), ("issuer", _terms), ("wallets", _settle), ("chains", _open),
    ("chains", _check_nodes), ("requests", _open),
]  # fmt: skip
ISSUANCE: list[State] = [
    ("assets", _settle), ("assets", _compliance), ("assets", _controls), ("assets", _burn), ("assets/new", _settle),
    ("markets", _settle), ("markets", _market), ("markets/new", _settle), ("bridges", _settle),
    ("transfers", _settle), ("transfers", _transfer), ("transfers", _story),
    ("distributions", _settle), ("distributions/new", _checked_list), ("distributions/new", _draft),
    ("distributions/new", _activation), ("distributions", _settle),
]  # fmt: skip


DIALOGS: list[tuple[str, list[str]]] = [
    ("organizations", ["New organization", "Edit"]),
    ("members", ["Add by wallet", "Change role of .*", "Remove .*"]),
    ("api-keys", ["Revoke .*"]),
    ("account", ["Change password", "Sign out everywhere", "Add authenticator app"]),
    ("webhooks/{webhook}", ["Change", "Disable", "Rotate secret", "Delete", "Replay failed deliveries"]),
    ("parties?id={party}", ["Attest"]),
    ("wallets", ["New wallet", "Link wallet"]),
    ("chains", ["Reset devnet"]),
    (
        "assets/{asset}?tab=controls",
        ["Mint", "Freeze", "Unfreeze", "Force transfer", "Recover wallet", "Pause on .*", "Edit limits"],
    ),
    ("markets/{market}", ["Place order"]),
    ("distributions/{distribution}?asset={asset}", ["Cancel"]),
]
"""Dialogs by the button that opens them."""


@pytest.mark.long
@pytest.mark.parametrize("states", [ORGANIZATION, CASES, ISSUANCE], ids=["organization", "cases", "issuance"])
def test_states_of_pages_pass_axe(console: Console, states: list[State]) -> None:
    page, found = console.page, []
    console.sign_in()
    for path, reach in states:
        show(page)
        console.goto(path)
        expect(page.get_by_role("heading", level=1)).to_be_attached()
        reach(page)
        found += faults_on_every_screen(page, f"{path} {reach.__name__}")
    assert found == [], "\n".join(found)


@pytest.mark.long
def test_dialogs_pass_axe(console: Console, ids: dict[str, str]) -> None:
    page, found = console.page, []
    console.sign_in()
    for path, names in DIALOGS:
        for name in names:
            show(page)
            console.goto(path.format(**ids))
            settled(console)
            button = page.get_by_role("main").get_by_role("button", name=re.compile(f"^{name}$"))
            button.first.click()
            expect(page.get_by_role("dialog").get_by_role("heading").first).to_be_visible()
            _settle(page)
            found += faults_on_every_screen(page, f"dialog {path} {name}")
    assert found == [], "\n".join(found)


@pytest.mark.long
def test_shell_passes_axe_where_it_opens(console: Console) -> None:
    page = console.sign_in(path="overview").heading("Overview").page
    found = []
    for name in ("Switch organization", "Requests", "Account: Elin Halvorsen"):
        show(page)
        page.get_by_role("button", name=name).first.click()
        expect(page.get_by_role("dialog")).to_be_visible()
        found += faults_on_every_screen(page, f"shell {name}")
        page.keyboard.press("Escape")
    for key in ("ControlOrMeta+k", "?"):
        show(page)
        page.keyboard.press(key)
        expect(page.get_by_role("dialog")).to_be_visible()
        found += faults_on_every_screen(page, f"shell {key}")
        page.keyboard.press("Escape")
    page.set_viewport_size({"width": 390, "height": 900})
    page.get_by_role("button", name="Navigation").click()
    expect(page.get_by_role("dialog", name="Navigation")).to_be_visible()
    found += violations(page)
    assert found == [], "\n".join(found)
