"""`first_load_PAGE` and `js_PAGE`: the console's pages in a browser beside a bare Reflex page.

The first counts milliseconds to the first contentful paint with a warm cache; the second kilobytes of JavaScript of a
cold load, compressed by gzip (the bare page's server does not compress, so both are compressed here).
"""

import gzip
import statistics
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, Response, sync_playwright

from tests.bench.bare_page import bare_page
from tests.e2e.conftest import Console, Signum
from tests.support.browser import FLAGS, chromium

RUNS = 9
PAGES = {
    "sign_in": "sign-in",
    "overview": "o/{org}/overview",
    "organizations": "o/{org}/organizations",
    "assets": "o/{org}/assets",
    "asset": "o/{org}/assets/{asset}",
    "new_market": "o/{org}/markets/new",
    "parties": "o/{org}/parties",
    "attestations": "o/{org}/attestations",
    "requests": "o/{org}/requests",
    "audit": "o/{org}/audit",
    "webhooks": "o/{org}/webhooks",
}
PAINTED = """() => new Promise(done => new PerformanceObserver(list => {
    for (const one of list.getEntries()) if (one.name === "first-contentful-paint") done(one.startTime);
}).observe({type: "paint", buffered: true}))"""
BARE = "bare"


def measure(home: Path) -> list[dict[str, Any]]:
    """Return two rows for each page, with the bare page as `floor`."""
    signum = Signum(home)
    asset = signum.call("GET", "/orgs/{org}/assets")["assets"][0]["id"]
    addresses = {
        name: f"{signum.url}/{path.format(org=signum.organization, asset=asset)}" for name, path in PAGES.items()
    }
    with bare_page() as bare, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        found = {name: _of(browser, url, signum) for name, url in addresses.items()} | {BARE: _of(browser, bare.url)}
        # The pages alternate, so that a busy moment of the machine meets all of them.
        paints: dict[str, list[float]] = {name: [] for name in found}
        for _ in range(RUNS):
            for name, (page, _size) in found.items():
                paints[name].append(_painted(page, addresses.get(name, bare.url)))
        browser.close()
    sizes = {name: size for name, (_context, size) in found.items()}
    first = {name: statistics.median(values) for name, values in paints.items()}
    return [*_rows("first_load", "ms", first, paints), *_rows("js", "kB", sizes, {})]


def _of(browser: Browser, url: str, signum: Signum | None = None) -> tuple[Page, float]:
    """Load a page with an empty cache; return its tab and the kilobytes of its JavaScript."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    if signum is not None and not url.endswith("/sign-in"):
        Console(page, signum).begin_session(signum.person())
    scripts: list[Response] = []
    page.on("response", lambda response: _is_script(response) and scripts.append(response))
    page.goto(url)
    page.locator("h1").first.wait_for()
    page.wait_for_load_state("networkidle")
    size = sum(len(gzip.compress(script.body(), 6)) for script in scripts) / 1_000
    return page, size


def _is_script(response: Response) -> bool:
    return response.ok and response.url.partition("?")[0].endswith(".js")


def _painted(page: Page, url: str) -> float:
    # In the same tab: a new one starts a process of the browser for a page that isolates itself, as the console does.
    page.goto(url, wait_until="commit")
    seen = float(page.evaluate(PAINTED))
    page.wait_for_load_state("networkidle")
    return seen


def _rows(
    kind: str, unit: str, values: dict[str, float], all_values: dict[str, list[float]]
) -> Iterator[dict[str, Any]]:
    floor = values[BARE]
    for name in PAGES:
        row = {"name": f"{kind}_{name}", "value": round(values[name], 1), "unit": unit, "floor": round(floor, 1)}
        row["ratio_floor"] = round(values[name] / floor, 2)
        if name in all_values:
            row["spread"] = round(max(all_values[name]) - min(all_values[name]), 1)
        yield row
