"""The recording of the guided tour for issuers: an animated picture with a frame before each click.

It plays the browser test of the tour, so it follows the steps as they are.
"""

import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw
from playwright.sync_api import Error, Locator, Page

from tests.e2e.conftest import Signum
from tests.e2e.demo.test_tours import test_issuers_tour
from tests.screenshots.camera import launched, opened
from tests.screenshots.catalog import VISITOR

PATH = Path(__file__).resolve().parents[2] / "docs" / "pictures" / "tour.webp"
WIDTH, HEIGHT = 1280, 800
SHOWN = 1000
"""Pixels of the recording's width."""
MOST = 3
"""Frames of a step."""
LONG, LAST = 1_500, 4_000
"""Milliseconds of a frame, and of the last one."""
HIDES_NOTICES = """addEventListener("DOMContentLoaded", () => {
  const style = document.createElement("style");
  style.textContent = ".notices { display: none }";
  document.head.append(style);
})"""
"""For a person who reads each card, notices are gone before the next step. Here, they would pile up."""


@dataclass(frozen=True)
class Frame:
    """A picture of the page. `step` is the text of the card's progress, `at` where the click follows."""

    step: str
    png: bytes
    at: tuple[float, float] | None = None


def chosen(frames: Sequence[Frame], most: int = MOST) -> list[Frame]:
    """Return the frames that are shown: of each step the first one and the last ones."""
    found: list[Frame] = []
    for _, of_step in groupby(frames, key=lambda frame: frame.step):
        own = list(of_step)
        found += own if len(own) <= most else [own[0], *own[1 - most :]]
    return found


def write(frames: Sequence[Frame], path: Path) -> None:
    """Write the frames as an animated picture that repeats."""
    drawn = [_drawn(frame) for frame in frames]
    times = [LONG] * (len(drawn) - 1) + [LAST]
    path.parent.mkdir(parents=True, exist_ok=True)
    drawn[0].save(path, save_all=True, append_images=drawn[1:], duration=times, loop=0, quality=55, method=6)


def _drawn(frame: Frame) -> Image.Image:
    """Return a frame in the size of the recording, with a ring where the click follows."""
    whole = Image.open(io.BytesIO(frame.png)).convert("RGB")
    if frame.at:
        (x, y), size = frame.at, 16
        ImageDraw.Draw(whole).ellipse((x - size, y - size, x + size, y + size), outline=(224, 122, 47), width=4)
    return whole.resize((SHOWN, whole.height * SHOWN // whole.width), Image.Resampling.LANCZOS)


@contextmanager
def _watched(page: Page, frames: list[Frame]) -> Iterator[None]:
    """Take a frame before each click on the page."""
    click: Callable[..., None] = Locator.click

    def seen(control: Locator, **options: Any) -> None:
        control.wait_for()
        _take(page, frames, control)
        click(control, **options)

    Locator.click = seen  # type: ignore[method-assign]
    try:
        yield
    finally:
        Locator.click = click  # type: ignore[method-assign]


def _take(page: Page, frames: list[Frame], control: Locator | None = None) -> None:
    card = page.get_by_role("complementary", name="Guided tour")
    if card.count() == 0:
        return
    try:
        if control is not None:
            control.scroll_into_view_if_needed()
        box = control.bounding_box() if control is not None else None
        at = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2) if box else None
        step = card.inner_text().partition("\n")[0]
        frames.append(Frame(step, page.screenshot(animations="disabled"), at))
    except Error:  # the page is changing; the click waits for it
        return


def take(signum: Signum, path: Path = PATH) -> list[Path]:
    """Play the tour, save its recording, and return its path."""
    frames: list[Frame] = []
    with launched() as browser, opened(browser, signum, VISITOR) as console:
        console.page.set_viewport_size({"width": WIDTH, "height": HEIGHT})
        console.page.add_init_script(HIDES_NOTICES)
        with _watched(console.page, frames):
            test_issuers_tour(console, signum)
        _take(console.page, frames)
    write(chosen(frames), path)
    return [path]
