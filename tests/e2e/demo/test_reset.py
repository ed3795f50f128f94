"""A reset of the devnet: one progress until the new demo is there, and no way back to the deleted organization."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.e2e.conftest import Signum, _forget_person, serving

pytestmark = pytest.mark.long
MINUTES = 240_000


@pytest.fixture(scope="module")
def signum(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Signum]:
    """A server of this module, which it resets."""
    with serving(tmp_path_factory.mktemp("reset"), SIGNUM_DEMO_HISTORY="0") as started:
        yield started


def enter(page: Page, url: str) -> None:
    """Sign in as the admin with one click."""
    page.goto(url)
    page.get_by_role("button", name=re.compile("^Elin Halvorsen")).click()
    page.wait_for_url("**/overview")
    expect(page.get_by_role("heading", name="Overview", exact=True)).to_be_visible()


def test_reset_shows_its_progress_and_then_the_sign_in_page(shared_context: BrowserContext, signum: Signum) -> None:
    page = shared_context.new_page()
    enter(page, f"{signum.url}/sign-in")
    page.get_by_role("button", name="Start tour").click()
    expect(page.get_by_role("complementary", name="Guided tour")).to_be_visible()
    other = shared_context.new_page()
    other.goto(f"{signum.url}/o/{signum.organization}/assets")
    expect(other.get_by_role("heading", name="Assets", exact=True)).to_be_visible()
    page.goto(f"{signum.url}/o/{signum.organization}/chains?start-over=yes")
    question = page.get_by_role("dialog", name="Reset the devnet?")
    question.get_by_role("textbox").fill("reset")
    question.get_by_role("button", name="Reset devnet").click()

    progress = page.get_by_role("dialog", name="Resetting the devnet")
    expect(progress).to_contain_text("The server restarts.")
    expect(progress).to_contain_text("Creating the demo: ", timeout=MINUTES)
    expect(other.get_by_role("status").filter(has_text="Creating the demo: ")).to_be_visible()
    assert other.locator(".notice").count() == 0
    page.wait_for_url("**/sign-in", timeout=MINUTES)
    expect(page.get_by_role("button", name=re.compile("^Elin Halvorsen"))).to_be_visible()
    assert page.evaluate("localStorage.getItem('signum_tour')") is None

    enter(page, f"{signum.url}/sign-in?next=/o/{signum.organization}/chains")
    assert signum.organization not in page.url
    expect(page.get_by_role("button", name="Start tour")).to_be_visible()
    _forget_person(shared_context, signum.url)
