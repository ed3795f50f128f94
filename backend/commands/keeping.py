"""Where a person's sign-in is kept: `credentials.json` below their configuration folder, for their eyes only."""

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
    """The file; `XDG_CONFIG_HOME` is honoured where the system has it."""
    return Path(typer.get_app_dir("signum")) / "credentials.json"


def read() -> Kept | None:
    """The sign-in, if there is one that can be read."""
    try:
        return Kept(**json.loads(place().read_text()))
    except (OSError, ValueError, TypeError):
        return None


def write(kept: Kept) -> None:
    """Keep a sign-in. It is never in a file that others may read, nor half in one."""
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
    """Remove the sign-in."""
    place().unlink(missing_ok=True)


@contextmanager
def held() -> Iterator[None]:
    """Keep other commands of this person from renewing meanwhile: a refresh token works once, a second use ends all."""
    place().parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with (place().parent / "lock").open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
