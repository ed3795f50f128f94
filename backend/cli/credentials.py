"""The stored sign-in of a person: `credentials.json` in their configuration folder, readable only by them."""

import fcntl
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import typer


@dataclass(frozen=True)
class Kept:
    """A sign-in at one installation."""

    url: str
    email: str
    access_token: str
    refresh_token: str
    org_id: str | None = None


def place() -> Path:
    """Return the file's path. `XDG_CONFIG_HOME` applies where the system has it."""
    return Path(typer.get_app_dir("signum")) / "credentials.json"


def read() -> Kept | None:
    """Return the sign-in, if there is a readable one."""
    try:
        return Kept(**json.loads(place().read_text()))
    except (OSError, ValueError, TypeError):
        return None


def write(kept: Kept) -> None:
    """Store a sign-in atomically, in a file that others can never read."""
    folder = place().parent
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    number, name = tempfile.mkstemp(dir=folder, prefix=".credentials-")
    try:
        with os.fdopen(number, "w") as file:
            os.fchmod(file.fileno(), 0o600)
            json.dump(asdict(kept), file)
        Path(name).replace(place())
    finally:
        Path(name).unlink(missing_ok=True)


def forget() -> None:
    """Delete the sign-in."""
    place().unlink(missing_ok=True)


@contextmanager
def held() -> Iterator[None]:
    """Prevent concurrent renewal by other commands of this person: a refresh token works once, and a second use ends
    the session.
    """
    place().parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with (place().parent / "lock").open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
