"""Each role is offered its own actions only, on every page. A new button must be classified here."""

import re

import pytest
from playwright.sync_api import Page, expect

from backend.auth.scopes import ACTIONS, ROLE_SCOPES, Scope
from backend.users.schemas import Role
from tests.e2e.conftest import Console, Signum

HEADS: list[tuple[str, str, Scope]] = [
    ("overview", "Invite people", Scope.MEMBERS_WRITE),
    ("organizations", "New organization", Scope.ORGS_WRITE),
    ("members", "Add by wallet", Scope.MEMBERS_WRITE),
    ("members", "Invite people", Scope.MEMBERS_WRITE),
    ("eligibility", "Invite people", Scope.MEMBERS_WRITE),
    ("api-keys", "New key", Scope.API_KEYS_WRITE),
    ("webhooks", "New endpoint", Scope.ORGS_WRITE),
    ("settings", "New application", Scope.API_KEYS_WRITE),
    ("attestations", "Issue attestation", Scope.ATTESTATIONS_WRITE),
    ("parties", "Register party", Scope.ATTESTATIONS_WRITE),
    ("issuer", "Change terms", Scope.API_KEYS_WRITE),
    ("wallets", "New wallet", Scope.WALLETS_WRITE),
    ("wallets", "Link wallet", Scope.WALLETS_WRITE),
    ("assets", "New asset", Scope.ASSETS_WRITE),
    ("assets/new", "Create asset", Scope.ASSETS_WRITE),
    ("assets/{asset}?tab=controls", "Mint", Scope.ASSETS_WRITE),
    ("assets/{asset}?tab=controls", "Edit limits", Scope.ORGS_WRITE),
    ("markets", "Deploy market", Scope.ASSETS_WRITE),
    ("markets/new", "Continue", Scope.ASSETS_WRITE),
    ("markets/{market}", "Place order", Scope.TRANSFERS_WRITE),
    ("bridges", "New bridge", Scope.ASSETS_WRITE),
    ("transfers", "New transfer", Scope.TRANSFERS_WRITE),
    ("distributions", "New distribution", Scope.ASSETS_WRITE),
    ("distributions/new", "Check the list", Scope.ASSETS_WRITE),
]
"""The main actions of pages: path, button and scope."""
FURTHER: list[tuple[str, Scope]] = [
    ("Edit|New|Move|Add sub-organization", Scope.ORGS_WRITE),
    (
        "Send test|Enable|(Edit|Disable|Delete) endpoint|Rotate secret|Replay failed deliveries|Save .*",
        Scope.ORGS_WRITE,
    ),
    (
        "Change role of .*|Remove .*|Revoke the invitation of .*|Invite again .*|View emails|"
        "Invite \\d+ (person|people)",
        Scope.MEMBERS_WRITE,
    ),
    ("Revoke .*", Scope.API_KEYS_WRITE),
    ("(Enable|Disable) .*|Check nodes|1 hour|1 day|30 days", Scope.CHAINS_WRITE),
    ("Review|Renew|Reject|Upload|Verify|Revoke|Attest.*|Change decision|Import parties", Scope.ATTESTATIONS_WRITE),
    (
        "Freeze|Unfreeze|Force transfer|Recover wallet|Burn|(Pause|Resume|Limit) .*|Pause|Resume|Limit",
        Scope.ASSETS_WRITE,
    ),
    (
        "Archive|Activate|Cancel|Cancel distribution|Pay out (to .*|\\d+ recipients)|Return.*|Add a country to block"
        "|Deploy market|Move share",
        Scope.ASSETS_WRITE,
    ),
    ("Unpause .*|Unfreeze .*|Retry bridge.*", Scope.ASSETS_WRITE),
    ("Raise the .*|Change the .* of .*|Set the rules of .*", Scope.ASSETS_WRITE),
    ("Register .* as a party|Verify .* again|Edit party", Scope.ATTESTATIONS_WRITE),
    ("Cancel the .*", Scope.TRANSFERS_WRITE),
    *(("Retry|Retry from here", scope) for scope in ACTIONS),
]
"""Actions that depend on the records that a page shows."""
ANYONE = (
    "Later|Set up second factor|View|View all|Open|Older|Newer|Export CSV|Evidence|Reload|Refresh|View asset|Account"
    "|Invitations|Find proof|Check transfer|Check again|Recheck eligibility|Decide|Try again|Add authenticator app"
    "|Add passkey"
    "|Change password|Connected applications|Sign out .*|Assets|Show more|Views|Start over|Reset devnet|Link wallet"
    "|Disconnect .*|Open the bridge|Review approval|View approval|Check addresses|Back to .*|Show all waiting"
    "|Show my requests|Withdraw request|View markets|View transfers"
    "|Register as issuer|Create evidence pack|New pack|Open received pack"
    "|Overview|Download archive|Download PDF|Start tour|Hide the tour"
)
"""Navigation, reading, the person's own account, and their own requests."""
ALSO_ANYONE = {"audit": "Verify", "account": "Save", "assets/{asset}/evidence": "Verify"}
"""What everyone is offered on some pages."""
PAGES = [
    *dict.fromkeys(path for path, _, _ in HEADS), "members?tab=invitations", "account", "connections",
    "approvals", "audit", "attestations?show=active", "chains", "requests", "assets/{asset}?tab=compliance",
    "assets/{asset}?tab=check", "assets/{asset}/evidence", "distributions/{distribution}",
]  # fmt: skip
WITH_DRAWER = ("approvals", "attestations", "attestations?show=active", "parties", "chains", "requests", "bridges")
BUTTONS = """main => [...main.querySelectorAll('.btn')]
    .filter(button => button.offsetParent && !button.closest('fieldset:disabled'))
    .map(button => [
        (button.getAttribute('aria-label') || button.textContent).trim(),
        button.getAttribute('aria-disabled') === 'true',
    ])"""


def offered(page: Page) -> set[str]:
    """Return the names of the buttons on a page that can be pressed."""
    found: list[tuple[str, bool]] = page.locator("main").evaluate(BUTTONS)
    assert all("You need the role" in name for name, is_explained in found if is_explained)
    return {name for name, is_explained in found if not is_explained}


def allowed(path: str, name: str, scopes: frozenset[Scope]) -> bool:
    """Return whether a button may be offered to a role with these scopes. Fail for a button that is not classified."""
    if re.fullmatch(ANYONE, name) or name == ALSO_ANYONE.get(path):
        return True
    page = path.partition("?")[0]
    needed = {scope for of, words, scope in HEADS if of.partition("?")[0] == page and words == name}
    needed = needed or {scope for words, scope in FURTHER if re.fullmatch(words, name)}
    assert needed, f"{path}: the button {name!r} is new; add it to HEADS, FURTHER or ANYONE"
    return bool(needed & scopes)


EVERY_CHANGE = (Role.ADMIN, Role.VIEWER)
EACH_ROLE = [
    pytest.param(role, marks=[] if role in EVERY_CHANGE else [pytest.mark.nightly])
    for role in ROLE_SCOPES
    if role is not Role.CLIENT
]


@pytest.mark.long
@pytest.mark.parametrize("role", EACH_ROLE)
def test_role_is_offered_its_actions_only(console: Console, signum: Signum, role: Role) -> None:
    assets = signum.call("GET", "/orgs/{org}/assets", limit=100)["assets"]
    markets = signum.call("GET", "/orgs/{org}/markets", limit=100)["markets"]
    ids = {
        "asset": next(asset["id"] for asset in assets if asset["symbol"] == "NREF"),
        "market": next(market["id"] for market in markets if market["status"] == "active"),
        "distribution": signum.call("GET", "/orgs/{org}/distributions")["distributions"][0]["id"],
    }
    scopes, page = ROLE_SCOPES[role], console.page
    console.sign_in(signum.person(role))
    for path in PAGES:
        console.goto(path.format(**ids))
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        expect(page.get_by_role("status", name="Loading")).to_have_count(0)
        for of, name, scope in HEADS:
            if of == path:
                words = page.get_by_role("main").locator(".btn").filter(has_text=re.compile(f"^{name}$")).first
                expect(words).to_be_visible(visible=scope in scopes)
        if path in WITH_DRAWER:
            page.keyboard.press("j")
            expect(page.get_by_role("complementary").get_by_role("heading", level=2).first).to_be_visible()
        wrong = {name for name in offered(page) if not allowed(path, name, scopes)}
        assert wrong == set(), f"{path} offers a {role} what the API refuses"


def test_retry_of_another_roles_request_explains_who_can(console: Console, signum: Signum) -> None:
    failed = signum.call("GET", "/orgs/{org}/requests", status="failed")["requests"]
    bridge = next(request for request in failed if request["kind"] == "bridge.send")
    page = console.sign_in(signum.person("member"), f"requests?id={bridge['id']}").heading("Requests").page
    retry = page.get_by_role("complementary").get_by_role("button", name="Retry from here")
    expect(retry).to_be_disabled()
    retry.focus()
    expect(page.get_by_role("tooltip")).to_have_text(
        "You need the role Admin or Compliance officer for this. Elin Halvorsen or Priya Shah can help."
    )


def test_fix_of_another_roles_request_explains_who_can(console: Console, signum: Signum) -> None:
    failed = signum.call("GET", "/orgs/{org}/requests", status="failed")["requests"]
    order = next(one for one in failed if "as a party" in str((one["problem"] or {}).get("resolution")))
    page = console.sign_in(signum.person("member"), f"requests?id={order['id']}").heading("Requests").page
    fix = page.get_by_role("complementary").get_by_role("button", name="as a party")
    expect(fix).to_be_disabled()
    fix.focus()
    expect(page.get_by_role("tooltip").filter(visible=True)).to_contain_text("Elin Halvorsen or Priya Shah can help.")
    expect(page.get_by_role("complementary").get_by_role("link", name="as a party")).to_have_count(0)


LACKING = [
    ("member", "wallets", "You need the role Admin to create or link wallets. Elin Halvorsen can help."),
    ("viewer", "transfers", "You need the role Admin or Member to send tokens."),
    ("member", "webhooks", "You need the role Admin to add endpoints."),
    ("viewer", "parties", "You need the role Admin or Compliance officer to register and verify parties."),
    ("compliance_officer", "transfers", "You need the role Admin or Member to send tokens."),
    ("compliance_officer", "chains", "You need the role Admin to enable chains."),
    ("compliance_officer", "members", "You need the role Admin to invite people and change roles."),
    ("compliance_officer", "eligibility", "You need the role Admin to invite people."),
]


@pytest.mark.parametrize(("role", "path", "words"), LACKING)
def test_page_without_its_main_button_says_who_can(
    console: Console, signum: Signum, role: str, path: str, words: str
) -> None:
    page = console.sign_in(signum.person(role), path).page
    expect(page.get_by_role("main")).to_contain_text(words)


def test_officer_reads_who_can_edit_limits_and_trade(console: Console, signum: Signum) -> None:
    assets = signum.call("GET", "/orgs/{org}/assets", limit=100)["assets"]
    asset = next(asset["id"] for asset in assets if asset["symbol"] == "NREF")
    markets = signum.call("GET", "/orgs/{org}/markets", limit=100)["markets"]
    market = next(market["id"] for market in markets if market["status"] == "active")
    page = console.sign_in(signum.person("compliance_officer"), f"assets/{asset}?tab=controls").page
    limits = page.locator(".card").filter(has=page.get_by_role("heading", name="Daily limits"))
    expect(limits).to_contain_text("You need the role Admin to edit limits. Elin Halvorsen can help.")
    console.goto(f"markets/{market}")
    expect(page.get_by_role("main")).to_contain_text("You need the role Admin or Member to place or cancel orders.")


def test_officer_reads_that_an_own_request_waits_for_another_person(console: Console, signum: Signum) -> None:
    officer = signum.person("compliance_officer")
    page = console.sign_in(officer, "overview").heading("Overview").page
    own = page.get_by_role("region", name="Your requests wait for another person")
    expect(own).to_contain_text("Elin Halvorsen can approve it.")
    own.get_by_role("link", name="View").first.click()
    said = "You requested this, so another person must approve it. Elin Halvorsen can approve it."
    expect(page.get_by_role("complementary").get_by_text(said)).to_be_visible()
    console.goto("approvals").heading("Approvals")
    page.get_by_role("button", name="Show my requests").click()
    expect(page.get_by_role("button", name="My requests", exact=True)).to_have_attribute("aria-pressed", "true")


def test_role_without_the_scope_reads_who_can_deploy_a_market(console: Console, signum: Signum) -> None:
    page = console.sign_in(signum.person("viewer"), "markets/new").heading("New market").page
    expect(page.get_by_text("Your role cannot do this")).to_be_visible()
    who = page.get_by_text("You need the role Admin or Compliance officer for this.")
    expect(who).to_contain_text("Elin Halvorsen")
    expect(page.get_by_role("button", name="Continue")).to_have_count(0)
    page.get_by_role("main").get_by_role("link", name="Back to markets").click()
    console.heading("Markets")
