"""Reset of an installation: all its data is deleted, and the demo is created again.

Chains cannot be reset alone: the database would refer to tokens that do not exist, and a chain's time never runs
backwards. So chains and database are reset together, and not while anything runs: a mark is written to the data folder,
the server stops as with Ctrl-C, and the next start (its own, immediately) finds the mark first and deletes the data. A
`kill -9` in between changes nothing.
"""

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from backend.core.errors import Conflict
from backend.core.runtime import runtime
from backend.core.settings import Settings

GONE = ("pg", "chains", "keystore", "run", "attempts")
"""Folders to delete; tools and settings stay."""


@dataclass
class Restart:
    """How this process restarts: the function that stops it, if the supervisor starts it again."""

    stop: Callable[[], None] | None = None


def offer(stop: Callable[[], None]) -> None:
    """Register how the supervisor stops this process so that it restarts."""
    runtime.part(Restart).stop = stop


def is_possible(settings: Settings) -> bool:
    """Return whether everything to delete is local: embedded chains, an embedded database, a process that restarts
    itself.
    """
    return runtime.part(Restart).stop is not None and is_local(settings)


def is_local(settings: Settings) -> bool:
    """Return whether everything to delete is local: the next start may delete it."""
    return settings.embedded_chains and settings.outside_database is None


def ask(settings: Settings) -> None:
    """Write the mark and stop the server. Conflict where a reset is not possible."""
    stop = runtime.part(Restart).stop
    if not is_possible(settings) or stop is None:
        raise Conflict("This installation cannot be reset. Only `signum serve` with an embedded database can.")
    mark(settings.home)
    stop()


def mark(home: Path) -> None:
    """Write the mark: the next start deletes the data."""
    _mark(home).touch()


def is_asked(home: Path) -> bool:
    """Return whether the mark exists."""
    return _mark(home).exists()


def clear_if_asked(home: Path) -> bool:
    """Delete the data if a reset was requested. The demo's people keep their passwords."""
    if not is_asked(home):
        return False
    _keep_passwords(home)
    for name in GONE:
        shutil.rmtree(home / name, ignore_errors=True)
    _mark(home).unlink()
    return True


def _keep_passwords(home: Path) -> None:
    final = home / "demo.json"
    if not final.exists():
        return
    notes = {f"password:{user['email']}": user["password"] for user in json.loads(final.read_text())["users"]}
    part = home / "demo.unfinished.part"
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        json.dump(notes, file)
    part.replace(home / "demo.unfinished.json")
    final.unlink()


def _mark(home: Path) -> Path:
    return home / "reset"
