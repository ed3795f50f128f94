"""Opening a page as a person, waiting until it has settled, and saving its pictures."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from playwright.sync_api import Browser, Error, Page, expect, sync_playwright

from tests.e2e.conftest import Console, Signum
from tests.e2e.places import SCREENS, settled, show
from tests.screenshots.catalog import VISITOR, NotOffered, Picture
from tests.support.browser import FLAGS, chromium

SUFFIXES = {
    ("light", 1440): "light", ("dark", 1440): "dark", ("light", 390): "390", ("dark", 390): "390.dark",
}  # fmt: skip
PATIENCE = 60_000
"""Milliseconds that a page may take, on a machine that is busy with other work."""
MOST_PIXELS = 12_000
"""The height from which a page is cut off."""
EXPECTED_ERRORS = ("no-such-page", "sign-in--refused")
"""Pictures whose pages make the browser report a refused response."""
QUIET = """still => new Promise(done => {
    const end = () => { seen.disconnect(); clearTimeout(timer); done(); };
    const seen = new MutationObserver(() => { clearTimeout(timer); timer = setTimeout(end, still); });
    let timer = setTimeout(end, still);
    setTimeout(end, 20 * still);
    seen.observe(document.documentElement, {subtree: true, childList: true, characterData: true, attributes: true});
})"""
"""Waits until nothing has changed for some milliseconds, and at most 20 times as long."""
DRAWN = """() => document.fonts.status === "loaded"
    && [...document.images].every(image => image.complete)
    && [...document.querySelectorAll(".skeleton, [aria-busy=true]")].every(one => !one.checkVisibility())
    && document.getAnimations().every(one => one.playState !== "running" || one.timeline !== document.timeline
        || one.effect.getTiming().iterations > 1)"""
HEIGHT = """() => {
    const scrolled = [...document.querySelectorAll(".dialog, .dialog-body, .drawer, .drawer-body")]
        .filter(one => one.checkVisibility() && /auto|scroll/.test(getComputedStyle(one).overflowY));
    const hidden = Math.max(0, ...scrolled.map(one => one.scrollHeight - one.clientHeight));
    const covers = [...document.querySelectorAll("[role=dialog], dialog[open], .drawer")]
        .some(one => one.checkVisibility() && (one.offsetWidth === innerWidth || !one.matches(".drawer")));
    const page = covers ? 0 : document.documentElement.scrollHeight;
    return Math.max(page, innerHeight + Math.ceil(hidden * 1.1));
}"""
"""The height at which nothing is scrolled: of the page, or of the window with a dialog or drawer that fits."""
WORDS = """() => {
    const text = one => one?.innerText.replaceAll(/\\s+/g, " ").trim() ?? "";
    const over = [...document.querySelectorAll("[role=dialog], dialog[open], .drawer")].find(o => o.checkVisibility());
    const head = over ? over.querySelector("h1, h2") : document.querySelector("main h1");
    const about = (over ?? document).querySelector(
        over ? ".dialog-head p, .drawer-head .muted" : ".page-head .sub, .page-head + .muted, .sign-in header p");
    return [text(head) || over?.getAttribute("aria-label") || document.title, text(about)];
}"""


@dataclass
class Taken:
    """The outcome of a picture: the title and purpose that the page shows, its files, or what failed."""

    role: str
    picture: Picture
    title: str = ""
    purpose: str = ""
    files: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    is_offered: bool = True


@contextmanager
def launched() -> Iterator[Browser]:
    """A Chromium of its own."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        yield browser
        browser.close()


@contextmanager
def opened(browser: Browser, signum: Signum, role: str) -> Iterator[Console]:
    """A console in a context of its own, in which a role has signed in."""
    context = browser.new_context(viewport={"width": 1440, "height": 900}, reduced_motion="reduce", locale="en-US")
    console = Console(context.new_page(), signum)
    expect.set_options(timeout=PATIENCE)
    console.page.set_default_timeout(PATIENCE)
    console.page.set_default_navigation_timeout(PATIENCE)
    if role != VISITOR:
        console.begin_session(signum.person(role))
    yield console
    context.close()


def take(console: Console, picture: Picture, role: str, ids: dict[str, str], folder: Path) -> Taken:
    """Open a page or a state and save its pictures in both themes and widths."""
    taken = Taken(role, picture)
    console.errors.clear()
    try:
        _open(console, picture, ids)
        taken.title, taken.purpose = console.page.evaluate(WORDS)
        for theme, width, _ in SCREENS:
            name = f"{role}/{picture.name}.{SUFFIXES[theme, width]}.png"
            show(console.page, (theme, width, None))
            save(console.page, folder / name)
            taken.files.append(name)
    except NotOffered as missing:
        taken.is_offered = False
        taken.problems += [f"no button {missing}"] if role == "admin" else []
    except (Error, AssertionError) as error:
        taken.problems.append(str(error).strip().partition("Call log")[0].replace("\n", " ")[:300])
        console.page.screenshot(path=folder / f"{role}/{picture.name}.failed.png", full_page=True)
    if picture.name not in EXPECTED_ERRORS:
        taken.problems += [f"browser: {error[:200]}" for error in console.errors]
    return taken


def _open(console: Console, picture: Picture, ids: dict[str, str]) -> None:
    show(console.page)
    console.page.goto(f"{console.signum.url}/{picture.path.format(**ids)}")
    settled(console)
    picture.reach(console.page)


def save(page: Page, path: Path, height: int = 0) -> None:
    """Save a picture once the page has settled: all of it, or a window of some height."""
    expect(page.get_by_role("status", name="Loading")).to_have_count(0)
    page.wait_for_function(DRAWN, timeout=PATIENCE)
    page.evaluate(QUIET, 200)
    width, shown = page.evaluate("[innerWidth, innerHeight]")
    wanted = height or min(page.evaluate(HEIGHT), MOST_PIXELS)
    if wanted != shown:
        page.set_viewport_size({"width": width, "height": wanted})
        page.evaluate(QUIET, 100)
    path.parent.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=path)
