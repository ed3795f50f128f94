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
    pairs = [("console_first_load", "bare_load"), ("console_filter", "bare_event"), ("console_drawer", "bare_event")]
    return [
        {
            "name": name,
            "value": round(medians[name], 1),
            "unit": "ms",
            "floor": round(medians[floor], 1),
            "ratio_floor": round(medians[name] / medians[floor], 2),
        }
        for name, floor in pairs
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
    page.context.close()


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
