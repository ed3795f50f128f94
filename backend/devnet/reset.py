"""Back to the beginning: everything this installation has made goes, and the demo is told anew.

Chains alone cannot go back: the database would speak of tokens that are not there, and time on a chain never runs
backwards. So both go together, and not while anything runs: a mark is left in the data folder, the server ends as by
Ctrl-C, and whoever starts next (it itself, at once) finds the mark before anything else and clears up. A `kill -9` in
between changes nothing.
"""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

from backend.errors import Conflict
from backend.settings import Settings

GONE = ("pg", "chains", "keystore", "run")
"""Folders of what was made; tools and settings stay."""


class _Way:
    out: Callable[[], None] | None = None


def offer(stop: Callable[[], None]) -> None:
    """The supervisor says how this process is stopped so that it starts again."""
    _Way.out = stop


def is_possible(settings: Settings) -> bool:
    """Whether all that would have to go is ours: embedded chains, an embedded database, a process we restart."""
    return _Way.out is not None and settings.embedded_chains and settings.outside_database is None


def ask(settings: Settings) -> None:
    """Leave the mark and end the server. Conflict where that cannot be."""
    if not is_possible(settings) or _Way.out is None:
        raise Conflict("Only `signum serve` with its embedded database can begin again; here it keeps its data.")
    _mark(settings.home).touch()
    _Way.out()


def is_asked(home: Path) -> bool:
    """Whether the mark is there."""
    return _mark(home).exists()


def clear_if_asked(home: Path) -> bool:
    """Remove what was made, if somebody asked for it. The demo's people keep their passwords."""
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
