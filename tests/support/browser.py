"""The Chromium of the browser tests: an installed one, or one that this module installs.

`python -m tests.support.browser` finds or installs it and prints its path.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip


class NoBrowser(Exception):
    """Chromium was not found and could not be installed."""


def chromium() -> str:
    """Return the path of a working Chromium: `CHROMIUM`, the system's, Playwright's; installed if missing."""
    for find in (_from_environment, _of_system, _of_playwright, _from_playwright, _from_system):
        path = find()
        if path and _starts(path):
            return path
    raise NoBrowser("No Chromium was found and none could be installed; set CHROMIUM to the path of one.")


def _from_environment() -> str | None:
    return os.environ.get("CHROMIUM")


def _of_system() -> str | None:
    return next((path for name in NAMES if (path := shutil.which(name))), None)


def _of_playwright() -> str | None:
    """Return the path of Playwright's own browser, if installed; found in a separate process, away from any event
    loop."""
    code = (
        "from playwright.sync_api import sync_playwright\n"
        "with sync_playwright() as p: print(p.chromium.executable_path)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    path = done.stdout.strip()
    return path if path and Path(path).exists() else None


def _from_playwright() -> str | None:
    _run([sys.executable, "-m", "playwright", "install", "chromium"])
    return _of_playwright()


def _from_system() -> str | None:
    apt = shutil.which("apt-get")
    if apt is None:
        return None
    root = [] if os.geteuid() == 0 else ["sudo", "-n"]
    _run([*root, apt, "update", "-qq"])
    _run([*root, apt, "install", "-y", "-qq", "--no-install-recommends", "chromium"])
    return _of_system()


def _run(command: list[str]) -> None:
    """Run an installer; a search for the browser shows whether it worked."""
    try:
        subprocess.run(command, stdout=sys.stderr, check=False, timeout=900)
    except (OSError, subprocess.TimeoutExpired) as error:
        sys.stderr.write(f"{command[0]}: {error}\n")


def _starts(path: str) -> bool:
    """Return whether it starts; a browser without its libraries does not."""
    try:
        return subprocess.run([path, "--version"], capture_output=True, timeout=30).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


if __name__ == "__main__":
    sys.stdout.write(chromium() + "\n")
