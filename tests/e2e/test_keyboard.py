"""The main job by keyboard only: sign in, verify a party, issue an asset, open a market, trade, approve."""

import re
import secrets

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.conftest import LOAD, Console, Signum

CHAIN_TIME = 6 * LOAD
STEPS = 250
"""The most controls that may lie before the wanted one."""
NO_POINTER = "addEventListener('pointerdown', () => sessionStorage.setItem('pointer', 'used'), true)"
SHOWS_FOCUS = """element => {
    const drawn = one => {
        const style = getComputedStyle(one);
        return style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0;
    };
    const near = [element, element.parentElement, element.parentElement?.parentElement, ...element.children];
    return near.some(one => one && drawn(one)) || getComputedStyle(element).boxShadow !== "none";
}"""


class Keyboard:
    """A person who uses only the keyboard, and who has to see where the focus is."""

    def __init__(self, page: Page) -> None:
        self.page, self.keys = page, page.keyboard
        page.add_init_script(NO_POINTER)

    def reach(self, target: Locator, key: str = "Tab") -> None:
        """Move the focus to a control; it must show that it has the focus."""
        expect(target).to_be_visible()
        for _ in range(STEPS):
            if target.evaluate("element => element === document.activeElement"):
                break
            self.keys.press(key)
        expect(target).to_be_focused()
        assert target.evaluate(SHOWS_FOCUS), f"the focus on {target} is invisible"

    def press(self, target: Locator, key: str = "Enter") -> None:
        """Move to a control and press it."""
        self.reach(target)
        self.keys.press(key)

    def write(self, target: Locator, text: str) -> None:
        """Move to a field and replace its content."""
        self.reach(target)
        self.keys.press("ControlOrMeta+a")
        self.keys.type(text)

    def choose(self, target: Locator, words: str) -> None:
        """Move to a select and type the beginning of an option."""
        self.reach(target)
        self.keys.type(words)
        expect(target.locator("option:checked")).to_contain_text(words)

    def open_page(self, letter: str, title: str) -> None:
        """Open a page with its shortcut."""
        self.keys.press("g")
        self.keys.press(letter)
        expect(self.page.get_by_role("heading", level=1, name=title, exact=True)).to_be_visible()

    def has_used_no_pointer(self) -> bool:
        """Return whether no pointer was used."""
        return bool(self.page.evaluate("sessionStorage.getItem('pointer') === null"))


@pytest.mark.long
def test_main_job_by_keyboard_only(console: Console, signum: Signum) -> None:
    page, admin = console.page, signum.person()
    hand = Keyboard(page)
    page.goto(f"{signum.url}/sign-in")
    console.hydrated()
    hand.write(page.get_by_label("Email"), admin.email)
    hand.write(page.get_by_label("Password"), admin.password)
    hand.keys.press("Enter")
    page.wait_for_url("**/overview")
    console.hydrated().heading("Overview")
    signum.keep_proven(admin)
    console.goto("overview").heading("Overview")

    _verified(hand, f"Solveig Dahl {secrets.token_hex(3)}")
    _issued(hand, f"KB{secrets.token_hex(2)}".upper())
    _rules_changed(hand)
    _market(hand)
    _order(hand)
    _approved(console, hand)
    assert hand.has_used_no_pointer()


def _done(page: Page) -> None:
    progress = page.get_by_role("region", name="Progress")
    expect(progress.get_by_text("Done", exact=True)).to_be_visible(timeout=CHAIN_TIME)


def _verified(hand: Keyboard, name: str) -> None:
    """Register a party, verify it, and attest it with the decision."""
    page = hand.page
    hand.open_page("y", "Parties")
    hand.press(page.get_by_role("button", name="Register party"))
    dialog = page.get_by_role("dialog", name="Register a party")
    hand.write(dialog.get_by_label("Name", exact=True), name)
    hand.write(dialog.get_by_label("Country"), "Sweden")
    hand.write(dialog.get_by_label("Wallet address"), "0x" + secrets.token_hex(20))
    hand.press(dialog.get_by_role("button", name="Register party"))
    expect(dialog).to_have_count(0)
    case = page.get_by_role("complementary", name=name)
    if not case.is_visible():
        hand.keys.press("j")
    expect(case.get_by_role("button", name="Verify", exact=True)).to_be_visible()
    hand.choose(case.get_by_label("KYC level"), "Level 2")
    hand.choose(case.get_by_label("Attest on"), "Sepolia")
    hand.press(case.get_by_role("button", name="Verify", exact=True))
    expect(case.get_by_text("The chain agrees.")).to_be_visible(timeout=CHAIN_TIME)
    hand.keys.press("Escape")


def _issued(hand: Keyboard, symbol: str) -> None:
    """Create an asset."""
    page = hand.page
    hand.open_page("a", "Assets")
    hand.press(page.get_by_role("link", name="New asset"))
    expect(page.get_by_role("heading", level=1, name="New asset")).to_be_visible()
    hand.write(page.get_by_label("Name", exact=True), f"Keyboard Notes {symbol}")
    hand.write(page.get_by_label("Symbol"), symbol)
    hand.choose(page.get_by_label("Chain"), "Sepolia")
    hand.write(page.get_by_label("Initial supply"), "1000")
    hand.press(page.get_by_role("button", name="Create asset"))
    page.wait_for_url(re.compile(r"/assets/[0-9a-f-]{36}"))
    token = page.get_by_role("table", name="Tokens by chain").get_by_role("row").nth(1)
    expect(token.get_by_text("Active", exact=True)).to_be_visible(timeout=CHAIN_TIME)


def _rules_changed(hand: Keyboard) -> None:
    """Change the asset's rules."""
    page = hand.page
    hand.reach(page.get_by_role("tab", name="Overview"))
    hand.reach(page.get_by_role("tab", name="Compliance"), "ArrowRight")
    hand.keys.press("Enter")
    hand.write(page.get_by_role("textbox", name="Maximum holders"), "150")
    hand.press(page.get_by_role("button", name="Review and save"))
    review = page.get_by_role("dialog", name="Save these rules?")
    hand.press(review.get_by_role("button", name="Save rules"))
    _done(page)


def _market(hand: Keyboard) -> None:
    """Deploy a market for the asset."""
    page = hand.page
    hand.press(page.get_by_role("link", name="Deploy market"))
    chain = page.get_by_role("radio", name=re.compile("^Sepolia Devnet"))
    hand.reach(page.locator("input[name=chain]").first)
    if not chain.is_checked():
        hand.reach(chain, "ArrowDown")
        hand.keys.press("Space")
    expect(chain).to_be_checked()
    for _ in range(3):
        hand.press(page.get_by_role("button", name="Continue"))
    hand.press(page.get_by_role("button", name="Review"))
    hand.press(page.get_by_role("button", name="Deploy market"))
    page.wait_for_url(re.compile(r"/markets/[0-9a-f-]{36}"))
    expect(page.get_by_role("button", name="Place order")).to_be_visible(timeout=CHAIN_TIME)


def _order(hand: Keyboard) -> None:
    """Offer a part of the treasury's tokens."""
    page = hand.page
    hand.press(page.get_by_role("button", name="Place order"))
    dialog = page.get_by_role("dialog")
    hand.press(dialog.get_by_role("button", name="Sell", exact=True))
    hand.choose(dialog.get_by_label("Wallet"), "Treasury")
    hand.write(dialog.get_by_label("Price"), "10")
    hand.write(dialog.get_by_label("Amount"), "5")
    hand.press(dialog.get_by_role("button", name="Place sell order"))
    expect(dialog).to_have_count(0)
    hand.reach(page.get_by_role("main").get_by_role("tab", selected=True))
    hand.reach(page.get_by_role("tab", name="Trading"), "ArrowLeft")
    hand.keys.press("Enter")
    row = page.get_by_role("table", name="Orders").locator("tbody").get_by_role("row").first
    expect(row.get_by_text("Open", exact=True)).to_be_visible(timeout=CHAIN_TIME)


def _approved(console: Console, hand: Keyboard) -> None:
    """Approve what another admin of a sub-organization requested."""
    signum, page = console.signum, hand.page
    first, other = [person for person in signum.people if person.role == "admin"][:2]
    office = signum.call("POST", "/orgs", {"name": f"Second Desk {secrets.token_hex(2)}"})["id"]
    members = {}
    for person, role in ((other, "admin"), (signum.person("member"), "viewer")):
        user = signum.call("GET", "/auth/me", person=person)["user"]["id"]
        members[role] = signum.call("POST", f"/orgs/{office}/members", {"user_id": user, "role": role})["id"]
        signum.call("POST", f"/memberships/{members[role]}/accept", person=person)
    signum.call("PATCH", f"/orgs/{office}", {"approvals": ["member.change_role"]}, person=first)
    signum.call("PATCH", f"/orgs/{office}/members/{members['viewer']}", {"role": "member"}, person=other)
    console.goto("approvals", office).heading("Approvals")
    hand.press(page.get_by_role("table", name="Approvals").get_by_role("button").last)
    hand.press(page.get_by_role("button", name="Approve", exact=True))
    expect(page.get_by_text("approved it")).to_be_visible()
