"""The console in a browser beside a bare Reflex page: pages, and events. Runs alternate, and the median counts."""

import statistics
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

from tests.bench.bare_page import bare_page
from tests.e2e.conftest import Console, Signum
from tests.support.browser import FLAGS, chromium

RUNS = 9
BARE = ("bare_load", "bare_event")
TIMED = """() => new Promise((done, fail) => {
    setTimeout(() => fail("not within 20 s"), 20000);
    const began = performance.now(), check = () => (%s) && done(performance.now() - began);
    const every = {subtree: true, childList: true, attributes: true, characterData: true};
    new MutationObserver(check).observe(document, every);
    %s;
})"""
"""Milliseconds from an action until a condition of the page is true. No `eval`: the console's policy forbids it."""


def measure(origin: str, home: Path) -> list[dict[str, Any]]:
    """Return rows: milliseconds of the console, of the bare page as `floor`, and their ratio."""
    signum = Signum(home)
    with bare_page() as bare, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        found: dict[str, list[float]] = {}
        for _ in range(RUNS):
            for name, value in [*_of_bare(browser, bare.url), *_of_console(browser, signum)]:
                found.setdefault(name, []).append(value)
        browser.close()
    medians = {name: statistics.median(values) for name, values in found.items()}
    pairs = {name: "bare_load" if name == "console_first_load" else "bare_event" for name in found if name not in BARE}
    return [
        {
            "name": name,
            "value": round(medians[name], 1),
            "unit": "ms",
            "floor": round(medians[floor], 1),
            "ratio_floor": round(medians[name] / medians[floor], 2),
            "spread": round(max(found[name]) - min(found[name]), 1),
        }
        for name, floor in pairs.items()
    ]


def _of_bare(browser: Browser, url: str) -> Iterator[tuple[str, float]]:
    page = browser.new_context().new_page()
    yield "bare_load", _loaded(page, url)
    counted = "document.querySelector('output').textContent === '1'"
    yield "bare_event", _took(page, "document.querySelector('button').click()", counted)
    page.context.close()


def _of_console(browser: Browser, signum: Signum) -> Iterator[tuple[str, float]]:
    page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
    console = Console(page, signum)
    console.begin_session(signum.person())
    yield "console_first_load", _loaded(page, f"{signum.url}/o/{signum.organization}/overview")
    console.goto("parties")
    page.locator("main tbody tr td").nth(5).wait_for()
    first = "document.querySelector('main tbody tr button')"
    yield "console_drawer", _took(page, f"{first}.click()", "document.querySelector('main aside h2')")
    console.goto("requests")
    page.locator("main tbody tr").nth(5).wait_for()
    failed = "[...document.querySelectorAll('main button')].find(one => one.textContent.startsWith('Failed'))"
    yield "console_filter", _took(page, f"{failed}.click()", "document.querySelectorAll('main tbody tr').length === 1")
    yield "console_palette", _searched(page)
    yield "console_tree", _opened(console)
    yield from _switched(console)
    page.context.close()


def _searched(page: Page) -> float:
    """Return the milliseconds from the last letter in the palette until its result."""
    page.keyboard.press("ControlOrMeta+k")
    page.get_by_role("combobox", name="Search or jump to").wait_for()
    write = """
        const box = document.querySelector("input[aria-label='Search or jump to']");
        Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(box, "alder");
        box.dispatchEvent(new Event("input", {bubbles: true}))"""
    found = (
        "[...document.querySelectorAll('[role=option]')].some(one => one.textContent.includes('Alder Family Office'))"
    )
    took = _took(page, write, found)
    page.keyboard.press("Escape")
    return took


def _opened(console: Console) -> float:
    """Return the milliseconds until a branch of the tree of organizations is open."""
    console.goto("organizations")
    page = console.page
    page.locator("[role=treeitem][aria-expanded=false]").first.wait_for()
    before = page.locator("[role=treeitem]").count()
    opened = f"document.querySelectorAll('[role=treeitem]').length > {before}"
    twist = "document.querySelector('[role=treeitem][aria-expanded=false] .twist')"
    return _took(page, f"{twist}.dispatchEvent(new MouseEvent('click', {{bubbles: true}}))", opened)


def _switched(console: Console) -> Iterator[tuple[str, float]]:
    """Yield the milliseconds until the page says what a rule that was switched changes, and those until the next switch
    back is seen."""
    assets = console.signum.call("GET", "/orgs/{org}/assets", limit=100)["assets"]
    console.goto(f"assets/{next(one['id'] for one in assets if one['symbol'] == 'NREF')}?tab=compliance")
    page = console.page
    page.locator("main [role=switch]").first.wait_for()
    press = "const one = document.querySelector('main [role=switch]'), before = one.ariaChecked; one.click()"
    can_save = (
        "[...document.querySelectorAll('main button')].some(e => e.textContent === 'Review and save' && !e.disabled)"
    )
    yield "console_verdict", _took(page, press, can_save)
    yield "console_switch", _took(page, press, "one.ariaChecked !== before")


def _loaded(page: Page, url: str) -> float:
    """Return the milliseconds from navigation until the page has its title, with an empty cache."""
    page.goto(url, wait_until="commit")
    return float(
        page.evaluate(
            """() => new Promise(done => {
                const check = () => document.querySelector("main h1") && done(performance.now());
                new MutationObserver(check).observe(document, {subtree: true, childList: true});
                check();
            })"""
        )
    )


def _took(page: Page, press: str, is_done: str) -> float:
    return float(page.evaluate(TIMED % (is_done, press)))
