"""An officer requests, an admin approves or denies; settings choose the actions that need a second person."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Locator, Page, expect

from tests.e2e.conftest import Console, Person, Signum

ACTION = "Change an asset's rules"
UNKNOWN = "0x52908400098527886E0F7030069857D2E4169EE7"


def _row(page: Page, title: str = "Change the rules of") -> Locator:
    """The control that opens an approval of the list."""
    return page.get_by_role("table", name="Approvals").get_by_role("button", name=title)


def _lift(console: Console, browser: Browser, other: Person, membership: str) -> None:
    """Remove the requirement of a second person: the admin requests it, and another admin approves."""
    page, signum = console.goto("settings").page, console.signum
    page.get_by_label(ACTION, exact=True).uncheck()
    page.get_by_role("button", name="Save approval rules").click()
    expect(page.get_by_text("A second person is needed to remove")).to_be_visible()
    page.get_by_role("button", name="Request approval").click()
    expect(page.get_by_text("Approval requested")).to_be_visible()
    context = browser.new_context(viewport={"width": 390, "height": 844}, reduced_motion="reduce")
    second = Console(context.new_page(), signum)
    second.sign_in(other, "approvals").heading("Approvals")
    _row(second.page, "Change the actions").click()
    second.page.get_by_role("button", name="Approve", exact=True).click()
    expect(second.page.get_by_text("approved it")).to_be_visible()
    expect(_row(second.page, "Change the actions")).to_have_count(0)
    assert second.errors == []
    context.close()
    page.reload()
    expect(page.get_by_label(ACTION, exact=True)).not_to_be_checked()
    signum.call("DELETE", f"/orgs/{{org}}/members/{membership}", person=other)


@pytest.mark.long
def test_second_person_approves_and_denies_requests(console: Console, shared_browser: Browser, signum: Signum) -> None:
    other, membership = signum.second_admin()
    admin = console.sign_in(path="settings").heading("Settings").page
    admin.get_by_label(ACTION, exact=True).check()
    admin.get_by_role("button", name="Save approval rules").click()
    expect(admin.get_by_text("The approval rules are saved")).to_be_visible()
    assets = signum.call("GET", "/orgs/{org}/assets", status="active")["assets"]
    asset = f"/orgs/{{org}}/assets/{assets[0]['id']}"
    before = assets[0]["max_holders"]

    context = shared_browser.new_context(viewport={"width": 1440, "height": 960}, reduced_motion="reduce")
    officer = Console(context.new_page(), signum)
    role = "compliance_officer"
    asked = signum.call("PATCH", asset, {"max_holders": before + 111}, role=role)
    officer.sign_in(signum.person(role), f"requests?id={asked['requestId']}")
    expect(officer.page.get_by_text("Waiting for a second person.")).to_be_visible()
    expect(officer.page.get_by_role("definition").get_by_text("Change of an asset", exact=True)).to_be_visible()
    own = officer.page.get_by_text("You requested this, so another person must approve it. Elin Halvorsen")
    expect(own.first).to_be_visible()
    expect(officer.page.get_by_role("link", name="Review approval")).to_have_count(0)
    officer.page.get_by_role("link", name="View approval").click()
    expect(own.first).to_be_visible()
    officer.goto("approvals").heading("Approvals")
    officer.page.get_by_role("button", name="Show my requests").click()
    _row(officer.page).first.click()
    expect(own.first).to_be_visible()
    expect(officer.page.get_by_role("button", name="Approve", exact=True)).to_have_count(0)

    console.goto("approvals").heading("Approvals")
    expect(admin.get_by_role("navigation", name="Main").get_by_role("link", name="Approvals")).to_contain_text("2")
    _row(admin).click()
    expect(_fact(admin, "Max holders").first).to_have_text(str(before + 111))
    assert [v["id"] for v in Axe().run(admin).response["violations"]] == []
    admin.get_by_role("button", name="Deny").click()
    dialog = admin.get_by_role("dialog")
    dialog.get_by_label("Reason").fill("Too many")
    dialog.get_by_role("button", name="Deny").click()
    expect(admin.get_by_text("denied it: Too many")).to_be_visible()
    assert signum.call("GET", asset)["max_holders"] == before

    again = signum.call("PATCH", asset, {"max_holders": before + 11}, role=role)
    console.goto("approvals")
    _row(admin).click()
    admin.get_by_role("button", name="Approve", exact=True).click()
    expect(admin.get_by_text("approved it")).to_be_visible()
    expect(_row(admin)).to_have_count(0)
    officer.goto(f"requests?id={again['requestId']}")
    expect(officer.page.get_by_label("Details").get_by_text("Done", exact=True).first).to_be_visible(timeout=30_000)
    assert signum.call("GET", asset)["max_holders"] == before + 11
    assert officer.errors == []
    context.close()
    _lift(console, shared_browser, other, membership)


def _fact(page: Page, label: str) -> Locator:
    """The value of an argument in the drawer."""
    return page.locator("dl.kv > div").filter(has=page.get_by_text(label, exact=True)).locator("dd")


@pytest.mark.long
def test_drawer_shows_receiver_of_a_bridge_and_wallet_of_an_added_member(console: Console, signum: Signum) -> None:
    other, membership = signum.second_admin()
    signum.call("PATCH", "/orgs/{org}", {"approvals": ["token.forced_transfer", "bridge.send"]})
    assets = signum.call("GET", "/orgs/{org}/assets", status="active")["assets"]
    asset = next(one for one in assets if len(one["deployments"]) > 1)
    source, destination = [one["chain_eid"] for one in asset["deployments"]][:2]
    chains = {one["xchain_eid"]: one["display_name"] for one in signum.call("GET", "/orgs/{org}/chains")["chains"]}
    amount = str(3 * 10 ** asset["decimals"])
    bridge = {"source_chain_eid": source, "destination_chain_eid": destination, "amount": amount, "to_address": UNKNOWN}
    officer = "compliance_officer"
    signum.call("POST", f"/orgs/{{org}}/assets/{asset['id']}/bridge", bridge, role=officer)
    member = {"wallet_address": UNKNOWN, "display_name": "Dr. Clara Weiss", "role": "admin"}
    signum.call("POST", "/orgs/{org}/members", member)

    page = console.sign_in(other, "approvals").heading("Approvals").page
    _row(page, f"Bridge 3 {asset['symbol']}").click()
    expect(_fact(page, "Receiver")).to_contain_text(f"Unknown wallet{UNKNOWN[:6]}")
    expect(_fact(page, "Amount").first).to_have_text(f"3 {asset['symbol']}")
    expect(_fact(page, "Destination chain").first).to_have_text(chains[destination])
    assert [v["id"] for v in Axe().run(page).response["violations"]] == []
    _deny(page)
    _row(page, "as an admin").click()
    expect(_fact(page, "Wallet").first).to_contain_text(f"Unknown wallet{UNKNOWN[:6]}")
    expect(_fact(page, "Name")).to_have_text("Dr. Clara Weiss (written by the requester, not confirmed)")
    _deny(page)

    asked = signum.call("POST", "/orgs/{org}/approvals", {"approvals": ["token.forced_transfer"]})
    signum.call("POST", f"/orgs/{{org}}/approvals/{asked['approvalId']}/approve", person=other)
    console.goto(f"requests?id={asked['requestId']}")
    expect(page.get_by_label("Details").get_by_text("Done", exact=True).first).to_be_visible(timeout=30_000)
    signum.call("DELETE", f"/orgs/{{org}}/members/{membership}", person=other)


def _deny(page: Page) -> None:
    page.get_by_role("button", name="Deny").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Reason").fill("Not expected")
    dialog.get_by_role("button", name="Deny").click()
    expect(page.get_by_text("denied it: Not expected")).to_be_visible()


def test_approval_settings_are_saved_and_errors_shown_at_fields(console: Console, signum: Signum) -> None:
    page = console.sign_in(path="settings").heading("Settings").page
    page.get_by_label("Seats").fill("many")
    page.get_by_role("button", name="Save requirements").click()
    expect(page.get_by_text("Enter a whole number from 1, or nothing for no limit")).to_be_visible()
    page.get_by_label("Seats").fill("500")
    page.get_by_label("Allowed email domains").fill("not a domain")
    page.get_by_role("button", name="Save requirements").click()
    expect(page.get_by_text("Is not a mail domain")).to_be_visible()
    page.get_by_label("Allowed email domains").fill("")
    page.get_by_role("button", name="Save requirements").click()
    expect(page.get_by_text("The requirements are saved")).to_be_visible()
    assert signum.call("GET", "/orgs/{org}")["member_requirements"]["seats"] == 500


def test_application_secret_is_shown_once_and_application_is_removed(console: Console) -> None:
    page = console.sign_in(path="settings").heading("Settings").page
    page.get_by_role("button", name="New application").click()
    dialog = page.get_by_role("dialog", name="New application")
    dialog.get_by_label("Name", exact=True).fill("Investor portal")
    dialog.get_by_label("Redirect URIs").fill("http://portal.example/callback")
    dialog.get_by_role("button", name="Create application").click()
    expect(dialog.get_by_text("The redirect URI must use https")).to_be_visible()
    dialog.get_by_label("Redirect URIs").fill("https://portal.example/callback")
    dialog.get_by_role("button", name="Create application").click()
    shown = page.get_by_role("dialog", name="Copy what Investor portal needs")
    secret = shown.get_by_label("The new secret").input_value()
    assert secret.startswith("sgo_")
    shown.get_by_role("button", name="Done").click()
    row = page.get_by_role("row").filter(has_text="Investor portal")
    expect(row).to_contain_text("https://portal.example/callback")
    assert secret not in page.content()
    row.get_by_role("button", name="Remove Investor portal").click()
    page.get_by_role("dialog", name="Remove Investor portal").get_by_role("button", name="Remove").click()
    expect(row).to_contain_text("Revoked")


def test_requester_withdraws_a_request_and_others_read_it(console: Console, signum: Signum) -> None:
    officer, asset = "compliance_officer", signum.call("GET", "/orgs/{org}/assets", q="NREF")["assets"][0]
    wallets = {one["label"]: one for one in signum.call("GET", "/orgs/{org}/wallets", limit=100)["wallets"]}
    sender, receiver = (wallets[f"{name} custody"] for name in ("Kestrel Pension Trust", "Alder Family Office"))
    chain, amount = asset["deployments"][0]["chain_eid"], str(7 * 10 ** asset["decimals"])
    ends = {"from_address": sender["address"], "to_address": receiver["address"], "chain_eid": chain}
    control, body = (
        f"/orgs/{{org}}/assets/{asset['id']}/forced-transfer",
        {"amount": amount, "reason": "Court order 15"},
    )
    asked = signum.call("POST", control, ends | body, role=officer)
    title = "Forced transfer of 7 NREF from Kestrel Pension Trust to Alder Family Office"

    viewer = console.sign_in(signum.person("viewer"), "approvals?view=pending").heading("Approvals").page
    _row(viewer, title).click()
    drawer = viewer.get_by_role("complementary", name=title)
    expect(drawer).to_contain_text("You need the role Admin or Compliance officer to approve it. Elin Halvorsen can")
    expect(drawer.get_by_role("definition").get_by_text("Court order 15")).to_be_visible()
    expect(drawer.get_by_role("heading", name="What it will do")).to_have_count(0)
    expect(drawer.get_by_role("button", name="Withdraw request")).to_have_count(0)

    page = console.sign_in(signum.person("admin"), f"requests?id={asked['requestId']}").heading("Requests").page
    drawer = page.get_by_role("complementary", name=title)
    expect(drawer).to_contain_text("You can approve it.")
    expect(drawer.get_by_text("Expires", exact=True)).to_be_visible()
    expect(drawer.get_by_role("button", name="Withdraw request")).to_have_count(0)

    page = console.sign_in(signum.person(officer), f"requests?id={asked['requestId']}").heading("Requests").page
    page.get_by_role("complementary", name=title).get_by_role("button", name="Withdraw request").click()
    dialog = page.get_by_role("dialog", name=f"Withdraw: {title}")
    expect(dialog).to_contain_text("The request ends and nothing is done.")
    dialog.get_by_role("button", name="Cancel").click()
    console.goto("approvals?view=mine").heading("Approvals")
    _row(page, title).click()
    page.get_by_role("complementary", name=title).get_by_role("button", name="Withdraw request").click()
    dialog.get_by_label("Reason").fill("Wrong amount")
    assert [v["id"] for v in Axe().run(page).response["violations"]] == []
    dialog.get_by_role("button", name="Withdraw request").click()
    expect(
        page.get_by_role("complementary", name=title).get_by_text("Priya Shah withdrew it: Wrong amount")
    ).to_be_visible()
    expect(page.get_by_role("button", name="Withdraw request")).to_have_count(0)
    page.get_by_role("complementary", name=title).get_by_role("link", name="View request").click()
    expect(page.get_by_role("complementary", name=title)).to_contain_text(
        "It was withdrawn. Priya Shah withdrew this request"
    )
    assert signum.call("GET", f"/orgs/{{org}}/requests/{asked['requestId']}")["is_withdrawn"] is True


@pytest.mark.long
def test_drawer_shows_names_changes_since_the_request_and_comments(
    console: Console, shared_browser: Browser, signum: Signum
) -> None:
    other, membership = signum.second_admin()
    officer, asset = "compliance_officer", signum.call("GET", "/orgs/{org}/assets", q="NREF")["assets"][0]
    wallets = {one["label"]: one for one in signum.call("GET", "/orgs/{org}/wallets", limit=100)["wallets"]}
    sender, receiver = (wallets[f"{name} custody"] for name in ("Kestrel Pension Trust", "Alder Family Office"))
    chain, unit = asset["deployments"][0]["chain_eid"], 10 ** asset["decimals"]
    ends = {"from_address": sender["address"], "to_address": receiver["address"], "chain_eid": chain}
    control = f"/orgs/{{org}}/assets/{asset['id']}/forced-transfer"
    signum.call("POST", control, ends | {"amount": str(3 * unit), "reason": "Court order 14"}, role=officer)

    context = shared_browser.new_context(viewport={"width": 390, "height": 844}, reduced_motion="reduce")
    requester = Console(context.new_page(), signum)
    requester.sign_in(signum.person(officer), "approvals?view=mine").heading("Approvals")
    page = requester.page
    _row(page, "Forced transfer of 3 NREF from Kestrel Pension Trust to Alder Family Office").click()
    expect(page.get_by_text("Nothing relevant has changed since the request.")).to_be_visible(timeout=30_000)
    page.get_by_role("textbox", name="Comment").fill("The order is in the file of Kestrel.")
    page.get_by_role("button", name="Add comment").click()
    comments = page.get_by_role("region", name="Comments")
    expect(comments.get_by_role("listitem")).to_contain_text("The order is in the file of Kestrel.")
    expect(page.get_by_role("textbox", name="Comment")).to_have_value("")
    assert [v["id"] for v in Axe().run(page).response["violations"]] == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    context.close()

    moved = {"asset_id": asset["id"], "chain_eid": chain, "amount": str(unit), "to_address": receiver["address"]}
    sent = signum.call("POST", "/orgs/{org}/transfers", moved | {"from_wallet_id": sender["id"]})
    page = console.sign_in(other, f"requests?id={sent['requestId']}").page
    expect(page.get_by_label("Details").get_by_text("Done", exact=True).first).to_be_visible(timeout=60_000)
    console.goto("approvals").heading("Approvals")
    _row(page, "Forced transfer of 3 NREF from Kestrel Pension Trust to Alder Family Office").click()
    step = "Move 3 NREF from Kestrel Pension Trust to Alder Family Office"
    expect(page.get_by_role("listitem").filter(has_text=step)).to_be_visible(timeout=30_000)
    since = page.get_by_role("region", name="Since it was requested")
    expect(since.get_by_text("Balance of Kestrel Pension Trust")).to_be_visible()
    expect(since.get_by_text("Balance of Alder Family Office")).to_be_visible()
    expect(page.get_by_role("region", name="Comments")).to_contain_text("The order is in the file of Kestrel.")
    expect(page.get_by_role("definition").get_by_text("Forced transfer", exact=True)).to_be_visible()
    expect(page.get_by_text("token.forced_transfer")).to_have_count(0)
    assert [v["id"] for v in Axe().run(page).response["violations"]] == []
    _deny(page)

    signum.call("DELETE", f"/orgs/{{org}}/members/{membership}", person=other)
