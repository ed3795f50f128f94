"""The wheel, installed outside any checkout: its console serves any port and origin, without Node and without a
build."""

import zipfile
from pathlib import Path

import pytest
from playwright.sync_api import Browser, ConsoleMessage, expect

from tests.e2e.conftest import LOAD, until_ready
from tests.support.server import free_port
from tests.support.wheel import Installed, build

PASSWORD = "correct horse battery staple"
FIRST_ADMIN = ("--organization", "Acme", "--email", "ada@example.com", "--name", "Ada", "--password", PASSWORD)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("wheel"))


@pytest.mark.long
def test_two_wheels_of_one_console_are_equal(wheel: Path, tmp_path: Path) -> None:
    assert build(tmp_path).read_bytes() == wheel.read_bytes()


@pytest.mark.long
def test_wheel_contains_the_console_and_no_machine_of_its_build(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        pages = [name for name in names if name.startswith("app/console/") and not name.endswith(".gz")]
        texts = b"".join(archive.read(name) for name in pages)
    assert "app/console/build/client/sign-in.html" in names
    assert "backend/migrations/sql/policies.sql" in names
    assert not any(name.startswith(("tests/", "docs/", ".")) for name in names)
    assert b"SAME_DOMAIN_HOSTNAMES=[]" in texts
    for fixed in (b"localhost:", b"127.0.0.1:", str(Path(__file__).parents[2]).encode()):
        assert fixed not in texts


@pytest.mark.long
def test_installed_wheel_serves_its_console_on_any_port(wheel: Path, tmp_path: Path, shared_browser: Browser) -> None:
    installed = Installed(wheel, tmp_path)
    first, second = free_port(), free_port()
    with installed.serving(first) as server:
        until_ready(server, f"http://localhost:{first}/v1/ready", tmp_path / "serve.log")
        installed.run(first, "bootstrap", *FIRST_ADMIN)
        _sign_in(shared_browser, f"http://localhost:{first}")
    with installed.serving(second) as server:
        until_ready(server, f"http://localhost:{second}/v1/ready", tmp_path / "serve.log")
        _sign_in(shared_browser, f"http://127.0.0.1:{second}")
    assert list(installed.empty.iterdir()) == []
    assert (installed.home / ".local" / "share" / "signum" / "secret.key").is_file()


def _sign_in(browser: Browser, origin: str) -> None:
    """Sign in by the form, and open a page whose rows arrive by the socket."""
    page = browser.new_context(viewport={"width": 1440, "height": 960}, locale="en-US").new_page()
    page.set_default_timeout(LOAD)
    errors: list[str] = []

    def listen(message: ConsoleMessage) -> None:
        if message.type == "error":
            errors.append(message.text)

    page.on("console", listen)
    page.goto(f"{origin}/sign-in")
    page.get_by_label("Email").fill("ada@example.com")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.wait_for_url("**/o/**")
    organization = page.url.partition("/o/")[2].partition("/")[0]
    page.goto(f"{origin}/o/{organization}/members")
    expect(page.get_by_role("table")).to_contain_text("ada@example.com", timeout=LOAD)
    assert errors == []
    page.context.close()
