"""Folders of one run of the tests. A run removes its own folders at its end; the next run removes those of a killed
one."""

import atexit
import os
import re
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

import psutil

_NAME = re.compile(r"signum-scratch-[a-z]+-(\d+)-\w+")


def scratch(purpose: str) -> Path:
    """A new folder, named by its purpose in lower-case letters, until this process ends."""
    _sweep()
    folder = Path(tempfile.mkdtemp(prefix=f"signum-scratch-{purpose}-{os.getpid()}-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def keep(folder: Path) -> Path:
    """Rename a folder so that no run removes it, and return its new path."""
    return folder.rename(folder.with_name(folder.name.replace("scratch", "kept")))


def _sweep() -> None:
    """Remove folders whose process is gone, and end processes that still run in them."""
    for folder in Path(tempfile.gettempdir()).glob("signum-scratch-*"):
        owner = _NAME.fullmatch(folder.name)
        if owner is not None and not psutil.pid_exists(int(owner[1])):
            for process in psutil.process_iter():
                with suppress(psutil.Error):
                    if process.environ().get("SIGNUM_HOME", "").startswith(str(folder)):
                        process.kill()
            shutil.rmtree(folder, ignore_errors=True)
