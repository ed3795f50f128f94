"""Where Signum's own files are: in a checkout, which builds its console, or in a wheel, which contains it built."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
"""The folder of the packages `app`, `components`, `state` and `backend`, and of `rxconfig.py`."""

_IN_WHEEL = ROOT / "app" / "console"
IS_WHEEL = _IN_WHEEL.is_dir()
WEB = _IN_WHEEL if IS_WHEEL else ROOT / ".web"
"""Reflex's folder of the built console."""

CONSOLE = WEB / "build" / "client"
"""The built pages and their assets."""


def default_home() -> Path:
    """Return the default data folder: in the checkout, or where the user keeps the data of programs."""
    if not IS_WHEEL:
        return ROOT / ".signum"
    given = os.environ.get("XDG_DATA_HOME", "")
    return (Path(given) if given.startswith("/") else Path("~/.local/share").expanduser()) / "signum"
