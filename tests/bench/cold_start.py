"""`start_cold`: from a clone to the first page and to the demo, with an empty HOME, so without caches."""

import os
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import httpx

CHECKOUT = Path(__file__).resolve().parents[2]
PORT = 8191
PATIENCE = 600.0
"""Timeout of the start, in seconds."""


def measure() -> list[dict[str, Any]]:
    """Return two rows, in seconds from the beginning of `git clone`."""
    with tempfile.TemporaryDirectory(prefix="signum-bench-") as folder:
        home, clone = Path(folder) / "home", Path(folder) / "signum"
        home.mkdir()
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("SIGNUM_", "VIRTUAL_ENV"))}
        environment = kept | {"HOME": str(home), "PORT": str(PORT)}
        began = time.monotonic()
        subprocess.run(["git", "clone", "--quiet", str(CHECKOUT), str(clone)], check=True)
        server = subprocess.Popen(
            ["make", "run"], cwd=clone, env=environment, stdout=subprocess.DEVNULL, start_new_session=True
        )
        try:
            page, demo = (_wait_for(path, began, server) for path in ("/", "/v1/ready"))
        finally:
            os.killpg(server.pid, signal.SIGINT)
            server.wait(60)
    return [
        {"name": "start_cold_page", "value": round(page, 1), "unit": "s"},
        {"name": "start_cold_demo", "value": round(demo, 1), "unit": "s"},
    ]


def _wait_for(path: str, began: float, server: subprocess.Popen[bytes]) -> float:
    """Return the seconds until a path answers 200."""
    while time.monotonic() - began < PATIENCE:
        try:
            if httpx.get(f"http://localhost:{PORT}{path}", follow_redirects=True, timeout=5).status_code == 200:
                return time.monotonic() - began
        except httpx.TransportError:
            pass
        if server.poll() is not None:
            raise SystemExit(f"`make run` ended with {server.returncode}")
        time.sleep(0.05)
    raise SystemExit(f"{path} did not answer in {PATIENCE:.0f} s")
