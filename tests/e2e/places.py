"""Every page of the console, as the walks open it, and what the walks check on a page."""

import os
import re
from pathlib import Path
from typing import Any, Literal

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.e2e.conftest import Console

Screen = tuple[Literal["light", "dark"], int, tuple[str, ...] | None]
CONTRAST = ("color-contrast",)
SCREENS: list[Screen] = [("light", 1440, ()), ("dark", 1440, CONTRAST), ("dark", 390, ()), ("light", 390, None)]
"""Theme, width and the rules of axe (empty: all of them; none: only width and words), in an order that changes one
thing at a time. A theme changes only colors."""
TWO_SCREENS: list[Screen] = [("dark", 1440, ()), ("light", 390, ())]
FOLDER = os.environ.get("SIGNUM_WALK")
"""Where pictures of the pages are kept, if they are wanted."""
TABS = (
    "overview",
    "compliance",
    "chains",
    "markets",
    "holders",
    "cap-table",
    "distributions",
    "controls",
    "check",
    "activity",
    "x",
)
PLACES: dict[str, list[str]] = {
    "index": [],
    "account": [],
    "404": ["no-such-page"],
    "sign-in": ["sign-in"],
    "sign-in/factor": ["sign-in/factor"],
    "forgot-password": ["forgot-password"],
    "reset-password": ["reset-password?token=wrong"],
    "invitation": ["invitation?token=wrong"],
    "oauth/consent": ["oauth/consent"],
    "i": ["i"],
    "i/[membership_id]": ["i/{membership}"],
    "i/[membership_id]/trade": ["i/{membership}/trade"],
    "i/[membership_id]/documents": ["i/{membership}/documents"],
    "i/[membership_id]/account": ["i/{membership}/account"],
    "o/[org_id]/overview": ["o/{org}/overview"],
    "o/[org_id]/organizations": ["o/{org}/organizations"],
    "o/[org_id]/members": ["o/{org}/members", "o/{org}/members?tab=invitations"],
    "o/[org_id]/eligibility": ["o/{org}/eligibility"],
    "o/[org_id]/attempts": ["o/{org}/attempts"],
    "o/[org_id]/outbox": ["o/{org}/outbox"],
    "o/[org_id]/settings": ["o/{org}/settings"],
    "o/[org_id]/api-keys": ["o/{org}/api-keys"],
    "o/[org_id]/webhooks": ["o/{org}/webhooks"],
    "o/[org_id]/webhooks/[webhook_id]": ["o/{org}/webhooks/{webhook}"],
    "o/[org_id]/connections": ["o/{org}/connections"],
    "o/[org_id]/account": ["o/{org}/account"],
    "o/[org_id]/approvals": ["o/{org}/approvals"],
    "o/[org_id]/requests": ["o/{org}/requests", "o/{org}/requests?id={request}"],
    "o/[org_id]/audit": ["o/{org}/audit"],
    "o/[org_id]/parties": ["o/{org}/parties", "o/{org}/parties?id={party}"],
    "o/[org_id]/attestations": ["o/{org}/attestations", "o/{org}/attestations?show=active"],
    "o/[org_id]/issuer": ["o/{org}/issuer"],
    "o/[org_id]/wallets": ["o/{org}/wallets", "o/{org}/wallets?id={wallet}"],
    "o/[org_id]/transfers": ["o/{org}/transfers"],
    "o/[org_id]/chains": ["o/{org}/chains"],
    "o/[org_id]/bridges": ["o/{org}/bridges"],
    "o/[org_id]/assets": ["o/{org}/assets"],
    "o/[org_id]/assets/new": ["o/{org}/assets/new"],
    "o/[org_id]/assets/[asset_id]": ["o/{org}/assets/{asset}?tab=" + tab for tab in TABS],
    "o/[org_id]/assets/[asset_id]/evidence": ["o/{org}/assets/{asset}/evidence"],
    "o/[org_id]/markets": ["o/{org}/markets"],
    "o/[org_id]/markets/new": ["o/{org}/markets/new"],
    "o/[org_id]/markets/[market_id]": ["o/{org}/markets/{market}"],
    "o/[org_id]/distributions": ["o/{org}/distributions"],
    "o/[org_id]/distributions/new": ["o/{org}/distributions/new"],
    "o/[org_id]/distributions/[distribution_id]": ["o/{org}/distributions/{distribution}?asset={asset}"],
}
"""The paths that the walks open, by route. The index and the account only redirect; other tests follow them."""
AXE = {"resultTypes": ["violations"], "rules": {"label-content-name-mismatch": {"enabled": True}}}
"""The rules that axe applies by default, and that a control's name contains its visible text."""
DRAWN = """theme => document.documentElement.classList.contains(theme)
    && document.getAnimations().every(one => one.playState !== "running" || one.timeline !== document.timeline)"""
"""Whether a page shows a theme, and no color is still changing. What follows the scrolling of a strip never ends."""
WRONG_WORDS = {
    "more than 6 decimals": r"\d\.\d{7,}",
    "base units": r"base units?\b",
    "an API path": r"\b(GET|POST|PATCH|PUT|DELETE) (/|https?:)|/v1/(orgs|auth|identity|chains|investor)",
    "a raw value": r"\bundefined\b|\bNaN\b|\[object \w+\]|\bnull\b",
}
READ = """words => {
    const found = [];
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) {
        const text = walk.currentNode.textContent.trim(), parent = walk.currentNode.parentElement;
        if (!text || parent.closest("script, style, textarea") || !parent.checkVisibility()) continue;
        for (const [what, pattern] of Object.entries(words))
            if (new RegExp(pattern).test(text)) found.push(`${what}: ${text.slice(0, 120)}`);
        const isMarked = parent.closest(".hash, pre");
        if (/0x[0-9a-f]{40}/i.test(text) && !isMarked) found.push(`an address: ${text.slice(0, 99)}`);
    }
    for (const table of document.querySelectorAll("main table")) {
        const heads = [...table.querySelectorAll("thead th")].map(head => head.textContent.trim());
        const rows = [...table.querySelectorAll("tbody tr")], place = heads.indexOf("Share");
        const cells = rows.map(row => row.children[place]?.textContent.trim()).filter(text => text?.endsWith("%"));
        const shares = cells.map(text => Math.round(parseFloat(text) * 100));
        const sum = shares.reduce((whole, one) => whole + one, 0);
        if (shares.length && sum !== 10000) found.push(`shares add up to ${sum / 100}%`);
    }
    const titles = [...document.querySelectorAll("h1")].filter(title => !title.closest("[role=dialog]"));
    if (titles.length !== 1) found.push("not exactly one h1");
    return found;
}"""
"""What a page says wrongly."""
WIDE = """() => {
    if (document.documentElement.scrollWidth <= window.innerWidth) return [];
    const inside = element => {
        for (let at = element.parentElement; at && at !== document.body; at = at.parentElement)
            if (getComputedStyle(at).overflowX !== "visible") return true;
        return false;
    };
    const all = [...document.body.querySelectorAll("*")].filter(one => !inside(one));
    const wide = all.filter(one => one.getBoundingClientRect().right > innerWidth + 1);
    const names = wide.map(one => `${one.tagName} ${one.className}`.slice(0, 60));
    return [`wider than the window: ${names.slice(0, 3).join(", ")}`];
}"""


def settled(console: Console) -> Page:
    """Wait until a page has loaded what it shows."""
    page = console.page
    expect(page.get_by_role("heading", level=1)).to_be_attached()
    if not page.get_by_role("heading", level=1, name="Not found").is_visible():
        console.hydrated()
    expect(page.get_by_role("status", name="Loading")).to_have_count(0)
    return page


def violations(page: Page, rules: tuple[str, ...] = ()) -> list[str]:
    """Return what axe finds, by default with all rules, with the element of each finding."""
    options: dict[str, Any] = {**AXE, "runOnly": {"type": "rule", "values": rules}} if rules else AXE
    found = Axe().run(page, options=options).response["violations"]
    return [f"{rule['id']}: {node['target']} {node['html'][:160]}" for rule in found for node in rule["nodes"][:3]]


def faults_on_every_screen(page: Page, name: str, screens: list[Screen] = SCREENS) -> list[str]:
    """Return what is wrong on a page in each theme and width, without opening it again: accessibility, width, words."""
    found = []
    for screen in screens:
        theme, width, rules = screen
        show(page, screen)
        wrong = [*page.evaluate(WIDE), *page.evaluate(READ, WRONG_WORDS)]
        wrong += [] if rules is None else violations(page, rules)
        found += [f"{name}, {theme}, {width}: {fault}" for fault in wrong]
        if FOLDER:
            keep(page, FOLDER, f"{name}-{theme}-{width}")
    return found


def show(page: Page, screen: Screen = SCREENS[0]) -> None:
    """Change the theme and width of the window, by default to the first of the walk."""
    page.emulate_media(color_scheme=screen[0], reduced_motion="reduce")
    page.set_viewport_size({"width": screen[1], "height": 900})
    if page.url.startswith("http"):
        page.wait_for_function(DRAWN, arg=screen[0])


def keep(page: Page, folder: str, name: str) -> None:
    """Save a picture of the whole page, for people who look at the walk."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    page.screenshot(path=Path(folder) / f"{re.sub(r'[^A-Za-z0-9-]+', '_', name)}.png", full_page=True)
