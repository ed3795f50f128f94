"""Drawers, forms, wizard steps and dialogs of the console, and how a person reaches them."""

from collections.abc import Callable

from playwright.sync_api import Page, expect

Reach = Callable[[Page], None]
State = tuple[str, Reach]


def settle(page: Page) -> None:
    expect(page.get_by_role("status", name="Loading")).to_have_count(0)


def move(page: Page, name: str = "Private Credit", parent: str = "Real Assets") -> None:
    """Open the preview of moving an organization below another one."""
    page.get_by_role("tree").wait_for()
    page.get_by_role("treeitem", name=name).click()
    page.get_by_role("button", name="Move").click()
    page.get_by_role("combobox", name="Find the new parent").press_sequentially(parent)
    page.get_by_role("option").filter(has=page.get_by_text(parent, exact=True)).click()
    expect(page.get_by_role("dialog").get_by_role("table")).to_be_visible()


def results(page: Page, addresses: str = "a@mail.example broken@@mail.example " * 2) -> None:
    """Check addresses before an invitation."""
    page.get_by_label("Addresses to check").fill(addresses)
    expect(page.get_by_role("row").nth(1)).to_be_visible()


def key(page: Page) -> None:
    page.get_by_role("button", name="New key").first.click()
    page.get_by_label("wallets:write").click()
    expect(page.get_by_text("Write scopes do not include read access")).to_be_visible()


def application(page: Page) -> None:
    page.get_by_role("button", name="New application").click()
    expect(page.get_by_role("dialog").get_by_label("Redirect URIs")).to_be_visible()


def first_drawer(page: Page) -> None:
    """Open the first row's drawer."""
    expect(page.get_by_role("table")).to_be_visible()
    page.keyboard.press("j")
    expect(page.get_by_role("complementary").get_by_role("heading", level=2)).not_to_have_count(0)
    settle(page)


def check_nodes(page: Page) -> None:
    """Check the nodes of the first chain."""
    first_drawer(page)
    page.get_by_role("button", name="Check nodes").click()
    expect(page.get_by_role("list", name="Node 1")).to_be_visible()


def issue(page: Page) -> None:
    page.get_by_role("button", name="Issue attestation").click()
    page.get_by_role("option").filter(has_text="Kestrel").click()
    expect(page.get_by_role("dialog").get_by_label("Chain")).to_be_visible()


def register(page: Page) -> None:
    page.get_by_role("button", name="Register party").click()
    expect(page.get_by_role("dialog").get_by_label("Country")).to_be_visible()


def terms(page: Page) -> None:
    page.get_by_role("button", name="Change terms").click()
    expect(page.get_by_label("I agree to a one-time API key")).to_be_visible()


def asset(page: Page) -> None:
    page.get_by_role("table", name="Assets").get_by_role("link").first.click()
    expect(page.get_by_role("tab", name="Compliance")).to_be_visible()
    settle(page)


def compliance(page: Page) -> None:
    asset(page)
    page.get_by_role("tab", name="Compliance").click()
    page.wait_for_url("**tab=compliance")
    settle(page)


def controls(page: Page) -> None:
    asset(page)
    page.get_by_role("tab", name="Controls").click()
    page.wait_for_url("**tab=controls")
    expect(page.get_by_role("list", name="Transfers by chain").get_by_role("listitem").first).to_be_visible()


def burn(page: Page) -> None:
    controls(page)
    page.get_by_role("button", name="Burn", exact=True).click()
    expect(page.get_by_role("dialog").get_by_label("Reason")).to_be_visible()


def market(page: Page) -> None:
    """Open the demo's market, the oldest: other tests deploy markets without orders."""
    page.get_by_role("table").get_by_role("row").last.get_by_role("link").first.click()
    expect(page.get_by_role("table", name="Orders")).to_be_visible()
    settle(page)


def transfer(page: Page) -> None:
    page.get_by_role("button", name="New transfer").first.click()
    expect(page.get_by_role("dialog").get_by_label("Asset").locator("option").nth(1)).to_be_attached()


def story(page: Page) -> None:
    page.get_by_role("button", name="Show the confirmed transfer").first.click()
    expect(page.get_by_role("region", name="Progress").get_by_text("Done", exact=True)).to_be_visible()


def endpoint(page: Page) -> None:
    page.get_by_role("button", name="New endpoint").first.click()
    page.get_by_role("dialog").get_by_label("URL").fill("http://localhost:1024/hooks")
    page.get_by_role("dialog").get_by_label("Selected events").click()
    page.get_by_role("dialog").get_by_label("asset.updated").click()
    expect(page.get_by_role("dialog")).to_contain_text("1 selected")


def delivery(page: Page) -> None:
    endpoint(page)
    page.get_by_role("button", name="Create endpoint").click()
    page.get_by_role("button", name="I have copied it").click()
    page.get_by_role("link", name="http://localhost:1024/hooks").first.click()
    page.get_by_role("button", name="Send test").click()
    page.get_by_role("button", name="Show the retrying delivery").first.click()
    expect(page.get_by_role("complementary")).to_contain_text(["The connection failed"])


def checked_list(page: Page) -> None:
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


def draft(page: Page) -> None:
    checked_list(page)
    investor = _investor(page)
    page.get_by_role("button", name="Create draft").click()
    page.get_by_role("tab", name="Held back 1").click()
    expect(page.get_by_role("region", name="Held recipients", exact=True)).to_be_visible()
    page.get_by_role("tab", name="Proof").click()
    page.get_by_label("Recipient", exact=True).fill(investor)
    page.get_by_role("button", name="Find proof").click()
    expect(page.get_by_label("Arguments of claim")).to_be_visible()


def activation(page: Page) -> None:
    draft(page)
    page.get_by_role("button", name="Activate", exact=True).click()
    expect(page.get_by_role("dialog").get_by_role("listitem")).to_have_count(4)


ORGANIZATION: list[State] = [
    ("overview", settle), ("organizations", settle), ("organizations", move), ("members", settle),
    ("eligibility", settle), ("eligibility", results), ("api-keys", settle), ("api-keys", key),
    ("account", settle), ("outbox", settle), ("webhooks", settle), ("webhooks", endpoint), ("webhooks", delivery),
    ("connections", settle), ("approvals", settle), ("settings", settle),
    ("settings", application),
]  # fmt: skip
CASES: list[State] = [
    ("attestations", settle), ("attestations?show=active", first_drawer), ("attestations", issue),
    ("parties", first_drawer), ("parties", register), ("issuer", settle), ("issuer", terms), ("wallets", settle),
    ("chains", first_drawer), ("chains", check_nodes), ("requests", first_drawer),
]  # fmt: skip
ISSUANCE: list[State] = [
    ("assets", settle), ("assets", compliance), ("assets", controls), ("assets", burn), ("assets/new", settle),
    ("markets", settle), ("markets", market), ("markets/new", settle), ("bridges", settle),
    ("transfers", settle), ("transfers", transfer), ("transfers", story),
    ("distributions", settle), ("distributions/new", checked_list), ("distributions/new", draft),
    ("distributions/new", activation), ("distributions", settle),
]  # fmt: skip


DIALOGS: list[tuple[str, list[str]]] = [
    ("organizations", ["New organization", "Edit"]),
    ("members", ["Add by wallet", "Change role of .*", "Remove .*"]),
    ("api-keys", ["Revoke .*"]),
    ("account", ["Change password", "Sign out everywhere", "Add authenticator app"]),
    ("webhooks/{webhook}", ["Edit endpoint", "Disable endpoint", "Rotate secret", "Delete endpoint"]),
    ("parties?id={party}", ["Attest", "Edit party"]),
    ("wallets", ["New wallet", "Link wallet"]),
    ("chains", ["Reset devnet"]),
    (
        "assets/{asset}?tab=controls",
        ["Mint", "Freeze", "Unfreeze", "Force transfer", "Recover wallet", "Pause on .*", "Edit limits"],
    ),
    ("markets/{market}", ["Place order"]),
    ("distributions/{distribution}?asset={asset}", ["Cancel distribution", "Pay out \\d+ recipients"]),
]
"""Dialogs by the button that opens them."""
