"""What is pictured: every page of every role, and its drawers, dialogs, tabs and wizard steps."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from playwright.sync_api import Page, TimeoutError, expect

from backend.auth.scopes import ROLE_SCOPES, Scope
from backend.users.schemas import Role
from tests.e2e import states
from tests.e2e.places import PLACES
from tests.e2e.states import CASES, DIALOGS, ISSUANCE, ORGANIZATION, Reach

VISITOR = "visitor"
"""Someone who has not signed in."""
ROLES = ["admin", "client", VISITOR, "compliance_officer", "viewer", "member"]
REDIRECTS = ("index", "account")
"""Routes that only lead to another page."""


OFFERED = 15_000
"""Milliseconds after which a button that a role may not have is taken as missing."""


class NotOffered(Exception):
    """A role is not offered the button that opens a state."""


@dataclass(frozen=True)
class Picture:
    """A page, or a state of it. `reach` opens the state; `needs` is the scope without which a role cannot open it."""

    path: str
    state: str = ""
    reach: Reach = states.settle
    needs: Scope | None = None

    @property
    def name(self) -> str:
        """The file's name, without what the size and theme add."""
        place = re.sub(r"\w+=|[{}]", "", self.path.removeprefix("o/{org}/"))
        place = place.replace("i/membership", "investor") if self.path.startswith("i/") else place
        slug = re.sub(r"[^A-Za-z0-9]+", "-", place).strip("-")
        return f"{slug}--{self.state}" if self.state else slug

    @property
    def changes(self) -> bool:
        """Whether opening the state changes data. These pictures are taken last."""
        return self.reach in (states.delivery, states.draft, states.activation)

    def is_for(self, role: str) -> bool:
        """Return whether a role can open it."""
        if self.path.startswith("o/"):
            return role not in (Role.CLIENT, VISITOR) and (self.needs is None or self.needs in ROLE_SCOPES[Role(role)])
        return role == (Role.CLIENT if re.match("i(/|$)", self.path) else VISITOR)


def press(name: str, page: Page) -> None:
    """Press a button of the page and wait for its dialog."""
    button = page.get_by_role("main").get_by_role("button", name=re.compile(f"^{name}$")).first
    try:
        button.click(timeout=OFFERED)
    except TimeoutError:
        raise NotOffered(name) from None
    expect(page.get_by_role("dialog")).to_be_visible()
    states.settle(page)


def pick_tab(name: str, page: Page) -> None:
    """Open a tab."""
    page.get_by_role("tab", name=name).click()
    expect(page.get_by_role("tab", name=name)).to_have_attribute("aria-selected", "true")


def of_shell(name: str, page: Page) -> None:
    """Press a button of the shell and wait for what it opens."""
    page.get_by_role("button", name=name).first.click()
    expect(page.get_by_role("dialog")).to_be_visible()


def by_key(key: str, page: Page) -> None:
    """Press a key and wait for the dialog that it opens."""
    page.keyboard.press(key)
    expect(page.get_by_role("dialog")).to_be_visible()


def open_row(page: Page) -> None:
    """Open the second row of a list."""
    states.first_drawer(page)
    page.keyboard.press("j")
    states.settle(page)


def approval(page: Page) -> None:
    """Open the newest approval: one that this person may decide, or any."""
    rows, none = page.get_by_role("table", name="Approvals").locator("tbody"), page.get_by_text("Nothing to approve")
    first = rows.get_by_role("button").first
    expect(first.or_(none).first).to_be_visible()
    if none.is_visible():
        page.get_by_role("button", name="All", exact=True).click()
    first.click()
    expect(page.locator(".drawer")).to_be_visible()
    states.settle(page)


def denial(page: Page) -> None:
    """Open the form that denies an approval."""
    approval(page)
    press("Deny", page)


def withdrawal(page: Page) -> None:
    """Open the form that withdraws an own request."""
    approval(page)
    press("Withdraw request", page)


def in_drawer(name: str, page: Page) -> None:
    """Open the first row's drawer and press one of its buttons."""
    states.first_drawer(page)
    press(name, page)


def edit_rules(page: Page) -> None:
    """Change two rules, and wait for the impact."""
    page.get_by_role("group", name="Required KYC level").get_by_role("button", name="3").click()
    page.get_by_role("textbox", name="Maximum holders").fill("1,500")
    bar = page.get_by_role("region", name="Unsaved changes")
    expect(bar).to_contain_text("2 unsaved changes")
    expect(bar).to_contain_text("investor")


def review_rules(page: Page) -> None:
    """Open the review of changed rules."""
    edit_rules(page)
    page.get_by_role("button", name="Review and save").click()
    expect(page.get_by_role("dialog", name="Save these rules?")).to_be_visible()


def wizard(step: int, page: Page) -> None:
    """Go to a step of the market wizard: 2 tokens, 3 rules, 4 fees, 5 the review."""
    chain = page.get_by_role("radio", name=re.compile("HyperEVM")).first
    chain.click()
    expect(chain).to_be_checked()
    for _ in range(min(step, 4) - 1):
        page.get_by_role("button", name="Continue").click()
    if step == 5:
        page.get_by_role("button", name="Review").click()
        expect(page.get_by_role("region", name="Steps of the plan")).to_be_visible()


def several(name: str, page: Page) -> None:
    """Mark two rows, and press a button of the bar for marked rows."""
    states.settle(page)
    boxes = page.get_by_role("checkbox", name=re.compile("^Select (?!all)"))
    for place in (0, 1):
        if not boxes.nth(place).is_checked():  # the marks of an earlier picture are kept
            boxes.nth(place).click()
        expect(boxes.nth(place)).to_be_checked()
    if name:
        page.get_by_role("toolbar", name="Actions on selected rows").get_by_role(
            "button", name=name, exact=True
        ).click()
        expect(page.get_by_role("dialog")).to_be_visible()


def imported(page: Page) -> None:
    """Check a list of parties, one of which is wrong."""
    press("Import parties", page)
    dialog = page.get_by_role("dialog", name="Import parties")
    lines = "name,country,email\nElbe Shipping,DEU,desk@elbe.example\nNordlys Invest,NOR,\nAtlas Fund,Atlantis,\n"
    dialog.get_by_label("Parties", exact=True).fill(lines)
    dialog.get_by_role("button", name="Check the list").click()
    expect(dialog.get_by_text("1 line must be corrected.")).to_be_visible()


def verified(page: Page) -> None:
    """Verify the audit log's hash chain."""
    page.get_by_role("button", name="Verify").click()
    expect(page.get_by_role("status").filter(has_text="The hash chain is intact.")).to_be_visible()


def entry(page: Page) -> None:
    """Open the newest audit entry."""
    page.get_by_role("table").locator("tbody").get_by_role("button").first.click()
    expect(page.locator(".drawer")).to_be_visible()


def failed_bridge(page: Page) -> None:
    """Open a failed bridge."""
    page.get_by_role("button", name="Show the failed bridge of").first.click()
    expect(page.get_by_role("region", name="Progress")).to_be_visible()


def refused(page: Page) -> None:
    """Sign in with a wrong password."""
    page.get_by_label("Email").fill("elin.halvorsen@northwind.example")
    page.get_by_label("Password", exact=True).fill("not the password")
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page.get_by_role("alert").first).to_be_visible()


def forgotten(page: Page) -> None:
    """Ask for a link to set a password."""
    page.get_by_label("Email").fill("marc.dubois@northwind.example")
    page.get_by_role("button", name="Send link").click()
    expect(page.get_by_role("button", name="Send link")).to_have_count(0)


def opened(page: Page) -> None:
    """Open every detail that is folded."""
    for summary in page.get_by_role("main").locator("summary").all():
        summary.click()


ASSET, MARKET = "o/{org}/assets/{asset}?tab=", "o/{org}/markets/{market}"
NEEDS: dict[Callable[[Page], None], Scope] = {
    states.move: Scope.ORGS_WRITE, states.endpoint: Scope.ORGS_WRITE, states.delivery: Scope.ORGS_WRITE,
    states.results: Scope.MEMBERS_WRITE, states.key: Scope.API_KEYS_WRITE, states.application: Scope.API_KEYS_WRITE,
    states.terms: Scope.API_KEYS_WRITE, states.issue: Scope.ATTESTATIONS_WRITE,
    states.register: Scope.ATTESTATIONS_WRITE, states.check_nodes: Scope.CHAINS_WRITE,
    states.transfer: Scope.TRANSFERS_WRITE, states.burn: Scope.ASSETS_WRITE, states.checked_list: Scope.ASSETS_WRITE,
    states.draft: Scope.ASSETS_WRITE, states.activation: Scope.ASSETS_WRITE,
}  # fmt: skip
"""The scopes that the states of the accessibility tests need."""
DIALOG_NEEDS = {
    "organizations": Scope.ORGS_WRITE, "members": Scope.MEMBERS_WRITE, "api-keys": Scope.API_KEYS_WRITE,
    "webhooks": Scope.ORGS_WRITE, "parties": Scope.ATTESTATIONS_WRITE, "wallets": Scope.WALLETS_WRITE,
    "chains": Scope.CHAINS_WRITE, "assets": Scope.ASSETS_WRITE, "markets": Scope.TRANSFERS_WRITE,
    "distributions": Scope.ASSETS_WRITE,
}  # fmt: skip
"""The scopes that the dialogs of a page need, by the first word of its path."""
ADMIN_ONLY = Scope.CHAINS_WRITE
"""What only admins have: what looks the same for every role is pictured for them only."""
FURTHER = [
    Picture("o/{org}/overview", "organizations", partial(of_shell, "Switch organization"), ADMIN_ONLY),
    Picture("o/{org}/overview", "notifications", partial(of_shell, "Notifications"), ADMIN_ONLY),
    Picture("o/{org}/overview", "requests", partial(of_shell, "Requests"), ADMIN_ONLY),
    Picture("o/{org}/overview", "account-menu", partial(of_shell, "Account: "), ADMIN_ONLY),
    Picture("o/{org}/overview", "palette", partial(by_key, "ControlOrMeta+k"), ADMIN_ONLY),
    Picture("o/{org}/overview", "shortcuts", partial(by_key, "?"), ADMIN_ONLY),
    Picture("o/{org}/approvals", "drawer", approval),
    Picture("o/{org}/approvals", "deny", denial, Scope.ASSETS_WRITE),
    Picture("o/{org}/approvals", "withdraw", withdrawal, Scope.ASSETS_WRITE),
    Picture("o/{org}/attestations", "case", states.first_drawer),
    Picture("o/{org}/attestations?show=active", "revoke", partial(in_drawer, "Revoke"), Scope.ATTESTATIONS_WRITE),
    Picture("o/{org}/parties", "next-drawer", open_row),
    Picture("o/{org}/parties", "import", imported, Scope.ATTESTATIONS_WRITE),
    Picture("o/{org}/parties", "marked", partial(several, ""), Scope.ATTESTATIONS_WRITE),
    Picture("o/{org}/parties", "attest-marked", partial(several, "Attest"), Scope.ATTESTATIONS_WRITE),
    Picture("o/{org}/audit", "entry", entry),
    Picture("o/{org}/audit", "verified", verified),
    Picture("o/{org}/bridges", "failed", failed_bridge),
    Picture(ASSET + "compliance", "edited", edit_rules, Scope.ASSETS_WRITE),
    Picture(ASSET + "compliance", "review", review_rules, Scope.ASSETS_WRITE),
    Picture(ASSET + "compliance", "framework", partial(press, "What it enforces: Reg S")),
    Picture(ASSET + "holders", "marked", partial(several, ""), Scope.ASSETS_WRITE),
    Picture(ASSET + "holders", "freeze-marked", partial(several, "Freeze"), Scope.ASSETS_WRITE),
    *(
        Picture("o/{org}/markets/new?asset={asset}", f"step-{step}", partial(wizard, step), Scope.ASSETS_WRITE)
        for step in (2, 3, 4, 5)
    ),
    Picture(MARKET, "deployment", partial(pick_tab, "Deployment")),
    Picture("sign-in", "refused", refused),
    Picture("forgot-password", "sent", forgotten),
    Picture("i/{membership}", "details", opened),
    Picture("i/{membership}/account", "password", partial(press, "Change password")),
    Picture("i/{membership}/account", "authenticator", partial(press, "Add authenticator app")),
]
"""States that only the pictures open."""


def pictures() -> Iterator[Picture]:
    """Yield every picture once: pages, then their states."""
    every = [Picture(path) for route, paths in PLACES.items() if route not in REDIRECTS for path in paths]
    every += [
        Picture(f"o/{{org}}/{path}", reach.__name__.replace("_", "-"), reach, NEEDS.get(reach))
        for path, reach in [*ORGANIZATION, *CASES, *ISSUANCE]
        if reach is not states.settle
    ]
    every += [
        Picture(f"o/{{org}}/{path}", _slug(name), partial(press, name), _need(path))
        for path, names in DIALOGS
        for name in names
    ]
    yield from [*every, *FURTHER]


def _slug(name: str) -> str:
    return re.sub(r"[^a-z]+", "-", name.lower()).strip("-")


def _need(path: str) -> Scope | None:
    """Return the scope that the dialogs of a page need; the account has none."""
    return next((scope for page, scope in DIALOG_NEEDS.items() if path.startswith(page)), None)
