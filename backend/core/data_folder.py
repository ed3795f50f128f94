"""The data folder, private to this user with all its contents, also where Signum runs as root.

PostgreSQL refuses to run as root, so the embedded server then runs as another user, which has to pass through the
folder to its files. That user becomes the folder's owner: the mode stays 0700, and files that Signum writes there
belong to root, so that user cannot read them.
"""

import os
import stat
from pathlib import Path

from backend.core.errors import CannotStart

PRIVATE = 0o700
_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_PASS = stat.S_IXGRP | stat.S_IXOTH


def prepare(home: Path) -> None:
    """Create the folder, make everything this process and its children write private, and tighten modes that an earlier
    version left open.

    PostgreSQL manages the modes of its own files. Raises CannotStart.
    """
    os.umask(_OTHERS)
    try:
        _make_private(home)
    except OSError as error:
        why = f"{error.strerror}: {error.filename}"
        raise CannotStart(
            f"The data folder {home} cannot be used ({why}). Choose another with SIGNUM_HOME=…"
        ) from error


def _make_private(home: Path) -> None:
    home.mkdir(parents=True, exist_ok=True)
    home.chmod(PRIVATE)
    (home / "lock").touch(PRIVATE & ~stat.S_IXUSR)
    for folder, folders, files in os.walk(home):
        if Path(folder) == home and "pg" in folders:
            folders.remove("pg")
        for name in (*folders, *files):
            _close(Path(folder, name))


def let_through(path: Path, home: Path, user_id: int) -> None:
    """Let the database server's user reach a path: as owner of the folders inside the data folder, and with search
    permission only on the folders above it.
    """
    for folder in path.parents:
        if folder == home or home in folder.parents:
            os.chown(folder, user_id, -1)
            folder.chmod(PRIVATE)
        elif folder.stat().st_mode & _PASS != _PASS:
            folder.chmod(folder.stat().st_mode | _PASS)


def _close(path: Path) -> None:
    """Remove the permissions of group and others; the owner's stay, such as the one to execute the chains' node."""
    found = path.lstat().st_mode
    if found & _OTHERS and (stat.S_ISDIR(found) or stat.S_ISREG(found)):
        path.chmod(stat.S_IMODE(found) & ~_OTHERS)
