"""Someone who gives the demo and knows only the tour's card: presses what is outlined, and enters what it says."""

import re
import secrets

from playwright.sync_api import Locator, Page, expect

CHAIN_TIME = 60_000
OUTLINED = "[data-tour]"


class Presenter:
    """Follows the card step by step. A step ends with the number of the next one on the card."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.symbol = f"T{secrets.token_hex(2)}".upper()

    @property
    def card(self) -> Locator:
        """The tour's card."""
        return self.page.get_by_role("complementary", name="Guided tour")

    def outlined(self, words: str = "") -> Locator:
        """Wait for the outlined control; `words` begin its text."""
        found = self.page.locator(OUTLINED)
        if words:
            said = re.compile(rf"^\s*([A-Z]{{2}})?{words}")  # an avatar has two letters
            expect(
                found.filter(has_text=said).or_(self.page.locator(f'{OUTLINED}[aria-label^="{words}"]'))
            ).to_have_count(1)
        return found

    def press(self, *outlined: str) -> None:
        """Press controls, each once it is outlined."""
        for words in outlined:
            self.outlined(words).click()

    def at_step(self, number: int) -> None:
        """Wait until the card shows a step."""
        expect(self.card.get_by_text(f"Step {number} of")).to_be_visible(timeout=CHAIN_TIME)

    def show_me(self, opened: str = "") -> None:
        """Press "Show me"; `opened` is the name of the row that the page then opens beside its list."""
        link = self.card.get_by_role("link", name="Show me")
        path = str(link.get_attribute("href"))
        link.click()
        self.page.wait_for_url(re.compile(rf"{re.escape(path)}($|[?&])"))  # the page adds what it shows
        if opened:
            expect(self.page.get_by_role("row", selected=True).filter(has_text=opened)).to_be_visible()
            expect(self.page.get_by_role("complementary", name=opened)).to_be_visible()

    def said(self, pattern: str) -> tuple[str, ...]:
        """Return the parts of a text on the card."""
        what = self.card.get_by_role("paragraph").last
        expect(what).to_contain_text(re.compile(pattern))
        found = re.search(pattern, what.inner_text())
        assert found is not None
        return found.groups()

    def begin(self) -> None:
        """Start the tour on the overview."""
        self.page.get_by_role("button", name="Start tour").click()
        self.at_step(1)

    # The issuer

    def issue_fund(self) -> None:
        """Create a fund under the framework that the card names."""
        page = self.page
        supply, framework = self.said(r"a supply such as ([0-9,]+)\. .*framework: (.+?) wants")
        page.get_by_label("Name").fill(f"Tour Fund {self.symbol}")
        page.get_by_label("Symbol").fill(self.symbol)
        page.get_by_label("Chain").select_option(index=1)
        page.get_by_role("radio", name=re.compile(f"^{framework}")).click()
        page.get_by_label("Initial supply").fill(supply)
        expect(page.get_by_label("Maximum holders")).to_have_value("2,000")
        self.press("Create asset")

    def verify(self) -> str:
        """Verify the party that the card names, with what the fund requires; return its name."""
        (name,) = self.said(r"Open (.+?), (?:read the documents, )?and verify")
        self.show_me(name)
        case = self.page.get_by_role("complementary", name=name)
        if "read the documents" in self.card.inner_text():
            expect(case.get_by_role("list", name="Documents")).to_be_visible()
        if level := re.search(r"KYC level (\d)", self.card.inner_text()):
            case.get_by_label("KYC level").select_option(level[1])
        if "Accredited investor" in self.card.inner_text():
            self.press("Accredited investor")
        self.press("Verify")
        return name

    def attest(self, name: str, *chains: str, again: str = "Attest on another chain") -> None:
        """Attest on chains, one after the other."""
        self.show_me(name)
        for number, chain in enumerate(chains):
            self.press(again if number else "Attest")
            dialog = self.page.get_by_role("dialog", name="Issue an attestation")
            pick(dialog.get_by_label("Chain"), chain)
            self.press("Issue attestation")
            if number < len(chains) - 1:
                expect(self.card).to_contain_text(f"{number + 1} of {len(chains)} chains done", timeout=CHAIN_TIME)

    def mint(self) -> None:
        """Mint what the card says."""
        amount, receiver, chain = self.said(rf"Mint: ([0-9]+) {self.symbol} for (.+?), on (.+?)\.")
        self.show_me()
        self.press("Mint")
        dialog = self.page.get_by_role("dialog", name="Mint")
        pick(dialog.get_by_label("Chain"), chain)
        self.choose_account(dialog, "Receiver", receiver)
        dialog.get_by_label("Amount").fill(amount)
        dialog.get_by_label("Reason").fill("A second closing.")
        self.press("Mint tokens")

    def open_market(self, chain: str) -> None:
        """Deploy a market on the chain that the card names, with what the wizard proposes."""
        self.show_me()
        self.press(chain, "Continue")
        expect(self.page.get_by_label("Amount to bridge")).to_have_value("100")
        self.press("Continue", "Continue", "Review", "Change the limits", "Deploy market")
        expect(self.page.get_by_role("region", name="Progress")).to_contain_text("Send the packet")

    def trade(self) -> None:
        """Sell and buy as the card says."""
        amount, price, buyer = self.said(
            rf"sell ([0-9]+) {self.symbol} from the treasury at ([0-9]+)\. .*?: (.+?) buys"
        )
        self.show_me()
        self._order("Sell", "Treasury", price, amount)
        expect(self.card).to_contain_text("Now place the other one", timeout=CHAIN_TIME)
        self._order("Buy", buyer, price, amount)

    def _order(self, side: str, wallet: str, price: str, amount: str) -> None:
        self.press("Place order")
        dialog = self.page.get_by_role("dialog")
        if side == "Sell":
            self.press("Sell")
        pick(dialog.get_by_label("Wallet"), wallet)
        dialog.get_by_label("Price").fill(price)
        self.outlined("Amount")
        dialog.get_by_label("Amount").fill(amount)
        self.outlined(f"Place {side.lower()} order")
        self.press(f"Place {side.lower()} order")
        expect(dialog).to_have_count(0)

    def change_rule(self) -> None:
        """Block the country that the card names, and see who is affected before saving."""
        country, party = self.said(r"block (.+?), the country of (.+?), on the tab")
        self.show_me()
        self.press("Add a country")
        search = self.page.get_by_role("combobox", name="Country to block")
        search.fill(country)
        self.page.get_by_role("option", name=re.compile(f"^{country}")).first.click()
        self.page.keyboard.press("Escape")
        expect(self.page.get_by_role("region", name="Impact")).to_contain_text(party)
        changed, bar = (self.page.locator(part).bounding_box() for part in (".setting.changed", ".save-bar"))
        assert changed is not None
        assert bar is not None
        assert changed["y"] + changed["height"] <= bar["y"], "the bar covers what was changed"
        self.press("Review and save")
        expect(self.page.get_by_role("dialog", name="Save these rules?")).to_contain_text(
            "1 of 1 investor becomes ineligible"
        )
        self.press("Save rules")

    def take_evidence(self) -> None:
        """Make the evidence of the fund, and verify it."""
        self.show_me()
        self.press("Evidence")
        self.press("Create evidence pack")
        expect(self.card).to_contain_text("The pack is made", timeout=CHAIN_TIME)
        self.press("Verify")

    # The officer

    def revoke(self) -> str:
        """Revoke the attestation that the card names, after seeing what it stops; return its holder."""
        holder, asset = self.said(r"Show me opens the attestation of (.+?), a holder of (.+?)\. ")
        self.outlined("Show me")
        self.show_me(holder)
        self.press("Revoke")
        dialog = self.page.get_by_role("dialog", name=f"Revoke the attestation of {holder}")
        expect(dialog).to_contain_text(re.compile(rf"The wallet keeps [0-9,.]+\s*{asset} but cannot send"))
        dialog.get_by_label("Reason").fill("The source of funds is in doubt.")
        expect(dialog.locator(OUTLINED)).to_have_count(1)
        self.press("Revoke")
        return holder

    def force_transfer(self) -> None:
        """Request the transfer that the card names; it waits."""
        amount, asset, giver, receiver = self.said(r"Force transfer: ([0-9]+) (.+?) from (.+?) to (.+?), with")
        self.show_me()
        self.press("Force transfer")
        dialog = self.page.get_by_role("dialog", name="Forced transfer")
        self.choose_account(dialog, "From", giver)
        self.choose_account(dialog, "To", receiver)
        dialog.get_by_label("Amount").fill(amount)
        dialog.get_by_label("Reason").fill("Court order 15/2026.")
        dialog.get_by_label(f"Type {asset} to confirm").fill(asset)
        self.press("Request approval")
        waits = self.page.get_by_role("region", name="Progress").get_by_text("Waiting for a second person")
        expect(waits).to_be_in_viewport()

    def sign_in_as_colleague(self) -> None:
        """Sign out, and sign in as the person whom the card names."""
        (colleague,) = self.said(r"sign in as (.+?) with one click")
        self.press("Account:", "Sign out")
        self.outlined(colleague).click()
        self.page.wait_for_url("**/o/**")
        self.at_step(5)

    def approve(self) -> None:
        """Approve what the card names: its link on the overview is outlined, and its row in the list."""
        (title,) = self.said("Open “(.+?)”")
        self.outlined(title)
        self.page.get_by_role("link", name="Approvals").click()
        expect(self.page.get_by_role("row").filter(has_text=title).locator(OUTLINED)).to_have_count(1)
        self.show_me()
        self.press("Approve")

    def verify_log(self) -> None:
        """Verify the audit log."""
        self.show_me()
        self.press("Verify")

    def choose_account(self, dialog: Locator, label: str, name: str) -> None:
        """Find an account by its name."""
        field = dialog.get_by_label(label, exact=True)
        field.fill(name)
        self.page.get_by_role("option", name=re.compile(f"^{re.escape(name)}")).first.click()


def pick(box: Locator, words: str) -> None:
    """Choose an option by the beginning of its text."""
    box.select_option(value=box.locator("option", has_text=words).first.get_attribute("value"))
